"""How the parameters of LEBERT's authors (liuwei1206/LEBERT) are called here."""

import re
from typing import Any, Dict, NamedTuple

_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)")
# The authors' name within a layer -> ours within its adapter. Everything else of a layer is BERT's.
_ADAPTER = {
    "attn_W": "attention",
    "word_transform.weight": "word_in.weight",
    "word_transform.bias": "word_in.bias",
    "word_word_weight.weight": "word_out.weight",
    "word_word_weight.bias": "word_out.bias",
    "fuse_layernorm.weight": "norm.weight",
    "fuse_layernorm.bias": "norm.bias",
}
_HEAD = ("hidden2tag.weight", "hidden2tag.bias", "crf.transitions", "word_embeddings.weight")
_UNUSED = re.compile(r"bert\.pooler\..+|.+\.position_ids")


class LEBERTParameters(NamedTuple):
    """The parameters of a checkpoint.

    module (Dict[str, Any]): Those of `modules.lebert.LEBERT`, but for the word vectors.
    words (Any): The table of word vectors.
    emission_W, emission_b (Any): Of the layer from vectors to tags.
    transitions (Any): From row to column; the start is the last tag but one, the stop the last.
    """

    module: Dict[str, Any]
    words: Any
    emission_W: Any
    emission_b: Any
    transitions: Any

    @property
    def adapter_layers(self) -> list[int]:
        """RETURNS (list[int]): The layers that have an adapter."""
        return sorted({int(name.split(".")[1]) for name in self.module if name.startswith("adapters.")})


def rename_parameters(state: Dict[str, Any]) -> LEBERTParameters:
    """Sort the parameters of a WCBertCRFForTokenClassification into those of our modules.

    state (Dict[str, Any]): Parameters by the authors' names.
    RETURNS (LEBERTParameters): The same values. Raises ValueError where it is another model.
    """
    if "attn_W" in state:
        raise ValueError(
            "the checkpoint is the authors' BERT+Word baseline (BertWordLSTMCRF_Token), not a LEBERT: it has one "
            "attention to words, behind BERT"
        )
    missing = [name for name in _HEAD if name not in state]
    if missing:
        raise ValueError(
            f"it has no {', '.join(missing)}: expected a model of liuwei1206/LEBERT (WCBertCRF_Token), as training "
            "saves it"
        )
    module = {_rename(name): value for name, value in state.items() if not (name in _HEAD or _UNUSED.fullmatch(name))}
    parameters = LEBERTParameters(module, *(state[name] for name in (_HEAD[3], *_HEAD[:3])))
    if not parameters.adapter_layers:
        raise ValueError("it has no lexicon adapter: it is a BERT with a tagger")
    return parameters


def _rename(name: str) -> str:
    name = name.removeprefix("bert.")
    in_layer = _LAYER.fullmatch(name)
    if in_layer and in_layer[2] in _ADAPTER:
        return f"adapters.{in_layer[1]}.{_ADAPTER[in_layer[2]]}"
    return f"encoder.{name}"
