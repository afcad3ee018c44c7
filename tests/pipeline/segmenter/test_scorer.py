import numpy as np
import pytest
import spacy
from small_segmenter import reference
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from spacy_lexner.pipeline.segmenter.scorer import lex_segmenter_score

NLP = spacy.blank("zh")
GOLD = ("我们 爱 北京 天安门 。", "PRON VERB PROPN PROPN PUNCT")
FOUND = ("我们 爱 北京 天 安门 。", "PRON NOUN PROPN NOUN NOUN PUNCT")


def score(*pairs, **options):
    return lex_segmenter_score([Example(reference(NLP, *a), reference(NLP, *b)) for a, b in pairs], **options)


def test_registered():
    assert registry.scorers.get("spacy-lexner.lex_segmenter_scorer.v1")() is lex_segmenter_score


def test_words():
    scores = score((FOUND, GOLD))
    assert (scores["word_p"], scores["word_r"]) == (4 / 6, 4 / 5)
    assert scores["word_f"] == pytest.approx(8 / 11)
    assert (scores["word_pos_p"], scores["word_pos_r"]) == (3 / 6, 3 / 5)
    assert scores["word_pos_f"] == pytest.approx(6 / 11)
    by_type = scores["word_pos_per_type"]
    assert by_type["PROPN"] == {"p": 1.0, "r": 0.5, "f": pytest.approx(2 / 3)}
    assert by_type["VERB"]["r"] == 0 and by_type["NOUN"]["p"] == 0


def test_words_that_training_did_not_have():
    known = [get_string_id(word) for word in ("我们", "爱", "。")]
    assert score((FOUND, GOLD), known_words=known)["word_oov_r"] == 0.5
    assert score((FOUND, GOLD), known_words=np.array(known, dtype=np.uint64))["word_oov_r"] == 0.5
    assert score((FOUND, GOLD), known_words=[get_string_id(word) for word in GOLD[0].split()])["word_oov_r"] is None
    assert score((FOUND, GOLD))["word_oov_r"] is None, "no word was learned"


def test_white_space_does_not_count():
    gold = Doc(NLP.vocab, ["我们", " ", "爱"], spaces=[False] * 3, pos=["PRON", "SPACE", "VERB"])
    found = Doc(NLP.vocab, ["\n", "我们", "爱"], spaces=[False, True, False], pos=["SPACE", "PRON", "VERB"])
    scores = lex_segmenter_score([Example(found, gold)])
    assert scores["word_f"] == scores["word_pos_f"] == 1 and set(scores["word_pos_per_type"]) == {"PRON", "VERB"}


def test_spans():
    found = NLP.make_doc("我们爱北京天安门。")
    edges = [(0, 2, "PRON"), (2, 3, "NOUN"), (3, 5, "PROPN"), (5, 6, "NOUN"), (6, 8, "NOUN"), (8, 9, "PUNCT")]
    found.spans["w"] = [Span(found, start, end, label=label) for start, end, label in edges]
    scores = lex_segmenter_score([Example(found, reference(NLP, *GOLD))], retokenize=False, spans_key="w")
    assert scores == score((FOUND, GOLD))
    assert lex_segmenter_score([Example(found, reference(NLP, *GOLD))], retokenize=False)["word_r"] == 0


def test_what_is_not_annotated_does_not_count():
    unsegmented = (("张三", None), ("张 三", None))
    assert score((FOUND, GOLD), unsegmented) == score((FOUND, GOLD))
    nothing = score(unsegmented)
    assert set(nothing.values()) == {None} and len(nothing) == 8
    words_only = score((FOUND, (GOLD[0], None)))
    assert words_only["word_r"] == 4 / 5 and words_only["word_pos_f"] is None
    gold = reference(NLP, *GOLD)
    gold[1].pos_ = ""
    scores = lex_segmenter_score([Example(reference(NLP, *FOUND), gold)])
    assert (scores["word_pos_p"], scores["word_pos_r"]) == (3 / 5, 3 / 4) and scores["word_r"] == 4 / 5


def test_without_parts_of_speech():
    scores = score((FOUND, GOLD), pos=None)
    assert scores["word_r"] == 4 / 5 and scores["word_pos_f"] is scores["word_pos_per_type"] is None


def test_tags():
    assert score((FOUND, GOLD), pos="tag")["word_pos_per_type"]["NR"]["p"] == 1.0


def test_empty_and_different_texts():
    assert score((("", ""), ("", "")))["word_f"] is None
    with pytest.raises(ValueError, match="'我们' \\+ '爱' in the Doc"):
        score((("我们 爱", None), ("我们 恨", None)))
