"""Export of a trained or pretrained encoder as a Hugging Face folder."""

import warnings
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import srsly
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from ..encoders.ernie.checkpoint import save_entity_side
from ..encoders.ernie.model import FusedBert, build_ernie
from ..encoders.lebert.model import build_lebert
from ..encoders.shared.int8 import IN_INT8
from ..encoders.shared.read_as import KEY
from ..encoders.shared.shim import ModuleShim
from ..encoders.shared.wordpieces import SPECIAL_PIECES
from ..integrity.folders import whole_folder
from ..integrity.model_files import read_model_file

BUILDERS = {"lebert": build_lebert, "ernie": build_ernie}


class SavedEncoder(NamedTuple):
    """The contents of a Hugging Face folder."""

    model: PreTrainedModel  # the BERT-shaped encoder
    wordpieces: Dict[str, Any]  # settings of its vocabulary, see `encoders.shared.wordpieces`
    entity_side: Optional[FusedBert] = None  # the whole encoder, if it is an ERNIE


def export_huggingface(
    source: Path, target: Path, *, component: Optional[str] = None, overwrite: bool = False
) -> SavedEncoder:
    """Write the encoder of a saved model as a Hugging Face folder: config.json, model.safetensors, vocab.txt, and the
    tokenizer's files. transformers' AutoModel and AutoTokenizer load it, and so does `checkpoint` of our encoders.
    Lexicon adapters and word vectors are not part of a BERT and are left out. The entity side of an ERNIE is written
    next to its text side, for `checkpoint` of ERNIE.v1.

    source (Path): A file of `spacy pretrain` (model-last.bin), or a saved pipeline.
    target (Path): The folder, written atomically.
    component (Optional[str]): The component whose encoder to export; needed if several have one.
    overwrite (bool): Whether to replace an existing folder.
    RETURNS (SavedEncoder): What was written. Raises ValueError unless exactly one encoder is found, or if it is in 8
        bits.
    """
    saved = read_encoder(Path(source), component)
    with whole_folder(target, overwrite=overwrite, inputs=[source]) as folder:
        saved.model.save_pretrained(folder, safe_serialization=True)
        save_tokenizer(saved, folder)
        if saved.entity_side is not None:
            save_entity_side(folder, saved.entity_side)
    return saved


def read_encoder(path: Path, component: Optional[str] = None) -> SavedEncoder:
    """Find the encoder in a file of `spacy pretrain`, or in a saved pipeline. Raises ValueError if there is none, or
    more than one."""
    found = [(file_.parent.name, *part) for file_ in _model_files(path, component) for part in _encoders(file_)]
    if len(found) != 1:
        hint = f" (in {', '.join(sorted(name for name, _, _ in found))}: name the component)" if found else ""
        raise ValueError(f"{path} holds {len(found)} encoders that can be exported; expected one{hint}.")
    _, node, saved = found[0]
    shim = ModuleShim(BUILDERS[node])
    shim.from_bytes(saved)
    if shim.in_int8:
        raise ValueError(IN_INT8)
    module: Any = shim.module
    wordpieces = (shim.settings or {})["wordpieces"]
    if KEY in wordpieces:
        warnings.warn(
            "The encoder reads normalised characters (read_as), but a Hugging Face tokenizer does not normalise: set "
            "`read_as` wherever the folder is used as `checkpoint`, and normalise texts for other programs.",
            stacklevel=3,
        )
    if node == "ernie":
        return SavedEncoder(module.encoder.text, wordpieces, module.encoder)
    return SavedEncoder(module.encoder, wordpieces)


def _model_files(path: Path, component: Optional[str]) -> List[Path]:
    if path.is_file():
        if component is not None:
            raise ValueError(f"{path} is a file, which has no component {component!r}: leave the component out.")
        return [path]
    files = sorted(path.glob("*/model")) if component is None else [path / component / "model"]
    if not files or not files[0].is_file():
        raise ValueError(
            f"{path} is neither a file of `spacy pretrain` nor a saved pipeline"
            f"{f' with a component {component!r}' if component else ''}."
        )
    return files


def _encoders(path: Path) -> Iterator[Tuple[str, bytes]]:
    """YIELDS (Tuple[str, bytes]): The node name and the saved shim of each encoder in a saved model."""
    saved = read_model_file(path)
    for node, shims in zip(saved["nodes"], saved["shims"]):
        name = node["name"]
        if name in BUILDERS and srsly.msgpack_loads(shims[0])["settings"] is not None:
            yield name, shims[0]


def save_tokenizer(saved: SavedEncoder, path: Path) -> None:
    """Write a tokenizer's files to a folder: tokenizer.json and its settings, and vocab.txt if it is a WordPiece."""
    ids = {name: saved.wordpieces[name] for name in SPECIAL_PIECES}
    tokenizer = Tokenizer.from_str(saved.wordpieces["tokenizer"])
    pieces = {name: tokenizer.id_to_token(number) for name, number in ids.items()}
    cls, sep = pieces["cls"], pieces["sep"]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, ids["cls"]), (sep, ids["sep"])],
    )
    tokenizer.encode_special_tokens = False
    wrapped: Any = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=saved.model.config.max_position_embeddings,
        **{f"{name}_token": piece for name, piece in pieces.items()},
    )
    wrapped.save_pretrained(path)
    # transformers 5 writes a name for the class that transformers 4 does not know; both know this one.
    config = path / "tokenizer_config.json"
    srsly.write_json(config, {**srsly.read_json(config), "tokenizer_class": "PreTrainedTokenizerFast"})
    if isinstance(tokenizer.model, WordPiece):
        (path / "vocab.txt").write_bytes("".join(f"{piece}\n" for piece in _lines(tokenizer)).encode("utf8"))


def _lines(tokenizer: Tokenizer) -> List[str]:
    """The pieces as lines of a vocab.txt, whose number is the id. An id without a piece repeats the next piece, whose
    last line counts."""
    lines: List[str] = []
    for piece, number in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
        lines += [piece] * (number + 1 - len(lines))
    return lines
