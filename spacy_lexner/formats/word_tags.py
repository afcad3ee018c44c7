"""CoNLL files whose tags are words, with or without parts of speech: a character and B-NOUN, or B, on each line."""

from typing import Iterator, List

from .conll import TaggedSentence, read_tagged
from .record import ReadOptions, Record
from .report import Report
from .source import Source
from .words import make_word_record, universal


def read_word_tags(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a CoNLL file, a sentence at a time. What is tagged is a word, and so is every line with O.

    source (Source): The file.
    options (ReadOptions): How it is read.
    report (Report): Gets what was mended, and the number of words.
    YIELDS (Record): The sentences. A label is a tag, and the part of speech too if it is a universal one. Raises
        FormatError, with file and line, where the file is wrong.
    """
    for sentence in read_tagged(source, options, report):
        yield _make_record(sentence, report)


def _make_record(sentence: TaggedSentence, report: Report) -> Record:
    words: List[str] = []
    tags: List[str] = []
    end = 0
    for start, stop, label in [*sentence.spans, (len(sentence.words), len(sentence.words), "")]:
        words.extend(sentence.words[end:start])
        tags.extend([""] * (start - end))
        if start < stop:
            words.append("".join(sentence.words[start:stop]))
            tags.append(label)
        end = stop
    if not any(tags):
        return make_word_record(words, sentence.place, report)
    return make_word_record(words, sentence.place, report, pos=universal(tags), tags=tags)
