"""Shared by the scripts: loading pipelines and corpora, with error messages that suggest a remedy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import List, Tuple

import spacy
from spacy.cli.init_config import fill_config
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import load_config
from thinc.api import require_gpu
from wasabi import msg


def load_pipeline(path: Path, gpu_id: int = -1) -> Language:
    """Load a trained pipeline, or exit with a message.

    path (Path): Its folder.
    gpu_id (int): The GPU, or -1 for the CPU.
    RETURNS (Language): The pipeline.
    """
    if not (path / "config.cfg").is_file():
        msg.fail(f"No trained pipeline in {path}", "Run the training command first.", exits=1)
    use_gpu(gpu_id)
    return spacy.load(path)


def use_gpu(gpu_id: int) -> None:
    """Use a GPU from now on, or exit with a message if that is impossible. -1, the CPU, changes nothing."""
    if gpu_id >= 0:
        try:
            require_gpu(gpu_id)
        except (ValueError, RuntimeError) as error:  # CuPy's errors are RuntimeErrors
            remedy = "spaCy needs a CUDA device and CuPy: pip install cupy-cuda12x. --gpu-id -1 is the CPU."
            msg.fail(f"GPU {gpu_id} cannot be used: {error}", remedy, exits=1)


def read_examples(nlp: Language, path: Path) -> List[Example]:
    """Read a `.spacy` corpus as examples for a pipeline, or exit with a message.

    nlp (Language): The pipeline; its tokenizer makes the predicted Docs.
    path (Path): The corpus.
    RETURNS (List[Example]): The examples, without predictions.
    """
    if not path.is_file():
        msg.fail(f"No corpus {path}", "Run the command that converts the data first.", exits=1)
    gold = DocBin().from_disk(path).get_docs(nlp.vocab)
    return [Example(nlp.make_doc(doc.text), doc) for doc in gold]


def complete(base: Path, out: Path) -> Path:
    """Complete a base config of `configs/`, including [pretraining] if it has that section, or exit with a message.

    base (Path): The base config.
    out (Path): The file to write.
    RETURNS (Path): That file.
    """
    if not base.is_file():
        known = ", ".join(sorted(path.stem for path in base.parent.glob("*.cfg")))
        msg.fail(f"There is no config {base}", f"{base.parent} has {known}." if known else None, exits=1)
    out.parent.mkdir(parents=True, exist_ok=True)
    fill_config(out, base, pretraining=bool(load_config(base).get("pretraining")), silent=True)
    return out


def read_pair(value: str) -> Tuple[str, str]:
    """RETURNS (Tuple[str, str]): The parts of a command-line argument MODEL=FILE."""
    model, separator, path = value.rpartition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{value!r}: expected MODEL=FILE")
    return model, path
