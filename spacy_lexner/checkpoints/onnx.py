"""Export of a trained LEBERT as an ONNX graph from wordpieces and words to tag scores."""

import warnings
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import srsly
import torch
from spacy.language import Language
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F

from ..encoders.lebert.model import LEBERT
from ..encoders.shared.int8 import IN_INT8
from ..encoders.shared.shim import ModuleShim
from ..integrity.folders import whole_folder
from ..tagging.ncrf.head import NCRFHead
from ..tensors.convert import tensor_of

OPSET = 20
START, STOP = "<START>", "<STOP>"  # as NCRF++ writes them
GRAPH, DESCRIPTION = "model.onnx", "model.json"
REASONS = {
    "flat": (
        "FLAT's attention scores the distinct positions of a batch in groups whose number and sizes depend on the "
        "texts, but a graph has a fixed number of operations. The formula with a vector for every pair of tokens could "
        "be exported, but takes dozens of times as long"
    ),
    "elmo": "ELMo steps through time in Python, in blocks that depend on text lengths",
    "ernie": "the graph does not support ERNIE's entities yet",
}


class Emissions(nn.Module):
    """The exported module: a LEBERT and the output layer of its tagger."""

    weight: Tensor
    bias: Tensor

    def __init__(self, encoder: LEBERT, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, slots: Optional[Tensor] = None, words: Optional[Tensor] = None
    ) -> Tensor:
        """RETURNS (Tensor): The tag scores of each wordpiece, float [B, L, n_tags]."""
        return F.linear(self.encoder.encode(input_ids, attention_mask, words, slots), self.weight, self.bias)


def export_onnx(nlp: Language, target: Path, *, component: str = "lex_ner", overwrite: bool = False) -> Dict[str, Any]:
    """Write the encoder and output layer of a tagger to a folder with model.onnx and model.json, which has the
    vocabulary, labels, tags in the order of the emissions, transitions and the word vector width.

    Inputs of the graph (B, L and U are free): `input_ids`, int64 [B, L], and `attention_mask`, bool [B, L], with [CLS]
    and [SEP] around each text; if the model reads words, `slots`, int64 [B, L, W], and `words`, float [1 + U, D], as in
    `LEBERT.encode`. Output: `emissions`, float [B, L, n_tags].

    nlp (Language): The pipeline.
    target (Path): The folder, written atomically.
    component (str): The tagger.
    overwrite (bool): Whether to replace an existing folder.
    RETURNS (Dict[str, Any]): The contents of model.json. Raises ValueError if the encoder cannot be exported, and
        ImportError without onnx.
    """
    shim, tagger = find_lebert(nlp, component)
    settings, module = shim.settings or {}, shim.module
    assert isinstance(module, LEBERT)
    output, width = tagger.model.get_ref("output_layer"), settings["lebert"]["word_width"]
    names = ("emission_W", "emission_b")
    graph = Emissions(module, *(tensor_of(output.get_param(name)) for name in names)).eval()
    sample, shapes = make_sample(module, width, n_slots(tagger.model))
    learned = "transitions" in output.param_names
    description = {
        "opset": OPSET,
        "labels": list(tagger.labels),
        "tags": tags_of(tagger),
        "word_width": width if module.words is not None else 0,
        "transitions": output.get_param("transitions").tolist() if learned else None,
        "wordpieces": settings["wordpieces"],
    }
    source = [nlp.path] if nlp.path else []
    with whole_folder(target, overwrite=overwrite, inputs=source) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about several inputs that share a named dimension
        try:
            torch.onnx.export(
                graph,
                tuple(sample.values()),
                folder / GRAPH,
                dynamo=True,
                opset_version=OPSET,
                input_names=list(sample),
                output_names=["emissions"],
                dynamic_shapes=shapes,
                external_data=False,
                verbose=False,
            )
        except ImportError as error:
            raise ImportError('Export needs onnx and onnxscript: pip install "spacy-lexner[onnx]".') from error
        srsly.write_json(folder / DESCRIPTION, description)
    return description


def find_lebert(nlp: Language, component: str) -> Tuple[ModuleShim, Any]:
    """RETURNS (Tuple[ModuleShim, LexNER]): The shim of a tagger's LEBERT, and the tagger. Raises ValueError if the
    tagger has another encoder."""
    if component not in nlp.pipe_names:
        raise ValueError(f"The pipeline has no component {component!r}; it has {', '.join(nlp.pipe_names) or 'none'}.")
    tagger: Any = nlp.get_pipe(component)
    found = [(node.name, shim) for node in tagger.model.walk() for shim in node.shims if isinstance(shim, ModuleShim)]
    if [name for name, _ in found] != ["lebert"] or "output_layer" not in tagger.model.ref_names:
        what = ", ".join(f"{name} ({REASONS[name]})" if name in REASONS else name for name, _ in found) or "none"
        raise ValueError(f"{component!r} cannot be exported: expected one LEBERT as its encoder, found {what}.")
    if found[0][1].in_int8:
        raise ValueError(IN_INT8)
    return found[0][1], tagger


def tags_of(tagger: Any) -> List[str]:
    """RETURNS (List[str]): The tag of each column of a tagger's emissions."""
    head = tagger.model.attrs["head"]
    return [*head.tag_names, START, STOP] if isinstance(head, NCRFHead) else list(tagger.scheme.tags)


def n_slots(model: Any) -> int:
    """RETURNS (int): The maximum number of words per wordpiece in the tagger's LEBERT."""
    return next(node.attrs["options"].max_words for node in model.walk() if node.name == "lebert")


def make_sample(module: LEBERT, width: int, n_slots: int) -> Tuple[Dict[str, Tensor], List[Dict[int, Any]]]:
    """RETURNS (Tuple[Dict[str, Tensor], List[Dict[int, Any]]]): Inputs to trace the graph with, and their free
    dimensions."""
    batch, length, n_words = Dim("batch"), Dim("length"), Dim("n_words")
    sample = {"input_ids": torch.ones(2, 7, dtype=torch.int64), "attention_mask": torch.ones(2, 7, dtype=torch.bool)}
    shapes: List[Dict[int, Any]] = [{0: batch, 1: length}, {0: batch, 1: length}]
    if module.words is not None:
        sample["slots"] = torch.ones(2, 7, n_slots, dtype=torch.int64)
        sample["words"] = torch.zeros(4, width)
        shapes += [{0: batch, 1: length}, {0: n_words}]
    return sample, shapes
