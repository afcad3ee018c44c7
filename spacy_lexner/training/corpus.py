"""`spacy-lexner.TagFile.v1` and `spacy-lexner.ClueJsonl.v1`: corpora from annotated files as they are published."""

from pathlib import Path
from typing import Iterator, Optional, Union

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger

from ..formats.docs import add_entities, make_word_doc
from ..formats.read import read_records
from ..formats.record import ReadOptions, Record
from ..formats.report import Report
from ..formats.source import list_sources
from ..pipeline.char_tokenizer import CharTokenizer


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
    scheme (str): The tag scheme: bio, bioes, bmes, bmewo, bilou, or "auto".
    repair (bool): Mend illegal sequences of tags and log it, instead of raising an error.
    digit_suffix (str): Whether each word ends with a digit that is not text (名0): "yes", "no" or "auto".
    space_symbol (str): The symbol that stands for a space in the file, such as ␣.
    encoding (str): The encoding.
    max_length (int): Leave out texts of more tokens than that. 0 means no limit. How many is logged.
    limit (int): Read that many texts at most. 0 means all.
    RETURNS (AnnotatedCorpus): Takes the nlp object, gives Examples.
    """
    options = ReadOptions(
        encoding=encoding, repair=repair, scheme=scheme, digit_suffix=digit_suffix, space_symbol=space_symbol
    )
    return AnnotatedCorpus(path, "conll", options, max_length=max_length, limit=limit)


def create_clue_reader(
    path: Optional[Union[str, Path]],
    repair: bool = False,
    encoding: str = "utf-8",
    max_length: int = 0,
    limit: int = 0,
) -> "AnnotatedCorpus":
    """Create a reader of CLUE JSON lines, as of CLUENER2020. The arguments are those of `create_tag_file_reader`.

    RETURNS (AnnotatedCorpus): Takes the nlp object, gives Examples.
    """
    options = ReadOptions(encoding=encoding, repair=repair)
    return AnnotatedCorpus(path, "clue", options, max_length=max_length, limit=limit)


class AnnotatedCorpus:
    """Reads Examples from annotated files, in the order of the files."""

    def __init__(
        self,
        path: Optional[Union[str, Path]],
        format: str,
        options: ReadOptions,
        *,
        max_length: int = 0,
        limit: int = 0,
    ) -> None:
        """Create the reader.

        path (Optional[Union[str, Path]]): A file, a folder, a zip archive or a member of one.
        format (str): The format, one of `formats.read.READERS`.
        options (ReadOptions): How the files are read.
        max_length (int): Leave out texts of more tokens than that. 0 means no limit.
        limit (int): Read that many texts at most. 0 means all.
        """
        if path is None:
            raise ValueError("The corpus has no path. Set it in the config, or with --paths.train and --paths.dev.")
        self.path = Path(path)
        self.format = format
        self.options = options
        self.max_length = max_length
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the files.

        nlp (Language): The pipeline, whose tokenizer makes the predicted Docs.
        YIELDS (Example): The predicted Doc, and a reference with the words of the file, or with one token for each
            character where the file does not cut its texts. What was mended or left out is logged at the end.
        """
        report = Report()
        tokenizer = CharTokenizer.for_pipeline(nlp)
        n_examples = n_long = 0
        for record in self._read(report):
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

    def _read(self, report: Report) -> Iterator[Record]:
        for source in list_sources(self.path):
            yield from read_records(source, self.format, self.options, report)
