import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.training import biluo_tags_to_spans
from spacy.vocab import Vocab
from tagging import LEGAL, SCHEME, tags_of

from spacy_lexner.tagging.spans.tag_scheme import TagScheme, TagSpan, UnknownLabelError, legal_moves, span_tags


@st.composite
def spans(draw, n_labels=2):
    """A number of tokens, and spans among them that do not overlap."""
    n_tokens = draw(st.integers(0, 12))
    edges = sorted(draw(st.sets(st.integers(0, n_tokens), max_size=8)))
    pairs = [pair for pair in itertools.pairwise(edges) if draw(st.booleans())]
    return n_tokens, [TagSpan(start, end, draw(st.integers(0, n_labels - 1))) for start, end in pairs]


def test_tags():
    assert SCHEME.tags == ("O", "B-PER", "I-PER", "E-PER", "S-PER", "B-LOC", "I-LOC", "E-LOC", "S-LOC")
    assert SCHEME.n_tags == 9
    assert TagScheme([]).tags == ("O",)


def test_a_new_label_leaves_the_other_tags():
    more = TagScheme([*SCHEME.labels, "ORG"])
    assert more.tags[: SCHEME.n_tags] == SCHEME.tags


def test_moves_against_the_definition():
    def legal(before, after):
        if before == "edge" == after:
            return False
        if before[:2] in ("B-", "I-"):
            return after[:2] in ("I-", "E-") and after[2:] == before[2:]
        return after in ("O", "edge") or after[:2] in ("B-", "S-")

    names = [*SCHEME.tags, "edge"]
    expected = [[legal(before, after) for after in names] for before in names]
    assert LEGAL.tolist() == expected


def test_moves_are_shared_and_safe():
    assert legal_moves(9) is LEGAL
    with pytest.raises(ValueError, match="read-only"):
        LEGAL[0, 0] = False


@pytest.mark.parametrize("n_tags", [0, 2, 4, 7])
def test_wrong_number_of_tags(n_tags):
    with pytest.raises(ValueError, match=f"There cannot be {n_tags} BIOES tags"):
        legal_moves(n_tags)


@given(spans())
def test_round_trip(case):
    n_tokens, found = case
    tags = tags_of(found, n_tokens)
    assert SCHEME.decode(tags) == found
    path = [SCHEME.n_tags, *tags.tolist(), SCHEME.n_tags]
    assert n_tokens == 0 or all(LEGAL[move] for move in itertools.pairwise(path))


@given(spans())
def test_agrees_with_spacy(case):
    n_tokens, found = case
    doc = Doc(Vocab(), ["字"] * n_tokens)
    names = [SCHEME.tags[tag] for tag in tags_of(found, n_tokens)]
    biluo = [{"E": "L", "S": "U"}.get(name[0], name[0]) + name[1:] for name in names]
    expected = [Span(doc, span.start, span.end, label=SCHEME.labels[span.label]) for span in found]
    assert biluo_tags_to_spans(doc, biluo) == expected
    assert SCHEME.gold(biluo).argmax(1).tolist() == tags_of(found, n_tokens).tolist()


def test_gold():
    gold = SCHEME.gold(["B-LOC", "L-LOC", None, "O", "U-PER"])
    assert gold.sum(1).tolist() == [1, 1, 9, 1, 1]
    assert [SCHEME.tags[i] for i in gold.argmax(1)[[0, 1, 3, 4]]] == ["B-LOC", "E-LOC", "O", "S-PER"]
    assert SCHEME.gold([]).shape == (0, 9)


def test_unknown_label():
    with pytest.raises(UnknownLabelError, match="Unknown label 'ORG': expected one of PER, LOC") as caught:
        SCHEME.gold(["O", "U-ORG"])
    assert caught.value.label == "ORG"


def test_white_space_is_no_edge():
    allowed = SCHEME.constraint(np.array([False, True]))
    assert allowed[0].all()
    assert [SCHEME.tags[i] for i in np.flatnonzero(allowed[1])] == ["O", "I-PER", "I-LOC"]


def test_given_spans_and_outside():
    allowed = SCHEME.constraint(np.array([True] + [False] * 5), [TagSpan(0, 2, 1)], [(3, 5)])
    names = [[SCHEME.tags[i] for i in np.flatnonzero(row)] for row in allowed]
    assert names[:2] == [["B-LOC"], ["E-LOC"]]  # what is given may begin on white space
    assert names[3:5] == [["O"], ["O"]]
    assert len(names[2]) == len(names[5]) == 9


@given(spans(), st.data())
def test_a_constraint_always_leaves_a_path(case, data):
    n_tokens, found = case
    is_space = np.array(data.draw(st.lists(st.booleans(), min_size=n_tokens, max_size=n_tokens)), dtype=bool)
    allowed = SCHEME.constraint(is_space, found[::2], [span[:2] for span in found[1::2]])
    path = tags_of(found[::2], n_tokens)
    assert allowed[np.arange(n_tokens), path].all()


@pytest.mark.parametrize("length, names", [(1, ["S"]), (2, ["B", "E"]), (4, ["B", "I", "I", "E"])])
def test_span_tags(length, names):
    assert [SCHEME.tags[tag] for tag in span_tags(TagSpan(5, 5 + length, 1))] == [f"{name}-LOC" for name in names]


def test_needs_numpy_alone():
    code = "import sys; sys.modules['torch'] = None; import spacy_lexner.tagging.spans.tag_scheme"
    subprocess.run([sys.executable, "-c", code], check=True)
