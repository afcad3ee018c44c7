"""Refuse to pretrain on texts of a dev or test split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Iterator, List, Tuple

import typer
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from tqdm import tqdm
from wasabi import msg

from spacy_lexner.training.overlap import ProtectedTexts
from spacy_lexner.training.text_index import find_text_files, read_lines

SETS = ("weibo", "resume", "cluener", "msra")
SPLITS = ("dev", "test")
SHOWN = 5


def read_protected(corpus: Path) -> Iterator[Tuple[str, str]]:
    """Read the texts of all dev and test splits, and say which sets are not there.

    corpus (Path): The folder of converted data sets.
    YIELDS (Tuple[str, str]): The split's name and the text.
    """
    for name in SETS:
        files = [corpus / name / f"{split}.spacy" for split in SPLITS]
        for file_ in files:
            if file_.is_file():
                for doc in DocBin().from_disk(file_).get_docs(Vocab()):
                    yield f"{name} {file_.stem}", doc.text
        if not all(file_.is_file() for file_ in files):
            msg.warn(f"{name} is not compared: run `spacy project run data . --vars.dataset {name}` first.")


def main(
    texts: Annotated[List[Path], typer.Argument(help="Text files, or folders with *.txt and *.txt.gz.")],
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = Path("corpus"),
) -> None:
    """Compare raw texts with the dev and test splits of the data sets. Exits with 1 if they share a text."""
    protected = ProtectedTexts(read_protected(corpus))
    n_found = 0
    try:
        for path in find_text_files(texts):
            lines = tqdm(read_lines(path), desc=path.name, unit=" lines", leave=False, disable=None)
            for overlap in protected.find(lines):
                n_found += 1
                if n_found <= SHOWN:
                    msg.warn(f"{path}, line {overlap.line} holds a text of {overlap.source}: {overlap.text}")
    except ValueError as error:
        msg.fail("The texts cannot be read", str(error), exits=1)
    if n_found:
        msg.fail(
            f"{n_found} lines share texts with dev or test splits", "Take them out: they spoil the evaluation.", exits=1
        )
    msg.good(f"No text of {protected.n_texts} protected ones in {', '.join(map(str, texts))}")


if __name__ == "__main__":
    typer.run(main)
