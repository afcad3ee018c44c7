"""Check that raw texts for pretraining contain no text of a dev or test split."""

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
    """Read the dev and test texts.

    names (List[str]): The data sets.
    corpus (Path): The folder of converted data sets.
    YIELDS (Tuple[str, str]): The split's name and the text. Raises ValueError if a split is missing.
    """
    for name in names:
        for split in PROTECTED:
            path = corpus / name / f"{split}.spacy"
            if not path.is_file():
                raise ValueError(
                    f"There is no {path} to compare with. Create it (project run data --vars.dataset {name}), or, if "
                    f"you will never evaluate on {name}, leave it out of vars.protected."
                )
            for doc in DocBin().from_disk(path).get_docs(Vocab()):
                yield f"{name} {split}", doc.text


def main(
    texts: Annotated[List[Path], typer.Argument(help="Text files, or folders of *.txt and *.txt.gz files.")],
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = PROJECT / "corpus",
    sets: Annotated[str, typer.Option(help="Data sets to compare with, separated by spaces.")] = SETS,
) -> None:
    """Compare raw texts with the dev and test splits of the data sets. Exits with 1 if any text is shared."""
    n_found = 0
    try:
        protected = ProtectedTexts(read_protected(sets.split(), corpus))
        for path in find_text_files(texts):
            lines = tqdm(read_lines(path), desc=path.name, unit=" lines", leave=False, disable=None)
            for overlap in protected.find(lines):
                n_found += 1
                if n_found <= SHOWN:
                    msg.warn(f"{path}, line {overlap.line} contains a text of {overlap.source}: {overlap.text}")
    except ValueError as error:
        msg.fail("The texts cannot be compared", str(error), exits=1)
    if n_found:
        msg.fail(
            f"{n_found} lines contain dev or test texts", "Remove them: they would invalidate the evaluation.", exits=1
        )
    msg.good(f"None of {protected.n_texts} protected texts found in {', '.join(map(str, texts))}")


if __name__ == "__main__":
    typer.run(main)
