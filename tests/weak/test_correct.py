import pytest
from small_training import make_docs
from spacy.tokens import Span

from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.weak.correct import correct
from spacy_lexner.weak.dictionary import Dictionary

DOCS = make_docs(
    [
        ("他喜欢苹果", []),
        ("苹果很甜", []),
        ("苹果发布手机", [(0, 2, "BRAND")]),
        ("小米发布手机", [(0, 2, "BRAND")]),
        ("小米的王伟", [(0, 2, "BRAND"), (3, 5, "PER")]),
        ("他叫小米", []),
    ]
)


def test_entities_are_added_and_words_that_are_mostly_none_are_taken_out():
    found = correct(Dictionary({"苹果": ("BRAND",), "小米": ("BRAND",), "华为": ("BRAND",)}, {"手机"}), DOCS)
    assert found.labels == {"小米": ("BRAND",), "华为": ("BRAND",), "王伟": ("PER",)}
    assert found.forbidden == {"手机", "苹果"}


def test_another_label_is_added():
    found = correct(Dictionary({"小米": ("FOOD",)}, set()), DOCS)
    assert found.labels["小米"] == ("FOOD", "BRAND")


def test_without_texts_nothing_changes():
    dictionary = Dictionary({"苹果": ("BRAND",)}, {"手机"})
    assert correct(dictionary, []) == dictionary


@pytest.mark.parametrize("n_outside, forbidden", [(0, set()), (1, set()), (2, {"王伟"})])
def test_tokens_without_annotation_do_not_count(n_outside, forbidden):
    [doc] = make_docs([("王伟去东山市了", [])])
    doc.set_ents([Span(doc, 3, 6, "LOC")], outside=[doc[i : i + 1] for i in range(n_outside)], default="missing")
    found = correct(Dictionary({"王伟": ("PER",)}), [doc])
    assert found.forbidden == forbidden and found.labels["东山市"] == ("LOC",)


def test_spellings_of_a_word_count_together():
    texts = [("ＡＢ发布手机", [(0, 2, "BRAND")]), ("ab来了", [(0, 2, "ORG")]), ("Ab", [])]
    dictionary = Dictionary({"ab": ("X",)}, (), Normalization(case=True, width=True))
    found = correct(dictionary, make_docs(texts))
    assert found == Dictionary({"ab": ("X", "BRAND", "ORG")}, (), dictionary.normalization)
