import math

import pytest
import torch
from flat_reference import FIXTURES, lattices, load_original, make_encoder, n_terms, recorded
from hypothesis import given, settings
from tolerance import assert_all_close, assert_close, near

from spacy_lexner.encoders.flat.distinct_positions import DistinctPositions
from spacy_lexner.encoders.flat.options import Positions
from spacy_lexner.encoders.flat.positions import FUSIONS, PositionEncoding, ScalarPositions, pair_distances, sinusoids

N_TERMS = 32 + 8  # four encodings of 8 side by side, then a projection


def test_four_distances():
    starts, ends = torch.tensor([[2, 5]]), torch.tensor([[3, 9]])
    assert pair_distances(starts, ends)[0, 1, 0].tolist() == [3, 3, 6, 6]
    assert pair_distances(starts, ends)[0, 0, 1].tolist() == [-3, -6, -3, -6]


def encoding(width: int = 8, **options) -> PositionEncoding:
    made = Positions(**options)
    return PositionEncoding(width, made, 1 if made.share_tables else 4, -made.max_distance)


@pytest.mark.parametrize("width", [4, 7, 10])
def test_sinusoids_by_the_formula(width):
    positions = torch.tensor([-5, 0, 3, 2000])
    encoded = sinusoids(positions, width)
    half = width // 2
    for row, position in zip(encoded, positions.tolist()):
        for k in range(half):
            angle = position * 10000 ** (-k / (half - 1))
            scale = max(abs(angle), 1.0)  # an error of the angle is one of the sine
            n_terms = 12  # the exponent is up to ln 10000 = 9.2: its rounding, then three more
            assert row[k] == near(math.sin(angle), n_terms, scale)
            assert row[half + k] == near(math.cos(angle), n_terms, scale)
    assert width % 2 == 0 or (encoded[:, -1] == 0).all()


def test_distances_have_no_limit_and_a_sign():
    made = encoding()
    assert torch.equal(made(torch.tensor([100_000]), 0), sinusoids(torch.tensor([100_000]), 8))
    assert not torch.equal(made(torch.tensor([-3]), 0), made(torch.tensor([3]), 0))
    assert not list(made.parameters())


def test_offset_and_normalization():
    distances = torch.tensor([-2, 0, 5])
    assert torch.equal(encoding(offset=64)(distances, 0), sinusoids(distances + 64, 8))
    normalized = encoding(normalize=True)(distances, 0)
    assert_close(normalized.sum(-1), torch.ones(3), N_TERMS, scale=normalized)


def test_learned_tables_start_as_sinusoids_and_end_somewhere():
    made = encoding(learned=True, max_distance=4)
    assert torch.equal(made(torch.arange(-4, 5), 2), sinusoids(torch.arange(-4, 5), 8))
    assert torch.equal(made(torch.tensor([-90, 90]), 0), made(torch.tensor([-4, 4]), 0))
    made(torch.tensor([1]), 0).sum().backward()
    assert made.tables[0].grad[5].eq(1).all()


def test_tables_are_shared_or_not():
    assert len(encoding(learned=True).tables) == 1
    own = encoding(learned=True, share_tables=False)
    own.tables[3].data.zero_()
    one = torch.tensor([1])
    assert own(one, 3).eq(0).all()
    assert own(one, 0).ne(0).any()


def test_impossible_sizes():
    with pytest.raises(ValueError, match="at least 4 values, not 3"):
        encoding(width=3)
    with pytest.raises(ValueError, match=r"max_distance\s+got 0"):
        Positions(max_distance=0)


DISTANCES = torch.tensor([[0, -1, 0, -1], [3, 2, 5, 4], [-7, -9, -7, -9], [3, 1, 6, 4], [3, 2, 5, 4]])


def encodings(fusion, distances) -> list:
    return [fusion.encoding(distances[..., kind], kind) for kind in range(4)]


def vectors(keys) -> torch.Tensor:
    return keys.vectors if keys.lookup is None else keys.vectors[keys.lookup]


