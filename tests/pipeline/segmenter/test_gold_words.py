import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from small_segmenter import reference
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.pipeline.gold_report import MAX_SHOWN
from spacy_lexner.pipeline.segmenter.gold_words import (
    CONSEQUENCES,
    CUT_WORD,
    JOINED_WORD,
    MISALIGNED,
    check_texts,
    gold_words,
    is_segmented,
    solid_offsets,
    survey_words,
)
from spacy_lexner.pipeline.segmenter.parts_of_speech import PARTS_OF_SPEECH
from spacy_lexner.tagging.spans.word_borders import BORDER, FREE, JOINED, fixed_borders

NLP = spacy.blank("zh")
VOCAB = NLP.vocab
POS = PARTS_OF_SPEECH["pos"]
TOKENIZER = CharTokenizer(VOCAB)


def make_example(words, pos=None, spaces=None, predicted=None):
    words = words.split() if isinstance(words, str) else words
    pos = pos if pos is None else [p.replace("-", "") for p in pos.split()]
    reference = Doc(VOCAB, words, spaces=spaces or [False] * len(words), pos=pos)
    return Example(TOKENIZER(reference.text) if predicted is None else predicted, reference)


def find(example, part=PARTS_OF_SPEECH["pos"]):
    return gold_words(example, fixed_borders(example.predicted), part)


def drawn(example, part=PARTS_OF_SPEECH["pos"]):
    """The text with | at borders and - where tokens are joined, and the parts of speech of its tokens."""
    found = find(example, part)
    text = "".join(f"{' |-'[state].strip()}{t.text}" for state, t in zip(found.borders, example.predicted)) + "|"
    return text, " ".join(part.label(tag, VOCAB.strings) or "-" for tag in found.tags.tolist()) if part else None


def test_words_and_parts_of_speech():
    example = make_example("我 爱 天安门", "PRON VERB PROPN")
    assert drawn(example) == ("|我|爱|天-安-门|", "PRON VERB PROPN PROPN PROPN")
    found = find(example)
    assert not len(found.misaligned) and not len(found.joined) and not len(found.cut)
    assert not find(example, None).tags.any()


def test_words_without_parts_of_speech():
    assert drawn(make_example("我 爱 天安门")) == ("|我|爱|天-安-门|", "- - - - -")
    assert drawn(make_example("我 爱 天安门", "- VERB -")) == ("|我|爱|天-安-门|", "- VERB - - -")


def test_tags():
    reference = Doc(VOCAB, ["北京", "好"], spaces=[False, False], tags=["NR", "VA"])
    example = Example(TOKENIZER("北京好"), reference)
    assert drawn(example, PARTS_OF_SPEECH["tag"]) == ("|北-京|好|", "NR NR VA")


@pytest.mark.parametrize("words", ["我 爱 你", "", "a b c"])
def test_characters_do_not_say_what_words_are(words):
    example = make_example(words)
    found = find(example)
    assert not is_segmented(example.reference)
    assert (found.borders == FREE).all() and not found.tags.any() and len(found.borders) == len(example.predicted) + 1


@pytest.mark.parametrize("words, pos", [("我 爱 你", "PRON VERB PRON"), ("我 爱 你", "- VERB -"), ("我们 爱", None)])
def test_segmented(words, pos):
    assert is_segmented(make_example(words, pos).reference)


def test_white_space():
    """White space may differ between the reference Doc and the text, and is not a word."""
    predicted = TOKENIZER(" 我们  爱\n\n北 京")
    for words, spaces in [
        (["我们", "爱", "北京"], [False, False, False]),
        (["我们", "爱", "北京"], [True, True, True]),
        ([" ", "我们", " ", "爱", "\n\n", "北", " ", "京"], [False, True, False, False, False, False, False, False]),
    ]:
        found = find(make_example(words, spaces=spaces, predicted=predicted))
        text = "".join(f"{' |-'[s].strip()}{t.text}" for s, t in zip(found.borders, predicted)) + "|"
        assert text == "| |我-们| |爱|\n\n|北|京|"
        assert found.cut.tolist() == ([2] if len(words) == 3 else [])


def test_rules_win_and_are_told():
    example = make_example("iPhone 15 是 A 股", "PROPN NUM VERB X NOUN")
    assert drawn(example) == ("|i-P-h-o-n-e-1-5|是|A|股|", " ".join(["-"] * 8 + ["VERB", "X", "NOUN"]))
    assert find(example).joined.tolist() == [1]
    example = make_example("iPhone 15 是", "X X VERB")
    assert drawn(example) == ("|i-P-h-o-n-e-1-5|是|", " ".join(["X"] * 8 + ["VERB"])), "the same part of speech"


