"""How the parameters of thunlp's ERNIE are called here."""

import re
from typing import Any, Dict, NamedTuple, Tuple

# thunlp's name within a layer -> ours within a fusion layer. Everything else of a layer belongs to the text side.
_ENTITY_SIDE = (
    (r"attention\.self_ent\.(.+)", r"attention.self.\1"),
    (r"attention\.output_ent\.(.+)", r"attention.output.\1"),
    (r"intermediate\.dense_ent\.(.+)", r"dense_in.\1"),
    (r"output\.dense_ent\.(.+)", r"dense_out.\1"),
    (r"output\.LayerNorm_ent\.(.+)", r"norm.\1"),
)
_HEADS = (
    (r"(?:bert\.)?pooler\.(.+)", "next_sentence", r"pooler.\1"),
    (r"cls\.seq_relationship\.(.+)", "next_sentence", r"classifier.seq_relationship.\1"),
    (r"cls\.predictions\.transform\.(.+)", "masked_lm", r"transform.\1"),
    (r"cls\.predictions\.bias", "masked_lm", "bias"),
    (r"cls\.predictions_ent\.transform\.dense\.(.+)", "entity", r"dense.\1"),
    (r"cls\.predictions_ent\.transform\.LayerNorm\.(.+)", "entity", r"norm.\1"),
)
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)")


class ErnieParameters(NamedTuple):
    """The parameters of a checkpoint by the module that holds them here."""

    encoder: Dict[str, Any]
    masked_lm: Dict[str, Any]
    next_sentence: Dict[str, Any]
    entity: Dict[str, Any]


def rename_parameters(state: Dict[str, Any]) -> ErnieParameters:
    """Sort the parameters of a thunlp ERNIE (BertModel or BertForPreTraining) into those of our modules.

    The tied decoder is left out. `gamma` and `beta`, the names that TensorFlow's layer norm had, are understood.

    state (Dict[str, Any]): Parameters by thunlp's names.
    RETURNS (ErnieParameters): The same values by our names.
    """
    parts = ErnieParameters({}, {}, {}, {})
    for name, value in state.items():
        modern = re.sub(r"\.beta$", ".bias", re.sub(r"\.gamma$", ".weight", name))
        if modern != "cls.predictions.decoder.weight":
            part, renamed = _rename(modern)
            getattr(parts, part)[renamed] = value
    return parts


def _rename(name: str) -> Tuple[str, str]:
    for pattern, part, replacement in _HEADS:
        if re.fullmatch(pattern, name):
            return part, re.sub(pattern, replacement, name)
    name = name[len("bert.") :] if name.startswith("bert.") else name
    in_layer = _LAYER.fullmatch(name)
    if in_layer:
        index, rest = in_layer.groups()
        for pattern, replacement in _ENTITY_SIDE:
            if re.fullmatch(pattern, rest):
                return "encoder", f"fusion.{index}.{re.sub(pattern, replacement, rest)}"
    return "encoder", f"text.{name}"
