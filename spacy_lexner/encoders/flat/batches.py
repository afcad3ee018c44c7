"""Conversion of Docs and their candidate words to FLAT's input lattices."""

from typing import Iterator, Optional, Tuple

import numpy as np
import torch

from ...candidates.batch_words import BatchWords, expand_ranges
from ...tensors.convert import tensor_of
from ..shared.characters import Characters
from ..shared.units import UnitBatch
from ..shared.vocab import LatticeVocab
from ..shared.windows import Windows, batch_by_padding, pad_ranges
from ..shared.words import WordTable, number_words
from .model import FlatBatch

SHORT = 64  # characters of a window that attention is cheap for, whatever words it has


def words_in_windows(windows: Windows, words: BatchWords, max_words: float) -> Tuple[np.ndarray, np.ndarray]:
    """Find the words that lie in windows with all their characters: int64[n], words by number, those of the first
    window first; int64[m], how many each window has. A window has at most `max_words` for each of its characters; where
    there are more, the longest stay. A long window with half of that is no text but a repetition (a text has half a
    word for each character), and as many words as in a text stay: attention costs the square of what a window holds."""
    low = np.searchsorted(words.starts, windows.starts)
    counts = np.searchsorted(words.starts, windows.ends) - low
    numbers, window = expand_ranges(low, counts), np.repeat(np.arange(len(low)), counts)
    whole = words.ends[numbers] <= windows.ends[window]
    numbers, window = numbers[whole], window[whole]
    counts = np.bincount(window, minlength=len(low))
    limits = windows.lengths * max_words
    repeated = (windows.lengths > SHORT) & (counts > limits / 2)
    limits = np.where(repeated, limits / 8, limits).astype("i8")
    if (counts > limits).any():
        stay = _longest(window, words.lengths[numbers], limits)
        numbers, counts = numbers[stay], np.minimum(counts, limits)
    return numbers, counts


def _longest(window: np.ndarray, lengths: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """bool[n], which words are among the longest of their window (int64[n], ascending), of equal ones the first; as
    many as the limit of the window (int64[n_windows])."""
    size = int(lengths.max(initial=0)) + 1
    kind = window * size + lengths
    table = np.bincount(kind, minlength=len(limits) * size).reshape(-1, size)
    room = limits[:, None] - (table[:, ::-1].cumsum(1)[:, ::-1] - table)  # what longer words leave
    place = room.reshape(-1)[kind]
    part = np.flatnonzero((place > 0) & (place < table.reshape(-1)[kind]))  # of one length in each window
    stay = place > 0
    first = np.searchsorted(window[part], window[part])
    stay[part] = np.arange(len(part)) - first < place[part]
    return stay


def make_batches(
    characters: Characters,
    vocab: LatticeVocab,
    windows: Windows,
    words: Optional[BatchWords],
    table: Optional[WordTable],
    *,
    max_words: float,
    max_tokens: int,
    device: torch.device,
) -> Iterator[UnitBatch]:
    """Make padded batches of windows over the characters of Docs, those of similar size together, with at most
    `max_tokens` characters and words, padding included.

    words (Optional[BatchWords]): The words of the Docs, where the model reads any.
    table (Optional[WordTable]): How the model knows words.
    max_words (float): See `words_in_windows`.
    YIELDS (UnitBatch): The batches, whose rows are characters.
    """
    ids, bigrams = vocab.encode(characters.codes, characters.doc_ends)
    token = np.repeat(np.arange(len(characters.counts)), characters.counts)
    numbers, counts = np.zeros(0, "i8"), np.zeros(len(windows.starts), "i8")
    if words is not None:
        numbers, counts = words_in_windows(windows, words, max_words)
    firsts = np.cumsum(counts) - counts

    def tensor(array: np.ndarray) -> torch.Tensor:
        return tensor_of(np.ascontiguousarray(array), device)

    for chosen in batch_by_padding(windows.lengths + counts, max_tokens):
        places, inside, own = windows.take(chosen).pad()
        batch = FlatBatch(
            tensor(np.where(inside, ids[places], 0)),
            tensor(np.flatnonzero(own)),
            None if bigrams is None else tensor(np.where(inside, bigrams[places], 0)),
            tokens=tensor(token[places]),
        )
        if words is not None and table is not None:
            rows, present = pad_ranges(firsts[chosen], counts[chosen])
            shown = np.full(rows.shape, -1)
            shown[present] = numbers[rows[present]]
            spans = np.zeros((2, *rows.shape), "i8")  # in the window
            offset = np.repeat(windows.starts[chosen], counts[chosen])
            spans[:, present] = words.starts[shown[present]] - offset, words.ends[shown[present]] - offset
            word_ids, distinct = number_words(shown, words, table, device)
            batch = batch._replace(
                words=distinct, word_ids=word_ids, word_starts=tensor(spans[0]), word_ends=tensor(spans[1])
            )
        yield UnitBatch(batch, places[own])
