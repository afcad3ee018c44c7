"""Finding texts of dev and test splits in other texts, since a model must not be scored on what it learned from."""

from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

RUN = 30  # characters
SHORTEST = 16  # characters


class Overlap(NamedTuple):
    """A protected text found in another one.

    source (str): The split or file that the protected text belongs to.
    line (int): Number of the text in which it was found, from 1.
    text (str): The characters that both share.
    """

    source: str
    line: int
    text: str


class ProtectedTexts:
    """Finds texts that share a run of characters with protected ones. White space is ignored."""

    def __init__(
        self, texts: Iterable[Tuple[str, str]], *, run: int = RUN, shortest: int = SHORTEST, equal: bool = False
    ) -> None:
        """Index the protected texts.

        texts (Iterable[Tuple[str, str]]): The source of each, and the text.
        run (int): A text overlaps if it shares this many consecutive characters with a protected one,
        shortest (int): or if it contains a whole protected text shorter than `run`, but of at least this length,
        equal (bool): or if it equals a protected text, however short. Without this, shorter ones are not protected.
        """
        self.run, self.shortest = run, shortest
        self.n_texts = 0
        self._runs: Dict[str, str] = {}
        self._short: Dict[str, List[Tuple[str, str]]] = {}
        self._equal: Dict[str, str] = {}
        for source, text in texts:
            text = squeeze(text)
            if len(text) >= shortest:
                self._add(source, text)
            elif equal and text:
                self._equal.setdefault(text, source)
            else:
                continue
            self.n_texts += 1

    def _add(self, source: str, text: str) -> None:
        for i in range(len(text) - self.run + 1):
            self._runs.setdefault(text[i : i + self.run], source)
        if len(text) < self.run:
            self._short.setdefault(text[: self.shortest], []).append((source, text))

    def find(self, texts: Iterable[str]) -> Iterator[Overlap]:
        """Look for protected texts.

        texts (Iterable[str]): The texts to search.
        YIELDS (Overlap): The first overlap of each text that has one.
        """
        for number, text in enumerate(texts, 1):
            found = self._first(squeeze(text))
            if found is not None:
                yield Overlap(found[0], number, found[1])

    def _first(self, text: str) -> Optional[Tuple[str, str]]:
        if text in self._equal:
            return self._equal[text], text
        for i in range(len(text) - self.shortest + 1):
            if (found := self._at(text, i)) is not None:
                return found
        return None

    def _at(self, text: str, i: int) -> Optional[Tuple[str, str]]:
        run = text[i : i + self.run]
        if run in self._runs:
            return self._runs[run], run
        for source, short in self._short.get(text[i : i + self.shortest], ()):
            if text.startswith(short, i):
                return source, short
        return None


def squeeze(text: str) -> str:
    """Remove all white space: texts that differ in nothing else are equal."""
    return "".join(text.split())
