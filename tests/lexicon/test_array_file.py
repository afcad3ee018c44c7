import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from spacy_lexner.lexicon import LexiconError, array_file
from spacy_lexner.lexicon.array_file import DTYPES, read_arrays, write_arrays


@st.composite
def arrays(draw):
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=2))
    dtype = draw(st.sampled_from(sorted(DTYPES.values())))
    values = draw(st.lists(st.integers(0, 200), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return np.array(values, dtype).reshape(shape)


NAMED = st.dictionaries(st.text("abc.词", min_size=1, max_size=4), arrays(), max_size=5)


def same(a, b):
    return a.keys() == b.keys() and all(a[n].dtype == b[n].dtype and np.array_equal(a[n], b[n]) for n in a)


@given(NAMED)
def test_safetensors_reads_what_we_write_and_we_what_it_writes(named):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_file, "CHUNK", 4)
        data = b"".join(write_arrays(named, {"key": "值"}))
    assert same(load(data), named)
    read, metadata = read_arrays(np.frombuffer(data, "u1"), "file")
    assert same(read, named) and metadata == {"key": "值"}
    assert same(read_arrays(np.frombuffer(save(named), "u1"), "file")[0], named)


def test_arrays_are_aligned_views():
    data = np.frombuffer(b"".join(write_arrays({"a": np.ones(3, "u1"), "b": np.ones(3, "<u8")}, {})), "u1").copy()
    read, _ = read_arrays(data, "file")
    assert read["b"].flags.aligned and np.shares_memory(read["b"], data)


@settings(max_examples=500)
@given(st.data())
def test_damaged_header_is_refused_or_describes_the_file(data):
    file = bytearray(b"".join(write_arrays({"a": np.arange(4, dtype="<i4"), "b": np.ones((2, 3), "<f4")}, {})))
    end = 8 + int.from_bytes(file[:8], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        file[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    try:
        read, _ = read_arrays(np.frombuffer(bytes(file), "u1"), "file")
    except LexiconError as error:
        assert str(error).startswith("file: ")
    else:
        assert sum(array.nbytes for array in read.values()) == 40


def described(header, body=b""):
    encoded = json.dumps(header).encode("utf8") if not isinstance(header, bytes) else header
    return np.frombuffer(len(encoded).to_bytes(8, "little") + encoded + body, "u1")


ENTRY = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    "data",
    [
        np.zeros(0, "u1"),
        np.zeros(7, "u1"),
        np.full(64, 255, "u1"),
        described(b"not json at all"),
        described([1, 2]),
        described(b"[" * 5000),
        described({"a": {**ENTRY, "dtype": "PICKLE"}}, b"1234"),
        described({"a": {**ENTRY, "shape": [-4]}}, b"1234"),
        described({"a": {**ENTRY, "shape": [2**40, 2**40]}}, b"1234"),
        described({"a": {**ENTRY, "shape": [True] * 4}}, b"1234"),
        described({"a": {**ENTRY, "data_offsets": [0, 8]}}, b"1234"),
        described({"a": {**ENTRY, "data_offsets": [4, 0]}}, b"1234"),
        described({"a": {**ENTRY, "data_offsets": [1, 5]}}, b"12345"),
        described({"a": ENTRY, "b": {**ENTRY, "data_offsets": [2, 6]}}, b"123456"),
        described({"a": ENTRY}, b"12345"),
        described({"a": ENTRY}, b"123"),
        described({"a": ENTRY, "__metadata__": 3}, b"1234"),
    ],
)
def test_foreign_bytes_are_refused(data):
    with pytest.raises(LexiconError, match=r"^name\.safetensors: "):
        read_arrays(data, "name.safetensors")


def test_large_header_is_refused():
    with pytest.raises(LexiconError, match="truncated in its header"):
        read_arrays(described({"__metadata__": {"a": "x" * (1 << 20)}}), "file")
