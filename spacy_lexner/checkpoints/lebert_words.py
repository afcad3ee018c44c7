"""The words of a LEBERT checkpoint by its authors: its lexicon and the rows of its table of word vectors.

After a few special rows, the table has one row for each lexicon word that occurs in the training, dev or test texts,
sorted; the checkpoint itself does not list them. Training writes the list to `word_vocab.txt`. If that is lost, the
list can be rebuilt from the same texts and the same lexicon.
"""

import json
from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Sequence

import numpy as np

from ..encoders.shared.words import match_in_parts
from ..lexicon import Lexicon, LexiconEntry
from ..lexicon.lines import read_lines
from ..lexicon.matcher import Matcher, MatchOptions

SPECIAL_ROWS = ("<pad>", "<unk>", "<unk>2", "<unk>3", "<unk>4", "<unk>5", "<unk>6")


def read_lexicon(paths: Sequence[Path], limit: Optional[int] = None) -> Lexicon:
    """Read word lists as the authors' code does: the first column of the first `limit` lines (`max_scan_num`) of each
    file. The words have no vectors. Raises ValueError if there are none."""
    words = {word: None for path in paths for word in _first_columns(path, limit)}
    if not words:
        raise ValueError(f"There is no word in {', '.join(map(str, paths)) or 'the lexicon: no file was given'}.")
    return Lexicon.from_entries(map(LexiconEntry, words), max_word_length=max(map(len, words)))


def read_table(lexicon: Lexicon, n_rows: int, word_vocab: Optional[Path], corpus: Sequence[Path]) -> List[str]:
    """Find the word of each of the `n_rows` rows of the table of word vectors, in the list that training wrote or, if
    it is lost, from the authors' data files (`rows_of_corpus`). Raises ValueError if the words do not fit the table."""
    if word_vocab is not None:
        rows, source = read_rows(word_vocab), str(word_vocab)
    elif corpus:
        rows, source = rows_of_corpus(lexicon, corpus), f"the corpus ({', '.join(map(str, corpus))})"
    else:
        raise ValueError(
            "A checkpoint does not say which vector belongs to which word: give the word_vocab.txt that its training "
            "wrote, or the data files that it was trained with (train.json, dev.json, test.json)."
        )
    if tuple(rows[: len(SPECIAL_ROWS)]) != SPECIAL_ROWS:
        raise ValueError(
            f"The words of {source} begin with {', '.join(rows[:7]) or 'nothing'}; expected {', '.join(SPECIAL_ROWS)}."
        )
    if len(rows) != n_rows:
        raise ValueError(
            f"The checkpoint has vectors for {n_rows} words (special ones included), but {source} has {len(rows)}, so "
            "it is not what the checkpoint was trained with. Give the word_vocab.txt that its training wrote, or "
            "exactly its lexicon, line limit and data files (train, dev and test)."
        )
    return rows


def read_rows(path: Path) -> List[str]:
    """Read the word of each row from the `word_vocab.txt` that training wrote: on each line a number, a tab and a word.
    Raises ValueError for any other format."""
    rows: List[str] = []
    for number, line in read_lines(path):
        index, tab, word = line.partition("\t")
        if not tab or index != str(len(rows)):
            raise ValueError(
                f"{path}:{number}: {line[:40]!r}; expected {len(rows)}, a tab and a word, as in word_vocab.txt."
            )
        rows.append(word)
    return rows


def rows_of_corpus(lexicon: Lexicon, paths: Iterable[Path]) -> List[str]:
    """Rebuild the rows from the lexicon words in the authors' data files, train.json, dev.json and test.json. Each line
    is an object with a list of characters, `text`."""
    matcher, found = Matcher(lexicon, MatchOptions(single_chars="alone")), set()
    for path in paths:
        for texts, words, borders in match_in_parts(matcher, list(_texts(path))):
            _, where = np.unique(words.hashes, return_index=True)
            text = np.searchsorted(borders, where, "right") - 1
            found |= {texts[j][words.starts[i] : words.ends[i]] for i, j in zip(where.tolist(), text.tolist())}
    return [*SPECIAL_ROWS, *sorted(found)]


def _first_columns(path: Path, limit: Optional[int]) -> Iterator[str]:
    for number, line in read_lines(path):
        if limit is not None and number > limit:
            return
        if columns := line.split():
            yield columns[0]


def _texts(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        if line.strip():
            try:
                characters = json.loads(line)["text"]
                if not all(isinstance(character, str) for character in characters):
                    raise TypeError("text is not a list of characters")
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{path}:{number}: expected an object with `text`, a list of characters ({error})."
                ) from error
            # An item of several characters is not part of any word.
            yield "".join(character if len(character) == 1 else " " for character in characters)
