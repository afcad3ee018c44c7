"""Corpora: published files read without conversion (`spacy-lexner.TagFile.v1`, `spacy-lexner.ClueJsonl.v1`), and a
corpus that repeats (`spacy-lexner.RepeatedCorpus.v1`)."""

from pathlib import Path
from typing import Iterator, Optional, Union

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger

from ..formats.docs import add_entities, make_word_doc
from ..formats.read import read_records
from ..formats.record import ReadOptions
from ..formats.report import Report
from ..formats.source import list_sources
from ..pipeline.char_tokenizer import make_char_tokenizer
from .callbacks import CorpusT


def create_tag_file_reader(
    path: Optional[Union[str, Path]],
    scheme: str = "auto",
    repair: bool = False,
    digit_suffix: str = "auto",
    space_symbol: str = "",
    encoding: str = "utf-8",
    max_length: int = 0,
    limit: int = 0,
) -> "AnnotatedCorpus":
    """Create a reader of CoNLL files: a character or word and its tag on each line.

    path (Optional[Union[str, Path]]): A file, a folder, a zip archive or a member of one.
    scheme, repair, digit_suffix, space_symbol, encoding: As in `ReadOptions`.
    max_length (int): Leave out texts with more tokens; their number is logged. 0 for no limit.
    limit (int): Maximum number of texts; 0 for all.
    RETURNS (AnnotatedCorpus): The reader.
    """
    options = ReadOptions(
        encoding=encoding, repair=repair, scheme=scheme, digit_suffix=digit_suffix, space_symbol=space_symbol
    )
    return AnnotatedCorpus(path, "conll", options, max_length, limit)


def create_clue_reader(
    path: Optional[Union[str, Path]],
    repair: bool = False,
    encoding: str = "utf-8",
    max_length: int = 0,
    limit: int = 0,
) -> "AnnotatedCorpus":
    """Create a reader of CLUE JSON lines, as in CLUENER2020. Arguments as for `create_tag_file_reader`."""
    return AnnotatedCorpus(path, "clue", ReadOptions(encoding=encoding, repair=repair), max_length, limit)


class AnnotatedCorpus:
    """Reads Examples from annotated files, in the order of the files. `format` is one of `formats.read.READERS`;
    `path`, `max_length` and `limit` are as in `create_tag_file_reader`."""

    def __init__(
        self, path: Optional[Union[str, Path]], format: str, options: ReadOptions, max_length: int, limit: int
    ) -> None:
        if path is None:
            raise ValueError("The corpus has no path. Set it in the config, or with --paths.train and --paths.dev.")
        for name, value in (("max_length", max_length), ("limit", limit)):
            if value < 0:
                raise ValueError(f"{name} of the corpus {path} is {value}; expected 1 or more, or 0 for no limit.")
        self.path = Path(path)
        self.format = format
        self.options = options
        self.max_length = max_length
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the files. Repairs and omissions are logged at the end.

        nlp (Language): The pipeline, whose tokenizer makes the predicted Docs.
        YIELDS (Example): The predicted Doc, and a reference with the words of the file or, if it has none, one token
            per character.
        """
        report = Report()
        tokenizer = make_char_tokenizer(nlp)
        sources = list_sources(self.path)
        n_examples = n_long = 0
        for record in (
            record for source in sources for record in read_records(source, self.format, self.options, report)
        ):
            predicted = nlp.make_doc(record.text)
            if self.max_length and len(predicted) > self.max_length:
                n_long += 1
                continue
            reference = tokenizer(record.text) if record.words is None else make_word_doc(record, nlp.vocab)
            yield Example(predicted, add_entities(reference, record, report))
            n_examples += 1
            if self.limit and n_examples >= self.limit:
                break
        if n_long:
            logger.warning("%s: %d texts of more than %d tokens left out", self.path, n_long, self.max_length)
        for line in report.describe():
            logger.warning("%s: %s", self.path, line)


class RepeatedCorpus:
    """Repeats a corpus endlessly, so that an epoch can be a fixed number of updates; needs a batcher that stops,
    `spacy-lexner.limit_batches.v1`. Otherwise a small corpus would end each epoch early, and a run planned for 10,000
    updates would stop after a few hundred, with a learning rate that has hardly begun to fall."""

    def __init__(self, corpus: CorpusT) -> None:
        """corpus (Callable[[Language], Iterable[Example]]): The reader to repeat; it may shuffle on each pass."""
        self.corpus = corpus

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """YIELDS (Example): The examples, without end. Raises ValueError if the corpus has none."""
        while True:
            example = None
            for example in self.corpus(nlp):
                yield example
            if example is None:
                raise ValueError("The corpus to repeat has no texts: check the path in its section of [corpora].")
