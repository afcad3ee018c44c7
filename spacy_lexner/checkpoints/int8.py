"""Quantisation of trained pipelines to 8 bits."""

from typing import Dict, List

from spacy.language import Language
from thinc.api import PyTorchShim

from ..encoders.shared.shim import ModuleShim

QUANTIZED = ("lebert", "ernie")  # names of encoder layers; these are almost entirely linear
REASONS = {
    "flat": "FLAT computes its positions from the weights themselves, and its linear layers are a quarter of its time",
    "elmo": "ELMo spends its time in recurrent products",
    "word_bilstm": "an LSTM is not a linear layer",
}


def quantize(nlp: Language) -> List[str]:
    """Quantise the encoders of a pipeline in place, see `encoders.shared.int8`. Components without a torch module are
    left unchanged.

    nlp (Language): The pipeline.
    RETURNS (List[str]): The names of the quantised components. Raises ValueError, before anything is changed, if a
        component has a torch module that cannot be quantised, or already is, or none has one that can.
    """
    found: Dict[str, List[ModuleShim]] = {}
    refused = []
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for node in model.walk() if model is not None else ():
            for shim in node.shims:
                if isinstance(shim, ModuleShim) and node.name in QUANTIZED:
                    found.setdefault(name, []).append(shim)
                elif isinstance(shim, PyTorchShim):
                    reason = REASONS.get(node.name, "only LEBERT and ERNIE can be quantised")
                    refused.append(f"{name!r} ({node.name}: {reason})")
    if refused:
        raise ValueError(f"Components that cannot be quantised: {'; '.join(refused)}.")
    if not found:
        raise ValueError(
            "No component has an encoder that can be quantised (LEBERT or ERNIE). The components are: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
    if done := [name for name, shims in found.items() if any(shim.in_int8 for shim in shims)]:
        raise ValueError(f"Components that are already quantised to 8 bits: {', '.join(done)}.")
    for shims in found.values():
        for shim in shims:
            shim.quantize()
    return list(found)
