import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from spacy_lexner.encoders.elmo.packing import pack, split_steps

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=7)


@given(LENGTHS)
def test_same_layout_as_torch(lengths):
    flat = torch.arange(sum(lengths))
    packing = pack(torch.tensor(lengths))
    for direction, sequences in enumerate([flat.split(lengths), [rows.flip(0) for rows in flat.split(lengths)]]):
        ordered = [sequences[i] for i in packing.order]
        oracle = pack_padded_sequence(
            pad_sequence(ordered), torch.tensor([len(rows) for rows in ordered]), enforce_sorted=True
        )
        assert torch.equal(packing.rows[direction], oracle.data)
        assert packing.sizes == oracle.batch_sizes.tolist()
        assert torch.equal(packing.rows[direction][packing.inverse[direction]], flat)


@given(LENGTHS, st.integers(1, 12))
def test_blocks_hold_whole_steps(lengths, max_rows):
    sizes = pack(torch.tensor(lengths)).sizes
    blocks = split_steps(sizes, max_rows)
    assert [size for block in blocks for size in block] == sizes
    assert all(sum(block) <= max_rows or len(block) == 1 for block in blocks)


def test_no_sequences():
    packing = pack(torch.tensor([], dtype=torch.int64))
    assert packing.rows.shape == (2, 0) and packing.sizes == []
    assert split_steps([], 4) == []
