import random

import pytest
import spacy
from spacy.training import Example

from spacy_lexner.training.augmenters import create_join_texts_v1, join_examples

NLP = spacy.blank("zh")
TEXTS = [("南京市很大", [(0, 3, "GPE")]), ("看长江大桥", [(1, 5, "LOC")]), ("", []), ("武汉 ", [(0, 2, "GPE")])]


def examples():
    return [Example.from_dict(NLP.make_doc(text), {"entities": entities}) for text, entities in TEXTS]


def spans(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


@pytest.mark.parametrize(
    ("separator", "text"),
    [
        ("", "南京市很大看长江大桥武汉 "),
        (" ", "南京市很大 看长江大桥 武汉 "),
        ("。", "南京市很大。看长江大桥。。武汉 "),
    ],
)
def test_joined_examples_keep_text_and_annotation(separator, text):
    joined = join_examples(NLP, examples(), separator)
    assert joined.reference.text == joined.predicted.text == text
    assert spans(joined.reference) == [("南京市", "GPE"), ("长江大桥", "LOC"), ("武汉", "GPE")]
    assert not joined.predicted.ents
    assert all(token.ent_iob_ != "" for token in joined.reference)


def test_missing_annotation_stays_missing_and_spans_are_kept():
    (first, second, *_) = examples()
    first.reference.set_ents([], default="missing")
    second.reference.spans["incorrect"] = [second.reference[0:2]]
    joined = join_examples(NLP, [first, second], "。").reference
    assert [token.ent_iob_ for token in joined[:7]] == ["", "", "", "", "", "O", "O"]
    assert [span.text for span in joined.spans["incorrect"]] == ["看长"]


def test_a_share_of_the_texts_is_joined_and_each_is_shown_once():
    random.seed(0)
    augment = create_join_texts_v1(rate=0.5, most=3)
    (first, *_) = examples()
    shown = [len(one.reference.ents) for _ in range(400) for one in augment(NLP, first)]
    assert len(shown) == 400 and set(shown) == {1, 2, 3}
    assert 140 < sum(n > 1 for n in shown) < 260  # 200 expected, standard deviation 10
    never = create_join_texts_v1(rate=0.0)
    assert [one is first for _ in range(20) for one in never(NLP, first)] == [True] * 20


@pytest.mark.parametrize("wrong", [{"rate": -0.1}, {"rate": 1.5}, {"most": 1}, {"separators": []}])
def test_invalid_arguments(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        create_join_texts_v1(**wrong)


def test_the_augmenter_is_registered():
    assert spacy.registry.augmenters.get("spacy-lexner.join_texts.v1") is create_join_texts_v1