def test_tokens_that_are_no_characters():
    predicted = Doc(VOCAB, ["北京", "大", "学生", "好"], spaces=[False] * 4)
    example = make_example("北京 大学 生 好", "PROPN NOUN PART ADJ", predicted=predicted)
    found = find(example)
    assert (found.borders == BORDER).all(), "words stay what they are"
    assert [PARTS_OF_SPEECH["pos"].label(tag, VOCAB.strings) for tag in found.tags] == ["PROPN", "NOUN", "", "ADJ"]
    assert found.misaligned.tolist() == [1, 2] and found.cut.tolist() == []
    latin = Doc(VOCAB, ["买", "a.b", "好"], spaces=[False] * 3)
    found = find(make_example("买 a . b 好", "VERB X PUNCT X ADJ", predicted=latin))
    assert found.borders.tolist() == [BORDER] * 4 and found.tags[1] == 0 and found.misaligned.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "texts, message",
    [
        (
            ("我爱北京", "我爱南京"),
            "After 2 characters.*'我爱' \\+ '北京' in the Doc, '我爱' \\+ '南京' in the annotation",
        ),
        (("我爱", "我爱你"), "After 2 characters.*'我爱' \\+ '' in the Doc, '我爱' \\+ '你' in"),
        (("x" * 50 + "a", "x" * 50 + "A"), f"After 50 characters.*'{'x' * 12}' \\+ 'a' in"),
    ],
)
def test_different_texts(texts, message):
    docs = [TOKENIZER(text) for text in texts]
    with pytest.raises(ValueError, match=message):
        check_texts(*docs)
    check_texts(TOKENIZER("我 爱"), TOKENIZER("\n我\t爱 "))


@given(st.lists(st.tuples(st.text("中国a1。", min_size=1, max_size=4), st.booleans()), min_size=1, max_size=8))
def test_same_as_the_alignment_of_spacy(pairs):
    """Words and tokens are aligned as spaCy's Example does it."""
    words, spaces = zip(*pairs)
    example = make_example(
        list(words), spaces=list(spaces), pos=" ".join(["NOUN", "VERB"] * len(words))[: 5 * len(words) - 1]
    )
    free = np.full(len(example.predicted) + 1, FREE, dtype=np.int8)
    found = gold_words(example, free, PARTS_OF_SPEECH["pos"])
    tokens_of_words = example.alignment.y2x
    firsts = {int(tokens_of_words[i].min()) for i in range(len(words))}
    assert np.flatnonzero(found.borders[:-1] == BORDER).tolist() == sorted(firsts)
    assert set(found.borders.tolist()) <= {BORDER, JOINED}
    assert [PARTS_OF_SPEECH["pos"].label(tag, VOCAB.strings) for tag in found.tags] == example.get_aligned(
        "POS", as_string=True
    )


def test_offsets_without_white_space():
    begins, ends = solid_offsets(TOKENIZER(" 中 国\n\n好"))
    assert begins.tolist() == [0, 0, 1, 2, 2] and ends.tolist() == [0, 1, 2, 2, 3]


def examples(*texts):
    docs = [reference(NLP, *text) for text in texts]
    return [Example(NLP.make_doc(doc.text), doc) for doc in docs]


def test_what_there_is_to_learn():
    gold = examples(("我们 爱 北京", "PRON VERB PROPN"), ("爱 iPhone", "VERB X"), ("张 三",))
    labels, words, report = survey_words(gold, POS)
    assert labels == {"PRON", "VERB", "PROPN", "X"}
    assert sorted(NLP.vocab.strings[int(word)] for word in words) == sorted(["我们", "爱", "北京", "iPhone"])
    assert report.total == 5 and not report.problems
    assert survey_words(gold, None)[0] == set()


def test_white_space_is_no_word():
    doc = Doc(NLP.vocab, ["我们", " ", "爱"], spaces=[False] * 3, pos=["PRON", "SPACE", "VERB"])
    labels, words, report = survey_words([Example(NLP.make_doc(doc.text), doc)], POS)
    assert labels == {"PRON", "VERB"} and len(words) == report.total == 2


def test_what_cannot_be_learned_is_told():
    gold = examples(("我们 爱 iPhone 15",))
    predicted = Doc(NLP.vocab, ["北京大", "学"], spaces=[False] * 2)
    gold.append(Example(predicted, reference(NLP, "北京 大学")))
    gold.append(Example(Doc(NLP.vocab, ["北京", "大", "学"], spaces=[False] * 3), reference(NLP, "北京 大学")))
    report = survey_words(gold, None)[2]
    assert report.total == 8 and report.problems == {MISALIGNED: 2, JOINED_WORD: 1, CUT_WORD: 1}
    message = report.message("words", CONSEQUENCES)
    assert message.startswith("of 8 gold words: 1 joined to a neighbour (they are parts of")
    assert "'15' in '我们爱iPhone15': joined to a neighbour" in message and "'大学' in '北京大学': cut" in message
    report = survey_words(gold * 3, None)[2]
    assert report.problems[JOINED_WORD] == 3 and len(report.shown) == MAX_SHOWN


def test_nothing_to_learn():
    with pytest.raises(ValueError, match="None of the 1 examples has words"):
        survey_words(examples(("我 爱",)), None)
    with pytest.raises(ValueError, match=r"none has a token\.pos_.*pos = null"):
        survey_words(examples(("我们 爱",)), POS)
    assert survey_words([], POS)[2].total == 0
    gold = examples(("我们 爱",))
    for token, tag in zip(gold[0].reference, ["PN", "VV"]):
        token.tag_ = tag
    with pytest.raises(
        ValueError, match=r'none has a token\.pos_. All have a token.tag_: set pos = "tag"\. .*pos = null'
    ):
        survey_words(gold, POS)


def test_different_texts_are_found_by_the_survey():
    with pytest.raises(ValueError, match="'我' \\+ '爱' in the Doc, '我' \\+ '们爱' in the annotation"):
        survey_words([Example(NLP.make_doc("我爱"), reference(NLP, "我们 爱"))], None)
