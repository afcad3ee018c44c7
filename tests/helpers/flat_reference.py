"""Random lattices, and the recorded results of the original FLAT."""

import json
import re
from pathlib import Path
from typing import Any, Dict, Tuple

import pytest
import torch
from data_folder import DATA
from hypothesis import strategies as st
from safetensors import safe_open
from torch import Tensor

from spacy_lexner.encoders.flat.model import LatticeEncoder
from spacy_lexner.encoders.flat.options import Attention, Positions, SubLayers

FIXTURES = Path(__file__).parents[1] / "fixtures" / "flat"
RECORDED = DATA.parent / "golden" / "flat"  # has more files


@st.composite
def lattices(draw: Any, max_lattices: int = 3, max_characters: int = 9, max_words: int = 14):
    """Random batches of half-open spans, as (starts, ends, mask): empty texts, texts of one character, texts without
    words or with more words than characters, words as long as the text, duplicate spans; tokens in any order, padding
    anywhere."""
    texts = []
    for _ in range(draw(st.integers(1, max_lattices))):
        n = draw(st.integers(0, max_characters))
        spans = [(i, i + 1) for i in range(n)]
        for _ in range(draw(st.integers(0, max_words)) if n else 0):
            start = draw(st.integers(0, n - 1))
            spans.append((start, draw(st.integers(start + 1, n))))
        texts.append(draw(st.permutations(spans)))
    longest = max(map(len, texts)) + draw(st.integers(0, 2))
    batch = torch.zeros(len(texts), max(longest, 1), 3, dtype=torch.long)
    for row, spans in zip(batch, texts):
        for place, (start, end) in zip(draw(st.permutations(range(len(row)))), spans):
            row[place] = torch.tensor([start, end, 1])
    return batch[..., 0], batch[..., 1], batch[..., 2].bool()


def recorded(name: str) -> Tuple[Dict[str, Any], Dict[str, Tensor]]:
    """The settings and tensors of one run of the original code."""
    paths = [folder / f"{name}.safetensors" for folder in (FIXTURES, RECORDED)]
    found = [path for path in paths if path.is_file()]
    if not found:
        pytest.skip(f"the recorded run {name} is missing on this machine")
    with safe_open(found[0], "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        return {key: json.loads(value) for key, value in file.metadata().items()}, tensors


OUR_NAMES = (
    (r"^four_pos_fusion_embedding\.", "layers.0.attention.fusion."),
    (r"^layer_preprocess\.layer_norm", "final_norm"),
    (r"^layer_(\d)\.four_pos_fusion_embedding\.", r"layers.\1.attention.fusion."),
    (r"fusion\.pos_fusion_forward(\.0)?\.", "fusion.linear."),
    (r"fusion\.pos_(attn|gate)_score\.0\.", "fusion.linear."),
    (r"fusion\.pos_(attn|gate)_score\.2\.", "fusion.score."),
    (r"fusion\.w_r\.", "fusion.value."),
    (r"^layer_(\d)\.attn\.", r"layers.\1.attention."),
    (r"attention\.w_q\.", "attention.query."),
    (r"attention\.w_k\.", "attention.key."),
    (r"attention\.w_v\.", "attention.value."),
    (r"attention\.w_r\.", "attention.position."),
    (r"attention\.ff_final\.", "attention.output."),
    (r"attention\.u$", "attention.content_bias"),
    (r"attention\.v$", "attention.position_bias"),
    (r"^layer_(\d)\.ff\.w0\.", r"layers.\1.feed_forward.inner."),
    (r"^layer_(\d)\.ff\.w1\.", r"layers.\1.feed_forward.outer."),
    (r"^layer_(\d)\.layer_(pre|post)process\.layer_norm\.", r"layers.\1.attention_norm."),
)


def n_terms(meta: Dict[str, Any]) -> int:
    """The `n_terms` for `tolerance`: the number of layers times their longest sum (four concatenated encodings)."""
    return meta["layers"] * 4 * meta["hidden"]


def our_name(name: str) -> str:
    """The name in `LatticeEncoder` of a parameter of the original encoder."""
    for pattern, ours in OUR_NAMES:
        name = re.sub(pattern, ours, name)
    return name


def load_original(encoder: LatticeEncoder, weights: Dict[str, Tensor], besides: str = "layers.*tables") -> None:
    """Copy the original's weights to an encoder by name. All of ours must be found, with exceptions."""
    state = encoder.state_dict()
    found = set()
    for name, tensor in weights.items():
        if our_name(name) in state:
            state[our_name(name)].copy_(tensor)
            found.add(state[our_name(name)].data_ptr())
    missing = {key for key, tensor in state.items() if tensor.data_ptr() not in found and not re.match(besides, key)}
    assert not missing, missing


def make_encoder(width: int, heads: int, layers: int = 1, **options: Any) -> LatticeEncoder:
    """An encoder with the given options, of any block."""
    blocks = [
        block.read({name: options.pop(name) for name in block.options() if name in options})
        for block in (Positions, Attention, SubLayers)
    ]
    assert not options, options
    return LatticeEncoder(width, heads, layers, *blocks)


def original_encoder(meta: dict, tensors: dict, prefix: str = "sd.", **options: Any) -> LatticeEncoder:
    options = {"fusion": meta.get("four_pos_fusion", "ff_two"), "inner_width": meta["ff"], **options}
    encoder = make_encoder(meta["hidden"], meta["heads"], meta["layers"], **options)
    weights = {name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    load_original(encoder, weights)
    for kind, name in enumerate(("pe_ss", "pe_se", "pe_es", "pe_ee")):
        if name in weights:
            encoder.layers[0].attention.fusion.encoding.tables[kind].data.copy_(weights[name])
    return encoder.eval()
