import torch
from flat_reference import lattices, pair_distances, recorded
from hypothesis import given, settings
from torch.testing import assert_close

from spacy_lexner.encoders.flat.options import Positions
from spacy_lexner.encoders.flat.relative_positions import RelativePositions
from spacy_lexner.encoders.flat.scalar_positions import ScalarPositions


@given(lattices())
@settings(deadline=None, max_examples=25)
def test_equals_the_formula(batch):
    starts, ends, mask = batch
    torch.manual_seed(0)
    scalar = ScalarPositions(2, Positions(share_tables=False, max_distance=5))
    bias = scalar(RelativePositions(*batch)).view(2, *starts.shape, starts.shape[1])
    rows = pair_distances(starts, ends).clamp(-5, 5) + 5
    joined = torch.cat([table[rows[..., kind]] for kind, table in enumerate(scalar.tables)], dim=-1)
    expected = torch.relu(scalar.linear(joined)).permute(3, 0, 1, 2)
    pairs = mask.unsqueeze(2) & mask.unsqueeze(1)
    assert_close(bias[:, pairs], expected[:, pairs])
    assert (bias[:, ~mask] == 0).all()


def test_as_the_original():
    meta, tensors = recorded("enc_v3_scaled0")
    scalar = ScalarPositions(meta["heads"], Positions(max_distance=meta["max_seq_len"]))
    scalar.tables[0].data.copy_(tensors["sd.pe.weight"])
    prefix = "sd.four_pos_fusion_embedding.pos_fusion_forward.0."
    scalar.linear.load_state_dict({name: tensors[prefix + name] for name in ("weight", "bias")})
    starts, ends = tensors["in.pos_s"], tensors["in.pos_e"]
    mask = torch.arange(starts.shape[1]) < (tensors["in.seq_len"] + tensors["in.lex_num"]).unsqueeze(1)
    bias = scalar(RelativePositions(starts, ends, mask)).view(meta["heads"], *starts.shape, -1).transpose(0, 1)
    pairs = (mask.unsqueeze(2) & mask.unsqueeze(1)).unsqueeze(1).expand_as(bias)
    assert_close(bias[pairs], tensors["mid.bias"][pairs], atol=1e-5, rtol=0)
