"""A trie in flat arrays, which finds all its words in a text, for all positions in lock-step.

An edge of the trie (node, character) is stored in a hash table, and its slot is the number of the node it leads to:
there is nothing else to store or to follow. A step down, for a whole array of nodes, is a multiplication, a gather and
a comparison. Each depth has its own table. Words of one character need none: they are found by code point.

Keys are hashed by multiplication with an odd number (Knuth, The Art of Computer Programming, vol. 3, section 6.4), a
bijection, so the hash is the key. In a table the keys ascend, with gaps: the slot of a key is the one that its hash
points to, or one of the next few. A search goes on while the slot holds a smaller key, at most as far as any key was
moved when the table was built.
"""

from typing import List, NamedTuple, Optional, Tuple

import numpy as np

from .errors import LexiconError

MULTIPLIER = 0x9E3779B97F4A7C15  # 2**64 / golden ratio
CODE_BITS = 21  # of a Unicode code point
OF_CHARACTER = np.uint64(MULTIPLIER)
OF_NODE = np.uint64((MULTIPLIER << CODE_BITS) % 2**64)
HALF = np.uint64(32)
GAP = np.uint64(2**64 - 1)  # greater than any key: the one hashed to it has more bits than a node and a character
SLOTS_PER_KEY = 2
MAX_MOVED = 1 << 16
NO_EDGE, NO_WORD = -2, -1
CHUNK = 1 << 16  # characters matched at a time: 16 bits sort fastest, and the arrays stay in the cache


Found = Tuple[np.ndarray, np.ndarray, np.ndarray]


class Trie(NamedTuple):
    """A compiled set of words.

    roots (numpy.ndarray): int32[highest code point + 2], by first character: the number of the word that consists of
        it, NO_WORD if only longer words begin with it, NO_EDGE if none does.
    levels (numpy.ndarray): int64[n_levels, 3], for each depth from the second character on: first slot of its table,
        size of the range of the hash, maximum number of slots that a key was moved.
    """

    roots: np.ndarray
    levels: np.ndarray
    keys: np.ndarray  # uint64[n_slots], the edges, GAP in free slots
    words: np.ndarray  # int32[n_slots], number of the word that ends there, or NO_WORD

    def match(self, codes: np.ndarray, min_length: int = 1, max_length: Optional[int] = None) -> Found:
        """Find all words in a text (uint32[n] code points; no word contains NUL), ordered by start, then by length:
        int64[n] first position, int64[n] one past the last, int32[n] number of the word. Even if the arrays are
        damaged, nothing outside them is read and the search ends."""
        n_levels = len(self.levels) if max_length is None else min(len(self.levels), max(max_length, 1) - 1)
        padded = np.zeros(len(codes) + n_levels, "u8")
        padded[: len(codes)] = codes
        chunks = [
            self._match_chunk(padded[low : min(low + CHUNK, len(codes)) + n_levels], low, min_length, n_levels)
            for low in range(0, len(codes), CHUNK)
        ]
        starts, ends, words = map(np.concatenate, zip(*chunks, _nothing()))
        return starts, ends, words

    def _match_chunk(self, codes: np.ndarray, offset: int, min_length: int, n_levels: int) -> Found:
        """Match the words that begin in a chunk; its last `n_levels` characters are only lookahead."""
        word = self.roots.take(codes[: len(codes) - n_levels], mode="clip")
        at = np.flatnonzero(word > NO_EDGE)
        node = codes.take(at)
        ends = np.flatnonzero(word > NO_WORD)
        found = [(ends, word.take(ends))] if min_length <= 1 else []
        hashed = codes * OF_CHARACTER
        for depth, level in enumerate(self.levels[:n_levels].tolist(), 1):
            node *= OF_NODE
            node += hashed[depth:].take(at)
            slot, there = self._find(node, *level)
            if not len(there):
                break
            at, slot = at.take(there), slot.take(there)
            node = slot.view("u8")
            if depth + 1 >= min_length:
                word = self.words.take(slot, mode="clip")
                ends = np.flatnonzero(word > NO_WORD)
                found.append((at.take(ends), word.take(ends)))
        return _in_order(found, offset, min_length)

    def _find(self, keys: np.ndarray, first: int, size: int, moved: int) -> Tuple[np.ndarray, np.ndarray]:
        """int64[n], the slot where the search for each key (uint64[n]) ended; int64[m], which keys were found."""
        slot = _home(keys, size)
        slot += first
        held = self.keys.take(slot, mode="clip")
        further = np.flatnonzero(held < keys)
        for _ in range(moved):
            if not len(further):
                break
            slot[further] += 1
            held[further] = self.keys.take(slot.take(further), mode="clip")
            further = further.compress(held.take(further) < keys.take(further))
        return slot, np.flatnonzero(held == keys)


