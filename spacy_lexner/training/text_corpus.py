"""`spacy-lexner.TextCorpus.v1`: raw text for `spacy pretrain`, a paragraph or a sentence a line."""

import gzip
import random
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Iterable, Iterator, List, Optional, Union, cast

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

SUFFIXES = (".txt", ".txt.gz")
SENTENCE_ENDS = "。！？!?；;…"
_SHOWN = 40


def create_text_corpus(
    path: Optional[Union[str, List[str]]],
    sentences: bool = False,
    min_length: int = 1,
    max_length: int = 2000,
    shuffle_buffer: int = 0,
    limit: int = 0,
) -> "TextCorpus":
    """Create a reader of raw text.

    path (Optional[Union[str, List[str]]]): Files, or folders that are searched for *.txt and *.txt.gz. UTF-8.
    sentences (bool): Each line is a sentence and a blank line ends a document; a Doc is a document with sentence
        bounds. Otherwise each line is a Doc, and blank lines count for nothing.
    min_length (int): Shorter lines are left out, in characters.
    max_length (int): Longer lines are cut, behind a sentence end if there is one in their second half.
    shuffle_buffer (int): Docs that are held to give them out in random order; 0 keeps the order of the files. The
        random numbers are Python's own, which spaCy seeds with `training.seed`.
    limit (int): Docs to give out; 0 for all.
    RETURNS (TextCorpus): The reader.
    """
    return TextCorpus(
        path,
        sentences=sentences,
        min_length=min_length,
        max_length=max_length,
        shuffle_buffer=shuffle_buffer,
        limit=limit,
    )


class TextCorpus:
    """Reads Docs one after the other: memory does not grow with the corpus. Arguments: see `create_text_corpus`."""

    def __init__(
        self,
        path: Optional[Union[str, List[str]]],
        *,
        sentences: bool = False,
        min_length: int = 1,
        max_length: int = 2000,
        shuffle_buffer: int = 0,
        limit: int = 0,
    ) -> None:
        if not path:
            raise ValueError("There is no text to read: set the path of the text corpus (paths.raw_text).")
        if max_length < max(2, min_length):
            raise ValueError(
                f"max_length is {max_length}: it must be at least 2 and not below min_length ({min_length})."
            )
        self.paths = [Path(path)] if isinstance(path, (str, Path)) else [Path(part) for part in path]
        self.sentences = sentences
        self.min_length = min_length
        self.max_length = max_length
        self.shuffle_buffer = shuffle_buffer
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the corpus once.

        nlp (Language): Its tokenizer makes the tokens.
        YIELDS (Example): One per Doc. Raises ValueError where a file is not UTF-8, and where there is no text at all.
        """
        docs = self._documents(nlp) if self.sentences else (nlp.make_doc(line) for line in self._all_lines())
        docs = (doc for doc in docs if len(doc))
        found = False
        for doc in _shuffled(islice(docs, self.limit or None), self.shuffle_buffer):
            found = True
            yield Example(doc, doc)
        if not found:
            raise ValueError(
                f"There is no text in {', '.join(map(str, self.paths))}: "
                f"no line of at least {self.min_length} characters."
            )

    def _documents(self, nlp: Language) -> Iterator[Doc]:
        for path in find_text_files(self.paths):
            sentences: List[str] = []
            for line in read_lines(path):
                if line.strip():
                    sentences += self._cut(line)
                elif sentences:
                    yield join_sentences(nlp, sentences)
                    sentences = []
            if sentences:
                yield join_sentences(nlp, sentences)

    def _all_lines(self) -> Iterator[str]:
        for path in find_text_files(self.paths):
            for line in read_lines(path):
                yield from self._cut(line)

    def _cut(self, line: str) -> List[str]:
        line = line.strip()
        parts, start = [], 0
        while len(line) - start > self.max_length:
            limit = start + self.max_length
            ends = (line.rfind(mark, limit - self.max_length // 2, limit) for mark in SENTENCE_ENDS)
            end = max(ends) + 1 or limit
            parts.append(line[start:end])
            start = end
        return [part for part in (*parts, line[start:]) if len(part) >= max(1, self.min_length)]


def join_sentences(nlp: Language, sentences: Iterable[str]) -> Doc:
    """Make a Doc of sentences, with sentence bounds between them and nothing else.

    nlp (Language): Its tokenizer makes the tokens of each sentence.
    sentences (Iterable[str]): The sentences.
    RETURNS (Doc): The document.
    """
    words: List[str] = []
    spaces: List[bool] = []
    starts: List[bool] = []
    for sentence in sentences:
        tokens = nlp.make_doc(sentence)
        words += [token.text for token in tokens]
        spaces += [bool(token.whitespace_) for token in tokens]
        starts += [i == 0 for i in range(len(tokens))]
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=cast(List[Union[bool, int, None]], starts))


def find_text_files(paths: Iterable[Path]) -> List[Path]:
    """List the text files under the given paths.

    paths (Iterable[Path]): Files of any name, and folders.
    RETURNS (List[Path]): The files, those of a folder in the order of their names. Raises ValueError where there is
        nothing.
    """
    files: List[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(file for suffix in SUFFIXES for file in path.rglob(f"*{suffix}") if file.is_file())
            if not found:
                raise ValueError(f"The folder {path} holds no text: expected files ending in {' or '.join(SUFFIXES)}.")
            files += found
        elif path.is_file():
            files.append(path)
        else:
            raise ValueError(f"There is no text file {path}.")
    return files


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a text file, UTF-8, plain or gzip.

    path (Path): The file.
    YIELDS (str): The lines without their ends. Raises ValueError with the line's number where one is not UTF-8.
    """
    with cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as file_:
        try:
            for number, line in enumerate(file_, 1):
                yield _decode(line, path, number).rstrip("\r\n")
        except (gzip.BadGzipFile, EOFError) as error:
            raise ValueError(f"{path} is not a whole gzip file ({error}).") from error


def _decode(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        shown = line[max(0, error.start - 10) : error.start + _SHOWN - 10]
        raise ValueError(
            f"{path}, line {number}, byte {error.start + 1} is not UTF-8 ({shown!r}). If the text is GBK, convert it: "
            f"iconv -f GB18030 -t UTF-8 {path.name} > utf8.txt"
        ) from error


def _shuffled(docs: Iterable[Doc], buffer: int) -> Iterator[Doc]:
    stream = iter(docs)
    while held := list(islice(stream, buffer or 1)):
        if buffer:
            random.shuffle(held)
        yield from held
