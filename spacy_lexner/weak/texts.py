"""Labelling raw texts by a dictionary, and writing them as `.spacy` files for training."""

from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, Callable, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Set, TypeVar

import srsly
from spacy.tokens import Doc
from spacy.util import minibatch
from tqdm import tqdm

from ..formats.spacy_file import read_docs, write_docs
from ..integrity.folders import whole_folder
from ..lexicon.entry import hash_word
from .dictionary import Dictionary
from .label import HELD_KEY, Labeller, annotate
from .protected import ProtectedTexts, squeeze
from .statistics import Statistics

STATISTICS, TRAIN, HELD = "statistics.json", "train", "held.spacy"
BATCH, SHARD = 1000, 2000  # texts matched at a time, Docs in a file
Item = TypeVar("Item")


class Labels(NamedTuple):
    """The files of labelled texts."""

    folder: Path

    @property
    def train(self) -> Path:
        """RETURNS (Path): The folder of training files."""
        return self.folder / TRAIN

    @property
    def held(self) -> Path:
        """RETURNS (Path): The file of texts annotated with only the held-out words."""
        return self.folder / HELD

    def held_words(self) -> Set[str]:
        """RETURNS (Set[str]): The held-out words that occur in the texts."""
        return {ent.text for doc in read_docs(self.held) for ent in doc.ents} if self.held.is_file() else set()

    @property
    def statistics(self) -> Any:
        """RETURNS (Dict[str, Any]): The result of `Statistics.to_json`."""
        return srsly.read_json(self.folder / STATISTICS)


def hold_out(dictionary: Dictionary, share: float, seed: int) -> FrozenSet[str]:
    """Choose the words to hold out of training by their hashes, so that the choice does not depend on other words. Each
    label keeps at least one word to learn it from."""
    hashes = {word: hash_word(f"{seed} {word}") for word in dictionary.labels}
    kept = {label: word for word in sorted(hashes, key=hashes.__getitem__) for label in dictionary.labels[word]}
    return frozenset(word for word, own in hashes.items() if own < share * 2**64) - {*kept.values()}


def choose_texts(
    texts: Iterable[str], protected: Optional[ProtectedTexts], *, skip_shared: bool = False
) -> Iterator[str]:
    """YIELDS (str): Each distinct text once. Raises ValueError for one that overlaps `protected` texts, unless such
    texts are skipped."""
    seen: Set[bytes] = set()
    for text in texts:
        digest = blake2b(squeeze(text).encode("utf8", "surrogatepass"), digest_size=8).digest()
        if digest in seen:
            continue
        seen.add(digest)
        shared = None if protected is None else next(protected.find([text]), None)
        if shared is None:
            yield text
        elif not skip_shared:
            raise ValueError(
                f"The text {text[:40]!r} overlaps {shared.source} ({shared.text[:40]!r}): a model cannot be scored on "
                "what it has learned from. Remove such texts, or skip them (--skip-shared)."
            )


def draw_texts(texts: Iterable[str], n: int, seed: int) -> List[str]:
    """RETURNS (List[str]): At most `n` texts of a stream, drawn at random, in random order."""
    random = Random(seed)
    drawn = draw(texts, n, random)
    random.shuffle(drawn)
    return drawn


def draw(items: Iterable[Item], n: int, random: Random) -> List[Item]:
    """Reservoir sampling: each item of a stream is among the `n` with equal probability. At most `n` items keep their
    order."""
    drawn: List[Item] = []
    for number, item in enumerate(items):
        place = number if number < n else random.randrange(number + 1)
        if place < n:
            drawn[place : place + 1] = [item]
    return drawn


def label_texts(
    labeller: Labeller,
    texts: Iterable[str],
    make_doc: Callable[[str], Doc],
    folder: Path,
    *,
    held: FrozenSet[str] = frozenset(),
    limit: int = 50_000,
    seed: int = 0,
) -> Labels:
    """Label texts and write them, unless this was already done. All texts are counted, as a stream; at most `limit` of
    them, drawn at random, are written.

    labeller (Labeller): Finds the words.
    texts (Iterable[str]): The texts.
    make_doc (Callable[[str], Doc]): The tokenizer.
    folder (Path): The folder to write, atomically.
    held (FrozenSet[str]): Words whose occurrences are left out, and written to a file of their own.
    limit (int): Most texts to learn from.
    seed (int): Random seed of the draw.
    RETURNS (Labels): The files. Raises ValueError if no word occurs, or if words cover nearly everything.
    """
    if folder.exists():
        return Labels(folder)
    statistics = Statistics()

    def count() -> Iterator[str]:
        for batch in minibatch(tqdm(texts, desc="labelling", unit=" texts", disable=None, leave=False), BATCH):
            for text, found in zip(batch, labeller.label(batch)):
                statistics.add(text, found)
                yield text

    chosen = draw(count(), limit, Random(seed))
    _check(statistics)
    with whole_folder(folder) as temporary:
        write_shards(_annotated(labeller, chosen, make_doc, held, statistics), temporary / TRAIN)
        srsly.write_json(temporary / STATISTICS, statistics.to_json())
        if held:
            only_held = (
                _show_held(doc) for doc in _annotated(labeller, chosen, make_doc, held) if HELD_KEY in doc.spans
            )
            write_docs(only_held, temporary / HELD)
    return Labels(folder)


def _annotated(
    labeller: Labeller,
    texts: List[str],
    make_doc: Callable[[str], Doc],
    held: FrozenSet[str],
    statistics: Optional[Statistics] = None,
) -> Iterator[Doc]:
    labels = labeller.dictionary.label_names
    for batch in minibatch(tqdm(texts, desc="writing", unit=" texts", disable=None, leave=False), BATCH):
        for text, found in zip(batch, labeller.label(batch)):
            doc = make_doc(text)
            if statistics is not None:
                statistics.add_doc(doc, found)
            yield annotate(doc, found, held, labels)


def _show_held(doc: Doc) -> Doc:
    doc.set_ents(list(doc.spans[HELD_KEY]), default="missing")
    return doc


def write_shards(docs: Iterable[Doc], folder: Path) -> None:
    """Write Docs to numbered files in a folder."""
    folder.mkdir(parents=True)
    for number, shard in enumerate(minibatch(docs, SHARD)):
        write_docs(shard, folder / f"{number:04}.spacy")


def _check(statistics: Statistics) -> None:
    if not statistics.n_texts:
        raise ValueError("There is no text to label: all are blank or skipped, or none was given.")
    if not statistics.known:
        doubtful = ", ".join(row["word"] for row in statistics.most_doubtful(5))
        raise ValueError(
            f"No dictionary word is a known entity in {statistics.n_texts} texts "
            f"({'all occurrences are doubtful: ' + doubtful if doubtful else 'none occurs'}). Check that the script "
            "and spelling match the texts, and that the texts are about such things."
        )
    if statistics.share > 0.95:
        raise ValueError(
            f"Dictionary words cover {100 * statistics.share:.0f} % of the characters: if nearly everything is an "
            "entity, there is nothing to learn. Leave out common words and single characters."
        )
