"""`spacy lexner vectors`: word, character and bigram vectors from raw text, and a lexicon with the word vectors."""

import sys
from pathlib import Path
from typing import Annotated, Dict, Iterable, List, Optional, get_args

import typer
from wasabi import msg

from ...lexicon.composed_vectors import CompositionReport, compose_vectors
from ...lexicon.lexicon import Dtype, Lexicon
from ...lexicon.readers.any_file import read_any
from ...lexicon.word_vectors import read_word_vectors
from ...pretraining.word_vectors import SegmentT, UnitT, VectorSettings, segment_with_jieba, train_vectors
from ..lexicon.folder import check_output, save
from ..lexicon.sources import WatchedStream, report_skipped
from ..shared import ForceOption, RawTextsArgument, SeedOption, TargetArgument, failing, progress, status
from .count_words import load_tokenizer

FILES: Dict[UnitT, str] = {"word": "words.vec", "char": "chars.vec", "bigram": "bigrams.vec"}
DEFAULT = VectorSettings()


def vectors_cli(
    output: TargetArgument,
    texts: RawTextsArgument,
    units: Annotated[
        Optional[List[str]], typer.Option("--unit", "-u", help="What gets vectors: word, char, bigram; default: all")
    ] = None,
    words: Annotated[
        Optional[List[Path]],
        typer.Option("--words", "-w", help="More words for the lexicon: word lists, dictionaries, lexicons"),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NAME",
            help="Makes the words: jieba, a config file, or the folder or name of a pipeline",
        ),
    ] = "jieba",
    dim: Annotated[int, typer.Option(help="Width of the vectors", min=1)] = DEFAULT.dim,
    window: Annotated[int, typer.Option(help="Context units on either side", min=1)] = DEFAULT.window,
    negative: Annotated[int, typer.Option(help="Negative samples", min=1)] = DEFAULT.negative,
    epochs: Annotated[int, typer.Option(help="Passes over the text", min=1)] = DEFAULT.epochs,
    min_count: Annotated[int, typer.Option(help="Rarer units get no vector", min=1)] = DEFAULT.min_count,
    sample: Annotated[
        float, typer.Option(help="Frequency above which units are subsampled; 0: none", min=0.0)
    ] = DEFAULT.sample,
    max_units: Annotated[int, typer.Option(help="Keep only the most frequent units; bounds memory", min=1)] = 1_000_000,
    workers: Annotated[int, typer.Option(help="Threads; one makes the result reproducible", min=1)] = DEFAULT.workers,
    seed: SeedOption = DEFAULT.seed,
    dtype: Annotated[
        str, typer.Option(help="How the lexicon stores vectors: float32 or float16", metavar="NAME")
    ] = "float32",
    force: ForceOption = False,
) -> None:
    """Train vectors (skip-gram with negative sampling) on raw text, one paragraph per line, and build a lexicon.

    Writes words.vec, chars.vec and bigrams.vec (word2vec text format), and the folder lexicon with the words of
    words.vec and --words. A word without a vector gets the mean of the known words inside it of two characters or more,
    else of its characters, else zeros. The text is read as a stream. Needs gensim: pip install "spacy-lexner[vectors]".

    \b
    Examples:
      python -m spacy lexner vectors vectors/ texts/ --words dict.txt --words titles.txt.gz --dim 50
      python -m spacy lexner vectors chars/ corpus.txt.gz --unit char --unit bigram
    """
    settings = VectorSettings(dim, window, negative, epochs, min_count, sample, max_units, workers, seed)
    units, words = units or list(FILES), words or []
    with failing("The vectors were not all trained"):
        check_units(units, words)
        if output.exists() and not output.is_dir():
            raise ValueError(f"{output} is a file. Give a folder to write to.")
        paths = {unit: output / name for unit, name in FILES.items() if unit in units}
        existing = [path for path in paths.values() if path.exists()]
        if existing and not force:
            raise ValueError(f"{existing[0]} already exists. Replace it (--force), or choose another folder.")
        if "word" in units:
            check_lexicon(output / "lexicon", words, dim, dtype, force)
        segment = get_segmenter(tokenizer)
        for unit, path in paths.items():
            count = train_vectors(texts, path, unit, settings, segment=segment, progress=sys.stderr.isatty())
            msg.good(f"{path}: {count} vectors of {dim} dimensions")
    if "word" in units:
        with failing("The lexicon was not written"):
            report = CompositionReport()
            lexicon = build_lexicon(words, paths["word"], paths.get("char"), dtype, report)  # type: ignore[arg-type]
            save(lexicon, output / "lexicon", force)
        msg.text(f"{report}")
        report_skipped(lexicon.report, duplicates=False)


def check_units(units: List[str], words: Iterable[Path]) -> None:
    """Raise ValueError for an unknown unit, and for word lists if no word vectors are trained."""
    if unknown := sorted(set(units) - set(FILES)):
        raise ValueError(f"--unit {unknown[0]}: expected {', '.join(FILES)}.")
    if words and "word" not in units:
        raise ValueError(
            "--words adds to the lexicon, which needs word vectors: add --unit word, or leave out --words."
        )


def check_lexicon(path: Path, words: Iterable[Path], dim: int, dtype: str, force: bool) -> None:
    """Raise ValueError, before the vectors are trained, for whatever would keep their lexicon from being built."""
    check_output(path, force)
    if dtype not in get_args(Dtype):
        raise ValueError(f"--dtype {dtype}: expected {', '.join(get_args(Dtype))}.")
    for file in words:
        with status(f"reading {file}"):
            widths = [len(entry.vector) for entry in read_any(file) if entry.vector is not None]
        if widths and widths[0] != dim:
            raise ValueError(f"{file}: vectors of {widths[0]} dimensions; expected {dim}, as trained (--dim).")


def get_segmenter(name: str) -> SegmentT:
    """Get a function that splits a text into words with jieba ("jieba") or the tokenizer of a config file or pipeline,
    in memory that does not grow with the number of texts."""
    if name == "jieba":
        return segment_with_jieba
    nlp = load_tokenizer(name)

    def segment(text: str) -> List[str]:
        with nlp.memory_zone():  # otherwise the vocabulary would keep every string it has seen
            return [token.text for token in nlp.tokenizer(text)]

    return segment


def build_lexicon(
    words: Iterable[Path], vectors: Path, characters: Optional[Path], dtype: Dtype, report: CompositionReport
) -> Lexicon:
    """Build a lexicon from word lists (or dictionaries, lexicons) and all words in `vectors`; of equal words the first
    counts. Words without a vector get one by `compose_vectors`, from the character vectors in `characters` if given,
    else from those in `vectors`. `report` counts where the vectors come from."""
    known = Lexicon.from_entries(read_word_vectors(vectors))
    singles = None if characters is None else Lexicon.from_entries(read_word_vectors(characters))
    given = WatchedStream([*map(read_any, words), read_any(vectors, "vectors")])
    distinct = Lexicon.from_entries(given, merge=True)
    entries = compose_vectors(distinct.entries(), known, singles, report=report)
    watched = progress(entries, "vectors", total=len(distinct), unit=" words")
    lexicon = Lexicon.from_entries(watched, dtype=dtype)
    lexicon.report = distinct.report
    return lexicon
