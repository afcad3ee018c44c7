import pytest
from small_training import make_docs, make_texts

from spacy_lexner.weak.judges import draw_judges, labels_of
from spacy_lexner.weak.protected import squeeze

SEEDS = range(20)
PLAIN = [(f"{word}来", []) for word in "天地玄黄宇宙洪荒日月盈昃"]


def draw(texts, known=("PER", "LOC"), seed=0):
    """The texts drawn, and the others."""
    docs = make_docs(texts)
    drawn = draw_judges(docs, known, seed, name="some.spacy")
    return tuple([doc for i, doc in enumerate(docs) if (i in drawn) == side] for side in (True, False))


def test_a_fifth_of_the_different_texts_at_random():
    texts = [(f"{text}{i}", entities) for i, (text, entities) in enumerate(make_texts(50))]
    draws = [[doc.text for doc in draw(texts, seed=seed)[0]] for seed in (0, 0, 1)]
    assert [len(own) for own in draws] == [10] * 3 and draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_stay_on_one_side(seed):
    texts = make_texts(40)
    spaced = [(f"\u3000{text}", [(start + 1, end + 1, label) for start, end, label in own]) for text, own in texts]
    judges, others = draw([*texts, *spaced], seed=seed)
    assert judges and others and not {squeeze(doc.text) for doc in judges} & {squeeze(doc.text) for doc in others}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_label_that_nothing_else_has_stays_with_the_training_texts(seed):
    texts = [*make_texts(8), ("红的车", [(0, 1, "COLOUR")]), ("红的花", [(0, 1, "COLOUR"), (2, 3, "PLANT")])]
    judges, others = draw(texts, seed=seed)
    assert {"COLOUR", "PLANT"} <= labels_of(others) and labels_of(judges) - {"COLOUR"} <= {"PER", "LOC"}
    assert labels_of(draw(texts, known=(), seed=seed)[1]) == labels_of(make_docs(texts))


@pytest.mark.parametrize("seed", SEEDS)
def test_entities_are_drawn_if_any_can(seed):
    judges, others = draw([*PLAIN, ("王伟来", [(0, 2, "PER")])], seed=seed)
    assert labels_of(judges) == {"PER"} and len(judges) == 3 and not labels_of(others)
    assert [doc.text for doc in draw([("王伟来", [(0, 2, "PER")]), PLAIN[0]], seed=seed)[0]] == ["王伟来"]


@pytest.mark.parametrize("texts", [[], PLAIN[:1], [PLAIN[0]] * 3])
def test_nothing_is_drawn_from_a_single_text(texts):
    assert draw(texts)[0] == []


@pytest.mark.parametrize(
    "texts, reason",
    [
        (PLAIN[:3], "no text has an entity"),
        ([*PLAIN[:2], ("红的车", [(0, 1, "COLOUR")])], "each text with entities has a label that no other has"),
    ],
)
def test_where_none_can_score_models(texts, reason):
    with pytest.raises(ValueError, match=f"some.spacy: a fifth of the 3 different .* but {reason}.*--dev"):
        draw(texts)
