import json

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_lexner.encoders.ernie.entities import (
    DocEntities,
    LexEntity,
    align_mentions,
    choose_mentions,
    get_entities,
    install_entity_extensions,
    number_entities,
    set_entities,
)


@st.composite
def spans(draw):
    starts = draw(st.lists(st.integers(0, 15), max_size=12))
    first = np.array(starts, "i8")
    return first, first + np.array([draw(st.integers(1, 6)) for _ in starts], "i8")


def test_both_alignments_are_those_recorded(fixtures_dir):
    """The intended rule, and what the authors' script does."""
    golden = json.loads((fixtures_dir / "ernie" / "alignment_pretraining.json").read_text("utf8"))
    for raw, intended, reference in zip(
        golden["raw_entities"],
        golden["intended_first_subword_only"],
        golden["reference_ids_after_create_training_instances"],
    ):
        known = [name if name not in ("#UNK#", "Q999") else None for name in raw]  # Q999 has no vector
        starts = [i for i, name in enumerate(known) if name and (i == 0 or known[i - 1] != name)]
        lasts = [
            next(j for j in range(i, len(known)) if j + 1 == len(known) or known[j + 1] != known[i]) for i in starts
        ]
        for alignment, expected in (("first", intended), ("alternate", reference)):
            pieces, numbers = align_mentions(np.array(starts), np.array(lasts) + 1, alignment)
            shown = np.full(len(raw), -1)
            shown[pieces] = [int(known[starts[number]][1:]) for number in numbers]
            assert shown.tolist() == expected, alignment


@given(spans())
def test_mentions_that_were_chosen_do_not_overlap(candidates):
    starts, ends = candidates
    for overlaps in ("longest", "first"):
        chosen = choose_mentions(starts, ends, overlaps)
        tokens = [token for i in chosen for token in range(starts[i], ends[i])]
        assert len(tokens) == len(set(tokens))
        assert (np.diff(starts[chosen]) > 0).all()
        for i in range(len(starts)):  # every entity left out overlaps with one that is kept
            assert i in chosen or any(starts[i] < ends[j] and starts[j] < ends[i] for j in chosen)
    everyone = choose_mentions(starts, ends, "all")
    assert sorted(set(starts.tolist())) == starts[everyone].tolist()
    for i in everyone:
        assert ends[i] == ends[starts == starts[i]].max()


def test_longest_and_first_differ():
    starts, ends = np.array([0, 1, 3]), np.array([2, 5, 5])  # 南京, 京市长江, 长江
    assert choose_mentions(starts, ends, "longest").tolist() == [1]
    assert choose_mentions(starts, ends, "first").tolist() == [0, 2]
    with pytest.raises(ValueError, match="Unknown overlaps='best'"):
        choose_mentions(starts, ends, "best")
    with pytest.raises(ValueError, match="Unknown alignment='last'"):
        align_mentions(starts, ends, "last")


def test_entities_are_numbered_by_id_those_without_vector_not():
    found = [
        DocEntities(
            np.array([0, 2]),
            np.array([1, 3]),
            ["Q2", "Q9"],
            np.array([[1.0, 2], [0, 0]], "f4"),
            np.array([True, False]),
        ),
        DocEntities(
            np.array([0, 2]), np.array([0, 2]), ["Q1", "Q2"], np.array([[3.0, 4], [1, 2]], "f4"), np.array([True, True])
        ),
    ]
    numbers, ids, vectors = number_entities(found)
    assert numbers.tolist() == [1, 0, 2, 1]
    assert ids == ["Q2", "Q1"]
    assert vectors.tolist() == [[0, 0], [1, 2], [3, 4]]
    numbers, ids, vectors = number_entities([])
    assert len(numbers) == len(ids) == 0 and vectors.shape == (1, 0)


def test_links_are_noted_in_the_doc_and_survive_files():
    install_entity_extensions()
    doc = spacy.blank("zh")("南京市长江大桥")
    assert doc._.lex_entities is None and get_entities(doc) is None
    set_entities(
        doc,
        DocEntities(
            np.array([0, 3]), np.array([3, 7]), ["Q16666", "Q1"], np.zeros((2, 1), "f4"), np.array([True, False])
        ),
    )
    expected = [LexEntity(0, 3, "Q16666", True), LexEntity(3, 7, "Q1", False)]
    assert doc._.lex_entities == expected
    assert doc[4:6]._.lex_entities == expected[1:]
    assert doc[0:2]._.lex_entities == expected[:1]
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    (stored,) = DocBin(store_user_data=True, docs=[doc]).get_docs(doc.vocab)
    assert again._.lex_entities == stored._.lex_entities == expected
