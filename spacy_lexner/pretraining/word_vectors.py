"""Vectors of words, characters and bigrams from raw text (skip-gram with negative sampling, Mikolov et al. 2013)."""

import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Literal, Optional

from tqdm import tqdm

from ..lexicon.normalization import INVISIBLE
from ..lexicon.writing import whole_file
from .text_index import find_text_files, read_lines

UnitT = Literal["word", "char", "bigram"]
SegmentT = Callable[[str], Iterable[str]]
SENTENCE_END = "<end>"
COUNTED_PER_UNIT = 5
MAX_UNITS = 2000  # longer lines are cut, since gensim ignores units beyond 10,000
HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
DROPPED = dict.fromkeys(map(ord, INVISIBLE))


@dataclass(frozen=True)
class VectorSettings:
    """Parameters of gensim's Word2Vec."""

    dim: int = 50
    window: int = 5  # units of context on either side
    negative: int = 5  # samples
    epochs: int = 5
    min_count: int = 5  # rarer units get no vector
    sample: float = 1e-3  # threshold above which frequent units are left out at random
    # Keep only the most frequent units, which bounds memory; None keeps all. While counting, rare units are dropped
    # once there are COUNTED_PER_UNIT times as many.
    max_units: Optional[int] = 1_000_000
    workers: int = 2  # threads; one makes the result reproducible
    seed: int = 1


def segment_with_jieba(text: str) -> Iterable[str]:
    """Segment a text into words with jieba's own dictionary and model. Raises ImportError without the extra `zh`."""
    try:
        import jieba
    except ImportError as error:
        raise ImportError(
            "Segmenting with jieba needs the extra `zh`: python -m pip install 'spacy-lexner[zh]'."
        ) from error
    jieba.setLogLevel("ERROR")
    return jieba.cut(text)


def split_units(text: str, unit: UnitT, segment: SegmentT = segment_with_jieba) -> List[str]:
    """Cut a line into the units that get vectors. White space and invisible characters are dropped.

    text (str): The line.
    unit (str): "word", "char", or "bigram": each character with the next, the last with `<end>`, as FLAT reads them.
    segment (Callable[[str], Iterable[str]]): Segmenter for words.
    RETURNS (List[str]): The units.
    """
    if unit == "word":
        return [word for word in ("".join(part.split()).translate(DROPPED) for part in segment(text)) if word]
    characters = list("".join(text.split()).translate(DROPPED))
    if unit == "char":
        return characters
    if unit == "bigram":
        return [first + second for first, second in zip(characters, [*characters[1:], SENTENCE_END])]
    raise ValueError(f"unit is {unit!r}; expected word, char or bigram.")


def train_vectors(
    texts: Iterable[Path],
    output: Path,
    unit: UnitT = "word",
    settings: Optional[VectorSettings] = None,
    *,
    segment: SegmentT = segment_with_jieba,
    progress: bool = True,
) -> int:
    """Train vectors on text files, one paragraph per line, and write them as word2vec text. The text is streamed:
    memory grows only with the number of distinct units, up to a bound.

    texts (Iterable[Path]): Files (UTF-8, plain or gzip), or folders of them.
    output (Path): The file to write, with units in order of decreasing frequency.
    unit (str): See `split_units`. Words without a Chinese character serve only as context and are not written.
    settings (Optional[VectorSettings]): Parameters.
    segment (Callable[[str], Iterable[str]]): Segmenter for words.
    progress (bool): Show progress bars.
    RETURNS (int): The number of vectors. Raises ValueError if no unit is frequent enough, ImportError without gensim.
    """
    try:
        from gensim.models import Word2Vec
        from gensim.models.callbacks import CallbackAny2Vec
    except ImportError as error:
        raise ImportError(
            "Training vectors needs the extra `vectors`: python -m pip install 'spacy-lexner[vectors]'."
        ) from error

    class Epochs(CallbackAny2Vec):
        def __init__(self, bar: tqdm) -> None:
            self.bar = bar

        def on_epoch_end(self, model: Word2Vec) -> None:
            self.bar.update()

    settings = settings or VectorSettings()
    parameters = asdict(settings)
    dim, limit = parameters.pop("dim"), parameters.pop("max_units")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        _write_units(texts, corpus, unit, segment, progress)
        with tqdm(total=settings.epochs, desc=f"{unit} vectors", unit="epoch", disable=not progress) as bar:
            try:
                model = Word2Vec(
                    corpus_file=str(corpus),
                    vector_size=dim,
                    sg=1,
                    max_final_vocab=limit,
                    max_vocab_size=limit and COUNTED_PER_UNIT * limit,
                    callbacks=[Epochs(bar)],
                    **parameters,
                )
            except RuntimeError as error:
                raise ValueError(
                    f"No {unit} occurs {settings.min_count} times in the text: give more text or a lower min_count."
                ) from error
    written = [key for key in model.wv.index_to_key if unit != "word" or HAN.search(key)]
    with whole_file(output) as file:
        file.write(f"{len(written)} {dim}\n".encode())
        for key in written:
            file.write(f"{key} {' '.join(f'{value:.5f}' for value in model.wv[key])}\n".encode())
    return len(written)


def _write_units(texts: Iterable[Path], corpus: Path, unit: UnitT, segment: SegmentT, progress: bool) -> None:
    with corpus.open("w", encoding="utf8", newline="\n") as file:
        for line in tqdm(_read(texts), desc=f"segmenting, {unit}", unit=" lines", disable=not progress):
            units = split_units(line, unit, segment)
            for start in range(0, len(units), MAX_UNITS):
                file.write(" ".join(units[start : start + MAX_UNITS]) + "\n")


def _read(texts: Iterable[Path]) -> Iterator[str]:
    for path in find_text_files(texts):
        yield from (line for line in read_lines(path) if line.strip())
