import pytest
import torch
from flat_reference import FIXTURES, load_original, make_encoder, naive_fusion, pair_distances, recorded
from torch.testing import assert_close

from spacy_lexner.encoders.flat.options import Positions
from spacy_lexner.encoders.flat.position_encoding import DistanceEncoding
from spacy_lexner.encoders.flat.position_fusion import FUSIONS

DISTANCES = torch.tensor([[0, -1, 0, -1], [3, 2, 5, 4], [-7, -9, -7, -9], [3, 1, 6, 4], [3, 2, 5, 4]])


def vectors(keys) -> torch.Tensor:
    return keys.vectors if keys.lookup is None else keys.vectors[keys.lookup]


@pytest.mark.parametrize(
    "options", [{}, {"learned": True, "share_tables": False, "max_distance": 6}], ids=["fixed", "learned"]
)
@pytest.mark.parametrize("name", FUSIONS)
def test_equals_the_formula(name, options):
    torch.manual_seed(0)
    fusion = FUSIONS[name](6, DistanceEncoding(8, Positions(**options)))
    for table in fusion.encoding.tables or ():
        table.data.normal_()
    projection = torch.nn.Linear(6, 6)
    expected = naive_fusion(fusion, name, DISTANCES)
    assert_close(fusion.fuse(DISTANCES), expected)
    assert_close(vectors(fusion(DISTANCES)), expected)
    assert_close(vectors(fusion(DISTANCES, projection)), projection(expected))

    parameters = [*fusion.parameters(), *projection.parameters()]
    weights = torch.randn(len(DISTANCES), 6)
    ours, theirs = (
        torch.autograd.grad((x * weights).sum(), parameters, materialize_grads=True)
        for x in (vectors(fusion(DISTANCES, projection)), projection(naive_fusion(fusion, name, DISTANCES)))
    )
    for ours_, theirs_ in zip(ours, theirs):
        assert_close(ours_, theirs_)


@pytest.mark.parametrize("name", ["ff", "ff_linear", "ff_two", "attn", "gate"])
def test_as_the_original(name):
    meta, tensors = recorded(f"enc_{name}_shared_l1")
    encoder = make_encoder(meta["hidden"], meta["heads"], inner_width=meta["ff"], fusion=name)
    load_original(encoder, {key[len("sd.") :]: tensor for key, tensor in tensors.items() if key.startswith("sd.")})
    starts, ends = (tensors[key][:1, :12] for key in ("in.pos_s", "in.pos_e"))
    fused = encoder.layers[0].attention.fusion(pair_distances(starts, ends).view(-1, 4))
    assert_close(vectors(fused).view(1, 12, 12, -1), tensors["mid.rel_pos_embedding"], atol=1e-5, rtol=0)


def test_two_distances_need_fewer_vectors():
    keys = FUSIONS["ff_two"](6, DistanceEncoding(8))(DISTANCES)
    assert len(keys.vectors) == 3


def test_recorded_runs_are_here():
    assert len(list(FIXTURES.glob("*.safetensors"))) == 13
