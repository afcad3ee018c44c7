"""Refuse to pretrain on texts of a dev or test split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Iterator, List, Tuple

import typer
from paths import PROJECT
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from tqdm import tqdm
from wasabi import msg

from spacy_lexner.pretraining.text_index import find_text_files, read_lines
from spacy_lexner.weak.protected import ProtectedTexts

SETS = "weibo resume cluener msra"
PROTECTED = ("dev", "test")
SHOWN = 5


def read_protected(names: List[str], corpus: Path) -> Iterator[Tuple[str, str]]:
    """Read the texts of dev and test splits.

    names (List[str]): The data sets.
    corpus (Path): The folder of converted data sets.
    YIELDS (Tuple[str, str]): The split's name and the text. Raises ValueError where a split is not there.
    """
    for name in names:
        for split in PROTECTED:
            path = corpus / name / f"{split}.spacy"
            if not path.is_file():
                raise ValueError(
                    f"There is no {path} to compare with. Make it (project run data --vars.dataset {name}), or, if you "
                    f"will never evaluate on {name}, leave it out of vars.protected."
                )
            for doc in DocBin().from_disk(path).get_docs(Vocab()):
                yield f"{name} {split}", doc.text


def main(
    texts: Annotated[List[Path], typer.Argument(help="Text files, or folders with *.txt and *.txt.gz.")],
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = PROJECT / "corpus",
    sets: Annotated[str, typer.Option(help="Data sets to compare with, separated by spaces.")] = SETS,
) -> None:
    """Compare raw texts with the dev and test splits of the data sets. Exits with 1 if they share a text."""
    n_found = 0
    try:
        protected = ProtectedTexts(read_protected(sets.split(), corpus))
        for path in find_text_files(texts):
            lines = tqdm(read_lines(path), desc=path.name, unit=" lines", leave=False, disable=None)
            for overlap in protected.find(lines):
                n_found += 1
                if n_found <= SHOWN:
                    msg.warn(f"{path}, line {overlap.line} holds a text of {overlap.source}: {overlap.text}")
    except ValueError as error:
        msg.fail("The texts cannot be compared", str(error), exits=1)
    if n_found:
        msg.fail(
            f"{n_found} lines share texts with dev or test splits", "Take them out: they spoil the evaluation.", exits=1
        )
    msg.good(f"No text of {protected.n_texts} protected ones in {', '.join(map(str, texts))}")


if __name__ == "__main__":
    typer.run(main)
