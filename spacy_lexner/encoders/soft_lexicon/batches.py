"""Conversion of Docs and their candidate words to SoftLexicon's input batches."""

from typing import Callable, Iterator

import numpy as np
import torch

from ...candidates.batch_words import BatchWords, expand_ranges
from ...tensors.convert import tensor_of
from ..shared.characters import Characters
from ..shared.units import UnitBatch
from ..shared.vocab import LatticeVocab
from ..shared.windows import Windows, batch_by_padding
from ..shared.words import WordTable, number_words
from .model import SoftBatch
from .word_sets import sort_into_sets


def make_batches(
    characters: Characters,
    vocab: LatticeVocab,
    windows: Windows,
    words: BatchWords,
    table: WordTable,
    frequency: Callable[[np.ndarray], np.ndarray],
    *,
    max_tokens: int,
    batch_cost: int,
    device: torch.device,
) -> Iterator[UnitBatch]:
    """Make batches of windows over the characters of Docs, those of similar length together, with at most `max_tokens`
    characters, padding included. The sets of a character have all its words, wherever windows begin and end.

    words (BatchWords): The words of the Docs, on characters.
    table (WordTable): How the model knows words.
    frequency (Callable): From hashes, uint64[n], to how often each word counts, float64[n].
    batch_cost (int): See `batch_by_padding`.
    YIELDS (UnitBatch): The batches, whose rows are characters.
    """
    ids, bigrams = vocab.encode(characters.codes, characters.doc_ends)
    sets = sort_into_sets(words.starts, words.ends, frequency(words.hashes), len(ids))
    per_unit = sets.sizes.sum(1)
    firsts = np.cumsum(per_unit) - per_unit

    def tensor(array: np.ndarray) -> torch.Tensor:
        return tensor_of(np.ascontiguousarray(array), device)

    for chosen in batch_by_padding(windows.lengths, max_tokens, batch_cost):
        some = windows.take(chosen)
        units = expand_ranges(some.starts, some.lengths)
        window = np.repeat(np.arange(len(chosen)), some.lengths)
        places = units - some.starts[window] + window * int(some.lengths[0])
        own = (units >= some.own_starts[window]) & (units < some.own_ends[window])
        members = expand_ranges(firsts[units], per_unit[units])
        rows, distinct = number_words(sets.words[members], words, table, device)
        sizes = sets.sizes[units].reshape(-1)
        batch = SoftBatch(
            tensor(ids[units]),
            None if bigrams is None else tensor(bigrams[units]),
            distinct,
            rows,
            tensor(sets.weights[members]),
            tensor(np.cumsum(sizes) - sizes),
            tensor_of(some.lengths),
            tensor(places),
            tensor(np.flatnonzero(own)),
        )
        yield UnitBatch(batch, units[own])
