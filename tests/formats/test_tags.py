import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.formats.tags import (
    NEW_LABEL,
    NO_BEGIN,
    NO_END,
    SCHEMES,
    detect_scheme,
    read_spans,
    split_tag,
    write_tags,
)

LABELS = ["PER", "LOC", "PER.NOM", "a-b", ""]


@st.composite
def sentences(draw):
    """Entities without overlap, and a number of tokens."""
    spans, position = [], 0
    for gap, length, label in draw(
        st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.sampled_from(LABELS)), max_size=6)
    ):
        spans.append((position + gap, position + gap + length, label))
        position += gap + length
    return spans, position + draw(st.integers(0, 3))


def read(text, marks_end):
    return read_spans([split_tag(tag) for tag in text.split()], marks_end=marks_end)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(sentence=sentences())
def test_spans_to_tags_and_back(scheme, sentence):
    spans, n_tokens = sentence
    tags = write_tags(spans, n_tokens, scheme)
    assert len(tags) == n_tokens
    parsed = [split_tag(tag) for tag in tags]
    assert {letter for letter, _ in parsed} <= SCHEMES[scheme].letters
    assert read_spans(parsed, marks_end=SCHEMES[scheme].marks_end) == (spans, [])


@given(st.lists(st.sampled_from(["O", *(f"{p}-{n}" for p in "BIMELSWU" for n in "XY")])), st.booleans())
def test_any_tags_give_spans_that_keep_every_label(tags, marks_end):
    spans, violations = read_spans([split_tag(tag) for tag in tags], marks_end=marks_end)
    labels = ["O"] * len(tags)
    for start, end, label in spans:
        assert labels[start:end] == ["O"] * (end - start), "no overlap"
        labels[start:end] = [label] * (end - start)
    assert labels == [tag[2:] or "O" for tag in tags]
    mended = write_tags(spans, len(tags), "bioes" if marks_end else "bio")
    assert read_spans([split_tag(tag) for tag in mended], marks_end=marks_end) == (spans, [])
    if not violations and marks_end:
        assert [tag.translate(str.maketrans("MLWU", "IESS"))[:1] for tag in tags] == [tag[:1] for tag in mended]


@pytest.mark.parametrize(
    "tags, marks_end, spans, violations",
    [
        ("B-X I-X O", False, [(0, 2, "X")], []),
        ("B-X B-X I-X", False, [(0, 1, "X"), (1, 3, "X")], []),
        ("O I-X I-X", False, [(1, 3, "X")], [(1, NO_BEGIN)]),
        ("B-X I-Y O", False, [(0, 1, "X"), (1, 2, "Y")], [(1, NEW_LABEL)]),
        ("B-X M-X E-X S-Y", True, [(0, 3, "X"), (3, 4, "Y")], []),
        ("I-X E-X", True, [(0, 2, "X")], [(0, NO_BEGIN)]),
        ("O E-X O", True, [(1, 2, "X")], [(1, NO_BEGIN)]),
        ("B-X O", True, [(0, 1, "X")], [(0, NO_END)]),
        ("B-X I-X", True, [(0, 2, "X")], [(1, NO_END)]),
        ("B-X B-X E-X", True, [(0, 1, "X"), (1, 3, "X")], [(0, NO_END)]),
        ("B-X S-Y", True, [(0, 1, "X"), (1, 2, "Y")], [(0, NO_END)]),
        ("B-X I-X I-Y E-Y", True, [(0, 2, "X"), (2, 4, "Y")], [(2, NEW_LABEL)]),
        ("B-X E-Y", True, [(0, 1, "X"), (1, 2, "Y")], [(1, NEW_LABEL)]),
        ("", True, [], []),
    ],
)
def test_read_spans(tags, marks_end, spans, violations):
    assert read(tags, marks_end) == (spans, violations)


@pytest.mark.parametrize(
    "tag, expected",
    [("O", ("O", "")), ("B-PER", ("B", "PER")), ("S_ns", ("S", "ns")), ("M-a-b", ("M", "a-b")), ("E", ("E", ""))],
)
def test_split_tag(tag, expected):
    assert split_tag(tag) == expected


@pytest.mark.parametrize("tag", ["", "X-PER", "B-", "BPER", "O-PER", "o", "b-PER", "_"])
def test_wrong_tags(tag):
    with pytest.raises(ValueError, match="is not a tag: expected O"):
        split_tag(tag)


@pytest.mark.parametrize(
    "letters, scheme",
    [
        ("O", "bio"),
        ("BIO", "bio"),
        ("BEO", "bioes"),
        ("BIESO", "bioes"),
        ("BMESO", "bmes"),
        ("BMEWO", "bmewo"),
        ("BILUO", "bilou"),
        ("BES", "bioes"),
        ("BIME", None),
        ("BILE", None),
    ],
)
def test_detect_scheme(letters, scheme):
    assert detect_scheme(letters) == scheme


@pytest.mark.parametrize("spans", [[(0, 2, "X"), (1, 3, "Y")], [(1, 1, "X")], [(-1, 1, "X")], [(2, 5, "X")]])
def test_spans_that_are_no_tags(spans):
    with pytest.raises(ValueError, match=r"The entity .* (overlaps|is empty or not within the 4 tokens)"):
        write_tags(spans, 4)
