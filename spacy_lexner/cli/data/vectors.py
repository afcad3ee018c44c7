"""`spacy lexner vectors`: vectors of words, characters and bigrams from raw text, and a lexicon of words with them."""

import sys
from pathlib import Path
from typing import Annotated, Dict, Iterable, List, Optional

import typer
from spacy.language import Language
from tqdm import tqdm
from wasabi import msg

from ...lexicon.composed_vectors import CompositionReport, compose_vectors
from ...lexicon.lexicon import Dtype, Lexicon
from ...lexicon.readers.any_file import read_any
from ...lexicon.readers.word_vectors import read_word_vectors
from ...pretraining.word_vectors import SegmentT, UnitT, VectorSettings, segment_with_jieba, train_vectors
from ..lexicon.folder import WatchedStream, check_output, save, tell_skipped
from .count_words import load_tokenizer

FILES: Dict[UnitT, str] = {"word": "words.vec", "char": "chars.vec", "bigram": "bigrams.vec"}
DEFAULT = VectorSettings()

OutputArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write")]
TextsArgument = Annotated[
    List[Path],
    typer.Argument(metavar="TEXT...", help="Text files (UTF-8, also .gz), or folders with *.txt and *.txt.gz"),
]
UnitsOption = Annotated[
    Optional[List[str]], typer.Option("--unit", "-u", help="What gets vectors: word, char, bigram; all if not given")
]
WordsOption = Annotated[
    Optional[List[Path]],
    typer.Option(
        "--words", "-w", help="Words of the lexicon besides those of the text: word lists, dictionaries, lexicons"
    ),
]
TokenizerOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="NAME",
        help="What cuts the text into words: jieba, a config file, or the folder or name of a pipeline",
    ),
]
DimOption = Annotated[int, typer.Option(help="Width of the vectors", min=1)]
WindowOption = Annotated[int, typer.Option(help="Units on either side that count as context", min=1)]
NegativeOption = Annotated[int, typer.Option(help="Negative samples", min=1)]
EpochsOption = Annotated[int, typer.Option(help="Passes over the text", min=1)]
MinCountOption = Annotated[int, typer.Option(help="Rarer units get no vector of their own", min=1)]
SampleOption = Annotated[float, typer.Option(help="Share of the text above which a frequent unit is thinned out")]
MaxUnitsOption = Annotated[int, typer.Option(help="Keep the most frequent units only; bounds memory", min=1)]
WorkersOption = Annotated[int, typer.Option(help="Threads; one makes the result reproducible", min=1)]
SeedOption = Annotated[int, typer.Option(help="Random seed")]
DtypeOption = Annotated[str, typer.Option(help="How the lexicon stores vectors: float32 or float16", metavar="NAME")]
ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace vectors that are there already")]


def vectors_cli(
    output: OutputArgument,
    texts: TextsArgument,
    units: UnitsOption = None,
    words: WordsOption = None,
    tokenizer: TokenizerOption = "jieba",
    dim: DimOption = DEFAULT.dim,
    window: WindowOption = DEFAULT.window,
    negative: NegativeOption = DEFAULT.negative,
    epochs: EpochsOption = DEFAULT.epochs,
    min_count: MinCountOption = DEFAULT.min_count,
    sample: SampleOption = DEFAULT.sample,
    max_units: MaxUnitsOption = 1_000_000,
    workers: WorkersOption = DEFAULT.workers,
    seed: SeedOption = DEFAULT.seed,
    dtype: DtypeOption = "float32",
    force: ForceOption = False,
) -> None:
    """Train vectors (skip-gram with negative sampling) on raw text, a paragraph a line, and build a lexicon.

    OUT gets words.vec, chars.vec and bigrams.vec, text of word2vec, and the folder lexicon: the words with a vector and
    those of --words. A word without a vector gets the mean of the known words of two characters and more inside it, or
    else of its characters, or else zeros. The text is read as a stream. Needs gensim (pip install
    "spacy-lexner[vectors]").

    \b
    Examples:
      python -m spacy lexner vectors vectors/ texts/ --words dict.txt --words titles.txt.gz --dim 50
      python -m spacy lexner vectors chars/ corpus.txt.gz --unit char --unit bigram
    """
    settings = VectorSettings(dim, window, negative, epochs, min_count, sample, max_units, workers, seed)
    units, words = units or list(FILES), words or []
    try:
        check_units(units, words)
        check_output(output / "lexicon", force)
        segment = get_segmenter(tokenizer)
        for unit in FILES:
            if unit in units:
                path = output / FILES[unit]
                count = train_vectors(texts, path, unit, settings, segment=segment, progress=sys.stderr.isatty())
                msg.good(f"{path}: {count} vectors of {dim} dimensions")
        if "word" in units:
            report = CompositionReport()
            characters = output / FILES["char"] if "char" in units else None
            lexicon = build_lexicon(words, output / FILES["word"], characters, dtype, report)  # type: ignore[arg-type]
            save(lexicon, output / "lexicon")
            msg.text(f"{report}")
            tell_skipped(lexicon, duplicates=False)
    except (ValueError, OSError, ImportError) as error:
        msg.fail("The work was not finished", str(error), exits=1)


def check_units(units: List[str], words: Iterable[Path]) -> None:
    """Raise ValueError for a unit that there is not, and for words where no words are trained."""
    if unknown := sorted(set(units) - set(FILES)):
        raise ValueError(f"--unit {unknown[0]}: expected {', '.join(FILES)}.")
    if words and "word" not in units:
        raise ValueError("--words is for the lexicon, which needs vectors of words: add --unit word, or leave it out.")


def get_segmenter(name: str) -> SegmentT:
    """Get the function that cuts a text into words.

    name (str): "jieba", a config file, or the folder or name of a pipeline.
    RETURNS (Callable[[str], Iterable[str]]): The function. Memory does not grow with what it has seen.
    """
    return segment_with_jieba if name == "jieba" else Segmenter(load_tokenizer(name))


class Segmenter:
    """Cuts texts into the tokens of a pipeline, whose vocabulary forgets them at once."""

    def __init__(self, nlp: Language) -> None:
        """Create a segmenter.

        nlp (Language): The pipeline.
        """
        self._nlp = nlp

    def __call__(self, text: str) -> List[str]:
        """RETURNS (List[str]): The words of a text."""
        with self._nlp.memory_zone():
            return [token.text for token in self._nlp.tokenizer(text)]


def build_lexicon(
    words: Iterable[Path], vectors: Path, characters: Optional[Path], dtype: Dtype, report: CompositionReport
) -> Lexicon:
    """Build a lexicon of word lists and of the words that have a vector; each gets one (see `compose_vectors`).

    words (Iterable[Path]): Word lists, dictionaries or lexicons. Of equal words the first counts.
    vectors (Path): Vectors of words.
    characters (Optional[Path]): Vectors of characters; by default those among the words.
    dtype (str): "float32" or "float16", how vectors are stored.
    report (CompositionReport): Gets where the vectors came from.
    RETURNS (Lexicon): The lexicon.
    """
    known = Lexicon.from_entries(read_word_vectors(vectors))
    singles = None if characters is None else Lexicon.from_entries(read_word_vectors(characters))
    given = WatchedStream([*map(read_any, words), read_any(vectors, "vectors")])
    distinct = Lexicon.from_entries(given, merge=True)
    entries = compose_vectors(distinct.entries(), known, singles, report=report)
    watched = tqdm(entries, desc="vectors", total=len(distinct), unit=" words", disable=None, leave=False)
    lexicon = Lexicon.from_entries(watched, dtype=dtype)
    lexicon.report = distinct.report
    return lexicon
