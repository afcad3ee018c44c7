"""Raw texts labelled by a dictionary, as `.spacy` files to learn from."""

from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, Callable, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Set

import srsly
from spacy.tokens import Doc, DocBin
from spacy.util import minibatch
from tqdm import tqdm

from ..integrity.folders import whole_folder
from ..lexicon.entry import hash_word
from .dictionary import Dictionary
from .label import HELD_KEY, Labeller, annotate
from .protected import ProtectedTexts
from .statistics import Statistics

STATISTICS, TRAIN, HELD = "statistics.json", "train", "held.spacy"
BATCH, SHARD = 1000, 2000  # texts matched at a time, Docs in a file


class Labels(NamedTuple):
    """The files of labelled texts."""

    folder: Path

    @property
    def train(self) -> Path:
        """RETURNS (Path): The folder of the files to learn from."""
        return self.folder / TRAIN

    @property
    def held(self) -> Path:
        """RETURNS (Path): The texts with nothing but the words that were held out."""
        return self.folder / HELD

    @property
    def statistics(self) -> Any:
        """RETURNS (Dict[str, Any]): What `Statistics.to_json` gave."""
        return srsly.read_json(self.folder / STATISTICS)


def hold_out(dictionary: Dictionary, share: float, seed: int) -> FrozenSet[str]:
    """Choose words that are not shown in training, by a hash: whether a word is held out depends on it alone."""
    return frozenset(word for word in dictionary.labels if hash_word(f"{seed} {word}") < share * 2**64)


def choose_texts(
    texts: Iterable[str], protected: Optional[ProtectedTexts], *, skip_shared: bool = False
) -> Iterator[str]:
    """Yield each distinct text once. Raises ValueError for one that shares a text with `protected` ones (see there),
    unless such texts are skipped."""
    seen: Set[bytes] = set()
    for text in texts:
        digest = blake2b("".join(text.split()).encode("utf8", "surrogatepass"), digest_size=8).digest()
        if digest in seen:
            continue
        seen.add(digest)
        shared = None if protected is None else next(protected.find([text]), None)
        if shared is None:
            yield text
        elif not skip_shared:
            raise ValueError(
                f"The text {text[:40]!r} holds one of {shared.source} ({shared.text[:40]!r}): a model that has learned "
                "from it cannot be judged by it. Take such texts out, or have them left out (--skip-shared)."
            )


def draw_texts(texts: Iterable[str], n: int, seed: int) -> List[str]:
    """RETURNS (List[str]): At most `n` of the texts of a stream, drawn at random, in random order."""
    random = Random(seed)
    drawn = _draw(texts, n, random)
    random.shuffle(drawn)
    return drawn


def _draw(texts: Iterable[str], n: int, random: Random) -> List[str]:
    """Reservoir sampling: each text of a stream is among the `n` with equal probability."""
    drawn: List[str] = []
    for number, text in enumerate(texts):
        place = number if number < n else random.randrange(number + 1)
        if place < n:
            drawn[place : place + 1] = [text]
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
    """Label texts and write them, unless that is done already. All texts are counted, as a stream; at most `limit` of
    them, drawn at random, are written.

    labeller (Labeller): Finds the words.
    texts (Iterable[str]): The texts.
    make_doc (Callable[[str], Doc]): The tokenizer.
    folder (Path): The folder to write; it appears as a whole.
    held (FrozenSet[str]): Words whose occurrences are not shown, but written to a file of their own.
    limit (int): Most texts to learn from.
    seed (int): Of the draw.
    RETURNS (Labels): The files. Raises ValueError if no word occurs, or words cover nearly everything.
    """
    if folder.exists():
        return Labels(folder)
    statistics = Statistics()

    def count() -> Iterator[str]:
        for batch in minibatch(tqdm(texts, desc="labelling", unit=" texts", disable=None, leave=False), BATCH):
            for text, found in zip(batch, labeller.label(batch)):
                statistics.add(text, found)
                yield text

    chosen = _draw(count(), limit, Random(seed))
    _check(statistics)
    with whole_folder(folder) as temporary:
        srsly.write_json(temporary / STATISTICS, statistics.to_json())
        docs = _annotated(labeller, chosen, make_doc, held)
        write_shards(docs, temporary / TRAIN)
        if held:
            only_held = (_show_held(doc) for doc in _annotated(labeller, chosen, make_doc, held) if doc.spans[HELD_KEY])
            DocBin(docs=only_held).to_disk(temporary / HELD)
    return Labels(folder)


def _annotated(
    labeller: Labeller, texts: List[str], make_doc: Callable[[str], Doc], held: FrozenSet[str]
) -> Iterator[Doc]:
    for batch in minibatch(tqdm(texts, desc="writing", unit=" texts", disable=None, leave=False), BATCH):
        for text, found in zip(batch, labeller.label(batch)):
            yield annotate(make_doc(text), found, held)


def _show_held(doc: Doc) -> Doc:
    doc.set_ents(list(doc.spans[HELD_KEY]), default="missing")
    return doc


def write_shards(docs: Iterable[Doc], folder: Path) -> None:
    """Write Docs to numbered files in a folder."""
    folder.mkdir(parents=True)
    for number, shard in enumerate(minibatch(docs, SHARD)):
        DocBin(docs=shard).to_disk(folder / f"{number:04}.spacy")


def _check(statistics: Statistics) -> None:
    if not statistics.n_texts:
        raise ValueError("There is no text to label.")
    if not statistics.known:
        doubtful = ", ".join(row["word"] for row in statistics.most_doubtful(5))
        raise ValueError(
            f"No word of the dictionary is a known entity in {statistics.n_texts} texts "
            f"({'all occurrences are doubtful: ' + doubtful if doubtful else 'none occurs'}). Are script and spelling "
            "those of the texts, and are the texts about such things?"
        )
    if statistics.share > 0.95:
        raise ValueError(
            f"Words of the dictionary cover {100 * statistics.share:.0f} % of the characters: with nearly everything "
            "an entity there is nothing to tell them from. Leave out common words and single characters."
        )
