"""Whether a lexicon holds together: every word is what its hashes say, and is found where it stands."""

from itertools import islice
from typing import Iterator, List

import numpy as np

from .entry import hash_content, hash_word
from .find_words import SEPARATOR
from .lexicon import Lexicon

BATCH = 1 << 16


def audit(lexicon: Lexicon) -> Iterator[List[str]]:
    """Check every word of a lexicon: its hash, the hash of what is known about it, that its vector is finite, and that
    it is found in a text that holds it.

    lexicon (Lexicon): The lexicon; `Lexicon.open(path, verify=True)` has checked the files before.
    YIELDS (List[str]): For each batch of BATCH words the faults, each with the word.
    """
    table = lexicon.table
    words = table.words.all()
    content = 0
    for low in range(0, table.size, BATCH):
        batch = list(islice(words, BATCH))
        faults = [
            f"{word!r}: the hash is not that of the word"
            for word, hashed in zip(batch, table.hashes[low : low + BATCH].tolist())
            if hash_word(word) != hashed
        ]
        for row, word in enumerate(batch, low):
            entry = table.entry(row)
            content += int(table.contents[row])
            if hash_content(entry) != table.contents[row]:
                faults.append(f"{word!r}: what is known about it is not what was stored")
            if entry.vector is not None and not np.isfinite(entry.vector).all():
                faults.append(f"{word!r}: the vector is not finite")
        yield [*faults, *(f"{word!r}: not found in a text that holds it" for word in _not_found(lexicon, batch))]
    if content % 2**64 != lexicon.content:
        yield ["the version is not that of the words"]


def _not_found(lexicon: Lexicon, words: List[str]) -> List[str]:
    lengths = np.array([len(word) for word in words], "i8")
    begins = np.cumsum(lengths + 1) - lengths - 1
    found = lexicon.match(SEPARATOR.join(words))
    whole = found.ends - found.starts == lengths[np.searchsorted(begins, found.starts, "right") - 1]
    missing = np.setdiff1d(begins, found.starts[whole])
    return [words[i] for i in np.searchsorted(begins, missing).tolist()]
