"""`spacy-lexner.TextCorpus.v1`: raw text for `spacy pretrain`, one paragraph or sentence per line."""

import random
from itertools import islice
from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Union, cast

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .text_index import TextIndex, find_text_files, read_lines

SENTENCE_ENDS = "。！？!?；;…"


class TextCorpus:
    """Reads raw text as Docs, one at a time: memory does not grow with the corpus.

    path (Optional[Union[str, List[str]]]): Files, or folders that are searched for *.txt and *.txt.gz. UTF-8.
    sentences (bool): Each line is a sentence and a blank line ends a document; a Doc is a document with sentence
        boundaries. Otherwise each line is a Doc, and blank lines are skipped.
    min_length (int): Lines with fewer characters are skipped.
    max_length (int): Lines with more characters are cut, after a sentence end if there is one in the second half.
    shuffle (bool): Yield the Docs in a new random order each time, drawn from Python's random numbers, which spaCy
        seeds with `training.seed`. The place of each line is kept in memory, eight bytes per line.
    limit (int): Most Docs to yield; 0 for all.
    """

    def __init__(
        self,
        path: Optional[Union[str, List[str]]],
        sentences: bool = False,
        min_length: int = 1,
        max_length: int = 2000,
        shuffle: bool = False,
        limit: int = 0,
    ) -> None:
        if max_length < max(2, min_length):
            raise ValueError(
                f"max_length is {max_length}; expected at least 2, and at least min_length ({min_length})."
            )
        if limit < 0:
            raise ValueError(f"limit is {limit}; expected a number of texts, or 0 for all.")
        given = [path] if isinstance(path, (str, Path)) else path or []
        self.paths = [Path(part) for part in given if str(part)]
        self.sentences = sentences
        self.min_length = min_length
        self.max_length = max_length
        self.shuffle = shuffle
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the corpus once.

        nlp (Language): The pipeline whose tokenizer is used.
        YIELDS (Example): One per Doc. Raises ValueError if a file is not UTF-8, and if there is no text at all.
        """
        if not self.paths:  # only now an error: a config for pretraining may also be used for plain training
            raise ValueError("There is no text to read: set the path of the text corpus (paths.raw_text).")
        docs = (doc for sentences in self._units() for doc in self._docs(nlp, sentences) if len(doc))
        found = False
        for doc in islice(docs, self.limit or None):
            found = True
            yield Example(doc, doc)
        if not found:
            raise ValueError(
                f"There is no text in {', '.join(map(str, self.paths))}: "
                f"no line of at least {self.min_length} characters."
            )

    def _docs(self, nlp: Language, lines: List[str]) -> Iterator[Doc]:
        parts = [part for line in lines for part in self._cut(line)]
        if not self.sentences:
            yield from map(nlp.make_doc, parts)
        elif parts:
            yield join_sentences(nlp, parts)

    def _units(self) -> Iterator[List[str]]:
        """The lines of each document, or each line as a document."""
        if self.shuffle:
            with TextIndex(find_text_files(self.paths), paragraphs=self.sentences) as index:
                order = np.random.default_rng(random.getrandbits(64)).permutation(len(index))
                yield from map(index.read, order.tolist())
            return
        for path in find_text_files(self.paths):
            document: List[str] = []
            for line in read_lines(path):
                if line.strip() and self.sentences:
                    document.append(line)
                elif line.strip():
                    yield [line]
                elif document:
                    yield document
                    document = []
            if document:
                yield document

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
    """Make a Doc of sentences, tokenized one by one, with sentence boundaries and nothing else between them."""
    words: List[str] = []
    spaces: List[bool] = []
    starts: List[bool] = []
    for sentence in sentences:
        tokens = nlp.make_doc(sentence)
        words += [token.text for token in tokens]
        spaces += [bool(token.whitespace_) for token in tokens]
        starts += [i == 0 for i in range(len(tokens))]
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=cast(List[Union[bool, int, None]], starts))
