"""Checks of a whole lexicon: of every entry against its stored hashes, and of its matches against pygtrie."""

from itertools import chain, islice
from typing import Iterable, Iterator, List, NamedTuple

import numpy as np
from pygtrie import CharTrie

from .entry import hash_content, hash_word
from .level import TEXT_SEPARATOR
from .lexicon import Lexicon

BATCH = 1 << 16
N_JOINED = 1000
CONTEXT = 10


def audit(lexicon: Lexicon) -> Iterator[List[str]]:
    """Check each word: its hash, the hash of its entry, that its vector is finite, and that it is found in a text that
    contains it. Yields the faults, each with its word, in batches of BATCH words. `Lexicon.open(path, verify=True)`
    checks the files."""
    table = lexicon.table
    words = table.words.all()
    content = 0
    for low in range(0, table.size, BATCH):
        batch = list(islice(words, BATCH))
        faults = [
            f"{word!r}: its hash is wrong"
            for word, hashed in zip(batch, table.hashes[low : low + BATCH].tolist())
            if hash_word(word) != hashed
        ]
        for row, word in enumerate(batch, low):
            entry = table.entry(row)
            content += int(table.contents[row])
            if hash_content(entry) != table.contents[row]:
                faults.append(f"{word!r}: its weight, label, entity id, rules or vector differ from what was stored")
            if entry.vector is not None and not np.isfinite(entry.vector).all():
                faults.append(f"{word!r}: its vector is not finite")
        yield [*faults, *(f"{word!r}: not found in a text that contains it" for word in _not_found(lexicon, batch))]
    if content % 2**64 != lexicon.content:
        yield ["the version does not match the words"]


def _not_found(lexicon: Lexicon, words: List[str]) -> List[str]:
    lengths = np.array([len(word) for word in words], "i8")
    begins = np.cumsum(lengths + 1) - lengths - 1
    found = lexicon.match(TEXT_SEPARATOR.join(words))
    whole = found.ends - found.starts == lengths[np.searchsorted(begins, found.starts, "right") - 1]
    missing = np.setdiff1d(begins, found.starts[whole])
    return [words[i] for i in np.searchsorted(begins, missing).tolist()]


class Comparison(NamedTuple):
    """The number of words found in a text, and a description of each difference between the lexicon and pygtrie."""

    n_found: int
    differences: List[str]


def compare_with_pygtrie(lexicon: Lexicon, texts: Iterable[str]) -> Iterator[Comparison]:
    """For each text, compare the words that the lexicon and `pygtrie.CharTrie` find. The CharTrie is built from all
    lexicon words and takes about a kilobyte per word."""
    trie = CharTrie((word, hash_word(word)) for word in lexicon)
    longest = max(map(len, lexicon), default=0)
    for i, text in enumerate(texts, 1):
        ours = set(zip(*(column.tolist() for column in lexicon.match(text))))
        normal = lexicon.normalization(text)
        theirs = {
            (start, start + len(step.key), step.value)
            for start in range(len(text))
            for step in trie.prefixes(normal[start : start + longest])
        }
        differences = []
        for start, end, hashed in sorted(ours ^ theirs):
            finder = "the lexicon" if (start, end, hashed) in ours else "pygtrie"
            around = text[max(start - CONTEXT, 0) : end + CONTEXT]
            differences.append(f"text {i}, {start} to {end}: {text[start:end]!r}, by {finder} only, in {around!r}")
        yield Comparison(len(ours), differences)


def joined_words(lexicon: Lexicon) -> Iterator[str]:
    """YIELDS (str): Texts that together contain every lexicon word, and others formed across word borders."""
    words = iter(lexicon)
    for first in words:
        yield "".join(chain([first], islice(words, N_JOINED - 1)))
