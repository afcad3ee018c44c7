"""Trained pipelines in 8 bits."""

from typing import Dict, List

from spacy.language import Language
from thinc.api import PyTorchShim

from ..encoders.shared.shim import ModuleShim

QUANTIZED = ("lebert", "ernie")  # encoders by the name of their layer: a BERT is nothing but linear layers
REASONS = {
    "flat": "FLAT computes its positions from the weights themselves, and its linear layers are a quarter of its time",
    "elmo": "ELMo's time goes into recurrent products",
    "word_bilstm": "an LSTM is no linear layer",
}


def quantize(nlp: Language) -> List[str]:
    """Quantise the encoders of a pipeline, in place, see `encoders.shared.int8`. Components without a torch module stay
    as they are.

    nlp (Language): The pipeline.
    RETURNS (List[str]): The components that were quantised. Raises ValueError, before anything is changed, if one has a
        torch module that cannot be, or none has one that can.
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
                    reason = REASONS.get(node.name, "only the encoders LEBERT and ERNIE can be")
                    refused.append(f"{name!r} ({node.name}: {reason})")
    if refused:
        raise ValueError(f"Components that cannot be quantised: {'; '.join(refused)}.")
    if not found:
        raise ValueError(
            "No component has an encoder that can be quantised, LEBERT or ERNIE. The components are: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
    for shims in found.values():
        for shim in shims:
            if shim.in_int8:
                raise ValueError("The pipeline is in 8 bits already.")
            shim.quantize()
    return list(found)
