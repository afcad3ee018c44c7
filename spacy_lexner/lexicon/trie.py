"""A trie in flat arrays, and all its words in a text, found in lock-step."""

from typing import List, NamedTuple, Tuple

import numpy as np


class Found(NamedTuple):
    """Words found, ordered by start, then by length.

    start (numpy.ndarray): int64[n], first position.
    length (numpy.ndarray): int64[n].
    word (numpy.ndarray): int64[n], number of the word.
    """

    start: np.ndarray
    length: np.ndarray
    word: np.ndarray


class Trie(NamedTuple):
    """Nodes are numbered breadth-first from the root, 0; node i > 0 is reached by edge i - 1.

    labels (numpy.ndarray): uint32[n_edges], the character of each edge; ascending among the edges of a node.
    first (numpy.ndarray): uint32[n_edges + 2], number of the first edge that leaves each node, and n_edges at last.
    words (numpy.ndarray): int32[n_edges], number of the word that ends with an edge, or -1.
    """

    labels: np.ndarray
    first: np.ndarray
    words: np.ndarray

    def match(self, codes: np.ndarray, max_length: int) -> Found:
        """Find all words that begin anywhere in a text.

        codes (numpy.ndarray): uint32[n], the code points of the text.
        max_length (int): Length of the longest word to look for.
        RETURNS (Found): The words found.
        """
        at = np.arange(len(codes))
        node = np.zeros(len(codes), "i8")
        found: List[Tuple[np.ndarray, np.ndarray]] = []
        for depth in range(max_length):
            inside = at + depth < len(codes)
            at, node = at[inside], node[inside]
            if not len(at) or not len(self.labels):
                break
            edge = self._find_edges(node, codes[at + depth])
            there = edge >= 0
            at, edge = at[there], edge[there]
            word = self.words.take(edge, mode="clip").astype("i8")
            ends = word >= 0
            found.append((at[ends], word[ends]))
            node = edge + 1
        return _merge(found, len(codes))

    def _find_edges(self, nodes: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Binary search among the edges of each node: int64[n], -1 where there is none."""
        low = self.first.take(nodes, mode="clip").astype("i8")
        high = self.first.take(nodes + 1, mode="clip").astype("i8")
        last = high
        for _ in range(len(self.labels).bit_length()):
            open_ = low < high
            if not open_.any():
                break
            middle = (low + high) >> 1
            smaller = self.labels.take(middle, mode="clip") < labels
            low = np.where(open_ & smaller, middle + 1, low)
            high = np.where(open_ & ~smaller, middle, high)
        hit = (low < last) & (self.labels.take(low, mode="clip") == labels)
        return np.where(hit, low, -1)


def _merge(found: List[Tuple[np.ndarray, np.ndarray]], n: int) -> Found:
    start = np.concatenate([at for at, _ in found] or [np.zeros(0, "i8")])
    word = np.concatenate([words for _, words in found] or [np.zeros(0, "i8")])
    length = np.concatenate([np.full(len(at), i + 1) for i, (at, _) in enumerate(found)] or [np.zeros(0, "i8")])
    order = np.argsort(start, kind="stable")
    return Found(start[order], length[order], word[order])


def build_trie(codes: np.ndarray, offsets: np.ndarray, numbers: np.ndarray) -> Trie:
    """Build a trie, level by level.

    codes (numpy.ndarray): uint32[n], the code points of all words, one word after the other.
    offsets (numpy.ndarray): int64[n_words + 1], where each word begins in `codes`. The words differ and none is empty.
    numbers (numpy.ndarray): int32[n_words], the number to give for each word.
    RETURNS (Trie): The trie.
    """
    lengths = np.diff(offsets)
    alive = np.arange(len(lengths))
    node = np.zeros(len(lengths), "u8")
    keys: List[np.ndarray] = []
    words: List[np.ndarray] = []
    n_edges = 0
    for depth in range(int(lengths.max(initial=0))):
        still = lengths[alive] > depth
        alive, node = alive[still], node[still]
        level, edge = np.unique((node << np.uint64(21)) | codes[offsets[alive] + depth], return_inverse=True)
        word = np.full(len(level), -1, "i4")
        ends = lengths[alive] == depth + 1
        word[edge[ends]] = numbers[alive[ends]]
        keys.append(level)
        words.append(word)
        node = (edge + (n_edges + 1)).astype("u8")
        n_edges += len(level)
    key = np.concatenate(keys) if keys else np.zeros(0, "u8")
    counts = np.bincount((key >> np.uint64(21)).astype("i8"), minlength=n_edges + 1)
    first = np.zeros(n_edges + 2, "u4")
    np.cumsum(counts, out=first[1:])
    labels = (key & np.uint64((1 << 21) - 1)).astype("u4")
    return Trie(labels, first, np.concatenate(words) if words else np.zeros(0, "i4"))
