"""Refuse to pretrain on texts of a dev or test split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Dict, Iterable, Iterator, List, NamedTuple, Tuple

import typer
from paths import PROJECT
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from tqdm import tqdm
from wasabi import msg

from spacy_lexner.pretraining.text_index import find_text_files, read_lines

SETS = "weibo resume cluener msra"
PROTECTED = ("dev", "test")
SHOWN = 5
RUN = 30
SHORTEST = 16


class Overlap(NamedTuple):
    """A protected text found in another one.

    source (str): What the protected text belongs to.
    line (int): Number of the text in which it was found, from 1.
    text (str): The characters that both share.
    """

    source: str
    line: int
    text: str


class ProtectedTexts:
    """Finds texts that share a run of characters with protected ones. White space is ignored."""

    def __init__(self, texts: Iterable[Tuple[str, str]], *, run: int = RUN, shortest: int = SHORTEST) -> None:
        """Index the protected texts.

        texts (Iterable[Tuple[str, str]]): What each belongs to, and the text.
        run (int): A text overlaps if it shares this many characters in a row with a protected one,
        shortest (int): or if it contains a whole protected one that is shorter than `run`, but not shorter than this.
        """
        self.run, self.shortest = run, shortest
        self.n_texts = 0
        self._runs: Dict[str, str] = {}
        self._short: Dict[str, List[Tuple[str, str]]] = {}
        for source, text in texts:
            text = "".join(text.split())
            if len(text) < shortest:
                continue
            self.n_texts += 1
            for i in range(len(text) - run + 1):
                self._runs.setdefault(text[i : i + run], source)
            if len(text) < run:
                self._short.setdefault(text[:shortest], []).append((source, text))

    def find(self, texts: Iterable[str]) -> Iterator[Overlap]:
        """Look for protected texts.

        texts (Iterable[str]): The texts to look in.
        YIELDS (Overlap): The first overlap of each text that has one.
        """
        for number, text in enumerate(texts, 1):
            text = "".join(text.split())
            for i in range(len(text) - self.shortest + 1):
                found = self._at(text, i)
                if found is not None:
                    yield Overlap(found[0], number, found[1])
                    break

    def _at(self, text: str, i: int) -> Tuple[str, str] | None:
        run = text[i : i + self.run]
        if run in self._runs:
            return self._runs[run], run
        for source, short in self._short.get(text[i : i + self.shortest], ()):
            if text.startswith(short, i):
                return source, short
        return None


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
