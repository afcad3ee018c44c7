import pytest
import spacy
from small_segmenter import reference
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lexner.pipeline.segmenter.gold_words_report import MAX_SHOWN, survey_words
from spacy_lexner.pipeline.segmenter.parts_of_speech import PARTS_OF_SPEECH

POS = PARTS_OF_SPEECH["pos"]


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("zh")


def examples(nlp, *texts):
    docs = [reference(nlp, *text) for text in texts]
    return [Example(nlp.make_doc(doc.text), doc) for doc in docs]


def test_what_there_is_to_learn(nlp):
    gold = examples(nlp, ("我们 爱 北京", "PRON VERB PROPN"), ("爱 iPhone", "VERB X"), ("张 三",))
    labels, words, report = survey_words(gold, POS)
    assert labels == {"PRON", "VERB", "PROPN", "X"}
    assert sorted(nlp.vocab.strings[int(word)] for word in words) == sorted(["我们", "爱", "北京", "iPhone"])
    assert (report.texts, report.segmented, report.words) == (3, 2, 5)
    assert report.message is None
    assert survey_words(gold, None)[0] == set()


def test_white_space_is_no_word(nlp):
    doc = Doc(nlp.vocab, ["我们", " ", "爱"], spaces=[False] * 3, pos=["PRON", "SPACE", "VERB"])
    labels, words, report = survey_words([Example(nlp.make_doc(doc.text), doc)], POS)
    assert labels == {"PRON", "VERB"} and len(words) == report.words == 2


def test_what_cannot_be_learned_is_told(nlp):
    gold = examples(nlp, ("我们 爱 iPhone 15",))
    predicted = Doc(nlp.vocab, ["北京大", "学"], spaces=[False] * 2)
    gold.append(Example(predicted, reference(nlp, "北京 大学")))
    gold.append(Example(Doc(nlp.vocab, ["北京", "大", "学"], spaces=[False] * 3), reference(nlp, "北京 大学")))
    report = survey_words(gold, None)[2]
    assert (report.words, report.misaligned, report.joined, report.cut) == (8, 2, 1, 1)
    assert "of 8 gold words, 2 are not on the boundaries" in report.message
    assert "'15' in '我们爱iPhone15': joined to a neighbour" in report.message
    assert "'大学' in '北京大学': cut" in report.message
    report = survey_words(gold * 3, None)[2]
    assert report.joined == 3 and len(report.shown) == MAX_SHOWN


def test_nothing_to_learn(nlp):
    with pytest.raises(ValueError, match="None of the 1 examples says what its words are"):
        survey_words(examples(nlp, ("我 爱",)), None)
    with pytest.raises(ValueError, match=r"none has a token\.pos_.*pos = null"):
        survey_words(examples(nlp, ("我们 爱",)), POS)
    assert survey_words([], POS)[2].texts == 0


def test_different_texts(nlp):
    with pytest.raises(ValueError, match="'我' \\+ '爱' in the Doc, '我' \\+ '们爱' in the annotation"):
        survey_words([Example(nlp.make_doc("我爱"), reference(nlp, "我们 爱"))], None)
