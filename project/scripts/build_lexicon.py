"""Build a lexicon folder from word lists, dictionaries and word vectors, or an empty one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Optional

import numpy as np
import typer
from paths import find_input
from wasabi import msg

from spacy_lexner.cli.lexicon.sources import WatchedStream
from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError
from spacy_lexner.lexicon.entry import REASONS
from spacy_lexner.lexicon.readers import read_word_vectors
from spacy_lexner.lexicon.readers.any_file import read_any


def shuffle_vectors(lexicon: Lexicon, seed: int) -> Lexicon:
    """Shuffle the vectors among the words that have one, as a control for trained vectors.

    lexicon (Lexicon): The lexicon.
    seed (int): The seed.
    RETURNS (Lexicon): The same words and the same vectors, but a vector says nothing about its word.
    """
    entries = list(lexicon.entries())
    rows = [row for row, entry in enumerate(entries) if entry.vector is not None]
    for row, vector in zip(np.random.default_rng(seed).permutation(rows), [entries[row].vector for row in rows]):
        entries[row] = entries[row]._replace(vector=vector)
    return Lexicon.from_entries(entries)


def add_nonsense(lexicon: Lexicon, n_words: int, seed: int = 0) -> Lexicon:
    """Add words without meaning, as a control for a large lexicon.

    lexicon (Lexicon): The lexicon.
    n_words (int): How many to add: strings of two to four characters, drawn as often as the words have them.
    seed (int): The seed.
    RETURNS (Lexicon): The same words, and the new ones without a vector.
    """
    entries = list(lexicon.entries())
    characters = np.array([character for entry in entries for character in entry.word])
    words, draw = {entry.word for entry in entries}, np.random.default_rng(seed)
    n_all = len(words) + n_words
    while len(words) < n_all:
        words.add("".join(draw.choice(characters, draw.integers(2, 5))))
    new = sorted(words.difference(entry.word for entry in entries))
    return Lexicon.from_entries([*entries, *map(LexiconEntry, new)])


def main(
    out: Annotated[Path, typer.Argument(help="Folder for the lexicon.")],
    words: Annotated[
        str, typer.Option(help="Dictionaries like jieba's, word lists and tables, separated by spaces.")
    ] = "",
    vectors: Annotated[str, typer.Option(help="Word vectors in word2vec text format, files separated by spaces.")] = "",
    limit: Annotated[int, typer.Option(help="Read only this many lines of each vector file; 0 for all.")] = 0,
    shuffle: Annotated[Optional[int], typer.Option(help="Shuffle the vectors among the words, with this seed.")] = None,
    nonsense: Annotated[int, typer.Option(help="Add this many random strings as words.")] = 0,
) -> None:
    """Build a lexicon. A word found in several files gets the first vector that any of them has for it."""
    try:
        streams = [read_any(find_input(path)) for path in words.split()]
        streams += [read_word_vectors(find_input(path), limit=limit or None) for path in vectors.split()]
        lexicon = Lexicon.from_entries(WatchedStream(streams), merge=True)
        if streams and not len(lexicon):
            raise LexiconError(f"No word is valid. {lexicon.report}")
        if shuffle is not None:
            lexicon = shuffle_vectors(lexicon, shuffle)
        if nonsense:
            lexicon = add_nonsense(lexicon, nonsense)
    except (LexiconError, FileNotFoundError) as error:
        msg.fail("The lexicon was not built", str(error), exits=1)
    if out.is_dir():
        shutil.rmtree(out)
    lexicon.save(out)
    msg.good(f"{out}: {len(lexicon)} words" + (f", {lexicon.dim}-dimensional vectors" if lexicon.dim else ""))
    for reason, count in lexicon.report.skipped.items():
        if reason != "duplicate":  # the same word in several files is not an error
            msg.warn(f"{count} entries skipped: {REASONS[reason]}", ", ".join(lexicon.report.places[reason]))


if __name__ == "__main__":
    typer.run(main)