def _home(keys: np.ndarray, size: int) -> np.ndarray:
    """Scale keys to a range: int64[n], ascending with the keys."""
    home = keys >> HALF
    home *= np.uint64(size)
    home >>= HALF
    return home.view("i8")


def _in_order(found: List[Tuple[np.ndarray, np.ndarray]], offset: int, min_length: int) -> Found:
    """Order words, found length by length, by start, then by length."""
    if not found:
        return _nothing()
    start = np.concatenate([at for at, _ in found])
    lengths = np.arange(max(min_length, 1), max(min_length, 1) + len(found))
    order = np.argsort(start.astype("u2"), kind="stable")
    end = np.repeat(lengths, [len(at) for at, _ in found]).take(order)
    start = start.take(order)
    start += offset
    end += start
    return start, end, np.concatenate([word for _, word in found]).take(order)


def _nothing() -> Found:
    return np.zeros(0, "i8"), np.zeros(0, "i8"), np.zeros(0, "i4")


def build_trie(codes: np.ndarray, offsets: np.ndarray, numbers: np.ndarray) -> Trie:
    """Build a trie, level by level, from the code points of all words, word after word (uint32[n], none of them NUL),
    the offsets where the words begin (int64[n_words + 1]), and their numbers (int32[n_words]). The words differ and
    none is empty."""
    begins, lengths = offsets[:-1], np.diff(offsets)
    roots = np.full(int(codes.max(initial=0)) + 2, NO_EDGE, "i4")
    roots[codes[begins]] = NO_WORD
    roots[codes[begins[lengths == 1]]] = numbers[lengths == 1]
    alive = np.flatnonzero(lengths > 1)
    node = codes[begins[alive]].astype("u8")
    levels: List[Tuple[int, int, int]] = []
    keys, words = [np.zeros(0, "u8")], [np.zeros(0, "i4")]
    first = 0
    while len(alive):
        depth = len(levels) + 1
        hashed = node * OF_NODE + codes[begins[alive] + depth] * OF_CHARACTER
        edges, edge_of_word = np.unique(hashed, return_inverse=True)
        size = SLOTS_PER_KEY * len(edges)
        home = _home(edges, size)
        count = np.arange(len(edges))
        slots = np.maximum.accumulate(home - count) + count  # each key in its place or, if taken, in the next one
        key, word = np.full(max(size, slots[-1] + 1), GAP), np.full(max(size, slots[-1] + 1), NO_WORD, "i4")
        key[slots] = edges
        slot = slots[edge_of_word]
        ends = lengths[alive] == depth + 1
        word[slot[ends]] = numbers[alive[ends]]
        levels.append((first, size, int((slots - home).max())))
        keys.append(key)
        words.append(word)
        alive, node = alive[~ends], (slot[~ends] + first).astype("u8")
        first += len(key)
    return checked(Trie(roots, np.array(levels, "i8").reshape(-1, 3), np.concatenate(keys), np.concatenate(words)))


def checked(trie: Trie) -> Trie:
    """Return the trie unchanged. Raises LexiconError if its levels do not fit its tables."""
    first, size, moved = trie.levels.T
    fits = (first >= 0) & (size >= 1) & (size <= len(trie.keys)) & (first <= len(trie.keys) - size)
    if not (fits & (moved >= 0) & (moved <= MAX_MOVED)).all() or not len(trie.roots):
        raise LexiconError("The levels of the trie do not fit its tables; the file is damaged.")
    return trie
