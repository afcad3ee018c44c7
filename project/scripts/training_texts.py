"""Write the texts of training splits as raw text for pretraining, without those that contain a dev or test text."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import typer
from check_overlap import SETS, read_protected
from paths import PROJECT
from wasabi import msg

from spacy_lexner.formats.spacy_file import read_docs
from spacy_lexner.weak.protected import ProtectedTexts


def main(
    out: Annotated[Path, typer.Argument(help="The file to write, *.txt.gz: a text per line.")],
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = PROJECT / "corpus",
    sets: Annotated[str, typer.Option(help="Data sets, separated by spaces.")] = SETS,
) -> None:
    """Collect the training texts of data sets. No text may be in the dev or test split of any of them."""
    names = sets.split()
    try:
        protected = ProtectedTexts(read_protected(names, corpus))
        texts = [" ".join(doc.text.split()) for name in names for doc in read_docs(corpus / name / "train.spacy")]
    except ValueError as error:
        msg.fail("The texts cannot be collected", str(error), exits=1)
    shared = {overlap.line for overlap in protected.find(texts)}
    kept = [text for line, text in enumerate(texts, 1) if line not in shared]
    out.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(out, "wt", encoding="utf8") as file:
        file.writelines(f"{text}\n" for text in kept)
    msg.good(f"{out}: {len(kept)} texts; {len(shared)} left out, since they contain a dev or test text")


if __name__ == "__main__":
    typer.run(main)