@pytest.mark.parametrize(
    "options", [{}, {"learned": True, "share_tables": False, "max_distance": 6}], ids=["fixed", "learned"]
)
@pytest.mark.parametrize("name", FUSIONS)
def test_a_fusion_equals_its_formula(name, options):
    torch.manual_seed(0)
    fusion = FUSIONS[name](8, Positions(**options))
    for table in fusion.encoding.tables or ():
        table.data.normal_()
    projection = torch.nn.Linear(8, 8)
    expected = fusion.plain(encodings(fusion, DISTANCES))
    assert_close(fusion.fuse(DISTANCES), expected, N_TERMS)
    assert_close(vectors(fusion(DISTANCES)), expected, N_TERMS)
    assert_close(vectors(fusion(DISTANCES, projection)), projection(expected), N_TERMS)

    parameters = [*fusion.parameters(), *projection.parameters()]
    weights = torch.randn(len(DISTANCES), 8)
    ours, theirs = (
        torch.autograd.grad((x * weights).sum(), parameters, materialize_grads=True)
        for x in (vectors(fusion(DISTANCES, projection)), projection(fusion.plain(encodings(fusion, DISTANCES))))
    )
    assert_all_close(ours, theirs, 2 * N_TERMS)  # forward and backward


@pytest.mark.parametrize("name", ["ff", "ff_linear", "ff_two", "attn", "gate"])
def test_fusions_as_the_original(name):
    meta, tensors = recorded(f"enc_{name}_shared_l1")
    encoder = make_encoder(meta["hidden"], meta["heads"], inner_width=meta["ff"], fusion=name)
    load_original(encoder, {key[len("sd.") :]: tensor for key, tensor in tensors.items() if key.startswith("sd.")})
    starts, ends = (tensors[key][:1, :12] for key in ("in.pos_s", "in.pos_e"))
    fusion, distances = encoder.layers[0].attention.fusion, pair_distances(starts, ends + 1)
    expected = tensors["mid.rel_pos_embedding"]
    assert_close(fusion.plain(encodings(fusion, distances)), expected, n_terms(meta))
    assert_close(vectors(fusion(distances.view(-1, 4))).view(1, 12, 12, -1), expected, n_terms(meta))


def test_two_distances_need_fewer_vectors():
    keys = FUSIONS["ff_two"](8, Positions())(DISTANCES)
    assert len(keys.vectors) == 3


def test_recorded_runs_are_here():
    assert len(list(FIXTURES.glob("*.safetensors"))) == 13


@given(lattices())
@settings(deadline=None, max_examples=25)
def test_scalar_positions_equal_their_formula(batch):
    starts, ends, mask = batch
    torch.manual_seed(0)
    scalar = ScalarPositions(2, Positions(share_tables=False, max_distance=5))
    bias = scalar(DistinctPositions(*batch)).view(2, *starts.shape, starts.shape[1])
    expected = scalar.plain(pair_distances(starts, ends)).permute(3, 0, 1, 2)
    pairs = mask.unsqueeze(2) & mask.unsqueeze(1)
    assert_close(bias[:, pairs], expected[:, pairs], N_TERMS)
    assert (bias[:, ~mask] == 0).all()


def test_scalar_positions_as_the_original():
    meta, tensors = recorded("enc_v3_scaled0")
    scalar = ScalarPositions(meta["heads"], Positions(max_distance=meta["max_seq_len"]))
    scalar.tables[0].data.copy_(tensors["sd.pe.weight"])
    prefix = "sd.four_pos_fusion_embedding.pos_fusion_forward.0."
    scalar.linear.load_state_dict({name: tensors[prefix + name] for name in ("weight", "bias")})
    starts, ends = tensors["in.pos_s"], tensors["in.pos_e"]
    mask = torch.arange(starts.shape[1]) < (tensors["in.seq_len"] + tensors["in.lex_num"]).unsqueeze(1)
    bias = scalar(DistinctPositions(starts, ends + 1, mask)).view(meta["heads"], *starts.shape, -1).transpose(0, 1)
    pairs = (mask.unsqueeze(2) & mask.unsqueeze(1)).unsqueeze(1).expand_as(bias)
    assert_close(bias[pairs], tensors["mid.bias"][pairs], n_terms(meta))
