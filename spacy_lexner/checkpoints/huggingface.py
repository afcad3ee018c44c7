"""A trained or pretrained encoder as a Hugging Face folder."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import srsly
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from ..layers.shim import ModuleShim
from ..modules.lebert import build_lebert

SPECIAL = ("pad", "unk", "cls", "sep", "mask")


class SavedEncoder(NamedTuple):
    """What a Hugging Face folder is made of.

    model (PreTrainedModel): The BERT-shaped encoder.
    wordpieces (Dict[str, Any]): Settings of its vocabulary, see `layers.wordpieces`.
    """

    model: PreTrainedModel
    wordpieces: Dict[str, Any]


def export_huggingface(
    source: Path, target: Path, *, component: Optional[str] = None, overwrite: bool = False
) -> SavedEncoder:
    """Write the encoder of a saved model as a Hugging Face folder: config.json, model.safetensors, vocab.txt, and the
    tokenizer's files. transformers' AutoModel and AutoTokenizer load it, and so does `checkpoint` of our encoders.

    Lexicon adapters and word vectors are no part of a BERT: they stay behind.

    source (Path): A file of `spacy pretrain` (model-last.bin), or a saved pipeline.
    target (Path): The folder. It appears when everything is written.
    component (Optional[str]): Of a pipeline: the component whose model holds the encoder, if several do.
    overwrite (bool): Whether a folder that is there may be replaced.
    RETURNS (SavedEncoder): What was written.
    """
    target = Path(target)
    if target.exists() and not overwrite:
        raise ValueError(f"{target} is there already. Give another folder, or overwrite it on purpose.")
    saved = read_encoder(Path(source), component)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        saved.model.save_pretrained(temporary, safe_serialization=True)
        _save_tokenizer(saved, temporary)
        if target.exists():
            shutil.rmtree(target)
        temporary.chmod(0o755)
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return saved


def read_encoder(path: Path, component: Optional[str] = None) -> SavedEncoder:
    """Find the encoder in a file of `spacy pretrain`, or in a saved pipeline.

    path (Path): The file or the pipeline's folder.
    component (Optional[str]): See `export_huggingface`.
    RETURNS (SavedEncoder): The encoder. Raises ValueError where there is none, or more than one.
    """
    found: List[Tuple[str, bytes]] = []
    for file_ in _model_files(path, component):
        found += [(file_.parent.name, shim) for shim in _encoder_shims(file_)]
    if len(found) != 1:
        hint = f" (in {', '.join(sorted(name for name, _ in found))}: name the component)" if found else ""
        raise ValueError(f"{path} holds {len(found)} LEBERT encoders, not one{hint}.")
    shim = ModuleShim(build_lebert)
    shim.from_bytes(found[0][1])
    module: Any = shim.module
    return SavedEncoder(module.encoder, (shim.settings or {})["wordpieces"])


def _model_files(path: Path, component: Optional[str]) -> List[Path]:
    if path.is_file():
        return [path]
    files = sorted(path.glob("*/model")) if component is None else [path / component / "model"]
    if not files or not files[0].is_file():
        raise ValueError(
            f"{path} is neither a file of `spacy pretrain` nor a saved pipeline"
            f"{f' with a component {component!r}' if component else ''}."
        )
    return files


def _encoder_shims(path: Path) -> Iterator[bytes]:
    try:
        saved = srsly.msgpack_loads(path.read_bytes())
        names = [node["name"] for node in saved["nodes"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not the file of a model, or not a whole one ({error}).") from error
    for name, shims in zip(names, saved["shims"]):
        if name == "lebert" and srsly.msgpack_loads(shims[0])["settings"] is not None:
            yield shims[0]


def _save_tokenizer(saved: SavedEncoder, path: Path) -> None:
    ids = {name: saved.wordpieces[name] for name in SPECIAL}
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
    if isinstance(tokenizer.model, WordPiece):
        vocab = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        (path / "vocab.txt").write_bytes("".join(f"{piece}\n" for piece, _ in vocab).encode("utf8"))
