"""From Docs and their candidate words to the lattices that FLAT reads."""

from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.lexicon_node import DocCandidates
from ...candidates.storage import token_borders
from ...lexicon.lexicon import Lexicon
from ...lexicon.normalization import to_codes
from ...lexicon.single_chars import SingleChars, keep_single_chars
from ..shared.padding import batch_by_padding
from ..shared.row_batches import RowBatch
from ..shared.windows import Windows
from ..shared.word_table import WordTable, distinct_words, join_words
from .model import FlatBatch
from .vocab import LatticeVocab


class Characters(NamedTuple):
    """The characters of the tokens of a batch of Docs, one after the other; spaces between tokens are none.

    codes (numpy.ndarray): uint32[n], their code points.
    starts (numpy.ndarray): int64[n_tokens], the first character of each token.
    counts (numpy.ndarray): int64[n_tokens], the characters of each token.
    doc_ends (numpy.ndarray): int64[n_docs], one past the last character of each Doc.
    """

    codes: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    doc_ends: np.ndarray


class LatticeWords(NamedTuple):
    """The candidate words of a batch of Docs, by first character, then by length. Row 0 is no word.

    first, last (numpy.ndarray): int64[1 + n], first and last character of each.
    hashes (numpy.ndarray): uint64[1 + n].
    lengths (numpy.ndarray): int64[1 + n], in characters.
    source (numpy.ndarray): int64[1 + n], which of the lexicons a word belongs to.
    lexicons (List[Lexicon]): The lexicons: one, unless it was swapped while the Docs were on their way.
    """

    first: np.ndarray
    last: np.ndarray
    hashes: np.ndarray
    lengths: np.ndarray
    source: np.ndarray
    lexicons: List[Lexicon]


def read_characters(docs: Sequence[Doc]) -> Characters:
    """Take the characters from Docs.

    docs (Sequence[Doc]): The Docs.
    RETURNS (Characters): Their characters.
    """
    texts = [doc.text for doc in docs]
    codes = to_codes("".join(texts))
    begins, stops, ends = [np.zeros(0, "i8")], [np.zeros(0, "i8")], [0]
    offset = 0
    for doc, text in zip(docs, texts):
        first, last = token_borders(doc)
        begins.append(first + offset)
        stops.append(last + offset)
        ends.append(ends[-1] + int((last - first).sum()))
        offset += len(text)
    begin = np.concatenate(begins)
    counts = np.concatenate(stops) - begin
    starts = np.cumsum(counts) - counts
    if ends[-1] < len(codes):
        codes = codes[_ranges(begin, counts)]
    return Characters(codes, starts, counts, np.array(ends[1:], "i8"))


def place_words(
    docs: Sequence[Doc], candidates: Sequence[DocCandidates], characters: Characters, single_chars: SingleChars
) -> LatticeWords:
    """Place candidate words on characters.

    docs (Sequence[Doc]): The Docs.
    candidates (Sequence[DocCandidates]): The candidates of each.
    characters (Characters): The characters of the Docs.
    single_chars (str): Rule for words of one character, see `keep_single_chars`.
    RETURNS (LatticeWords): The words.
    """
    joined = join_words(docs, candidates)
    begins = characters.starts[joined.first]
    stops = characters.starts[joined.last] + characters.counts[joined.last]
    kept = keep_single_chars(begins, stops, single_chars)
    zero = np.zeros(1, "i8")
    return LatticeWords(
        np.concatenate([zero, begins[kept]]),
        np.concatenate([zero, stops[kept] - 1]),
        np.concatenate([zero.astype("u8"), joined.hashes[kept]]),
        np.concatenate([zero, (stops - begins)[kept]]),
        np.concatenate([zero, joined.source[kept]]),
        joined.lexicons,
    )


def words_in_windows(windows: Windows, words: LatticeWords, max_words: float) -> Tuple[np.ndarray, np.ndarray]:
    """Find the words that lie in windows with all their characters.

    windows (Windows): The windows.
    words (LatticeWords): The words.
    max_words (float): Most words of a window for each of its characters. Where there are more, the longest stay.
    RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): int64[n], words by number, those of the first window first; int64[m],
        how many each window has.
    """
    low = np.searchsorted(words.first[1:], windows.starts) + 1
    counts = np.searchsorted(words.first[1:], windows.ends) + 1 - low
    numbers, window = _ranges(low, counts), np.repeat(np.arange(len(low)), counts)
    whole = words.last[numbers] < windows.ends[window]
    numbers, window = numbers[whole], window[whole]
    counts = np.bincount(window, minlength=len(low))
    limits = ((windows.ends - windows.starts) * max_words).astype("i8")
    if (counts > limits).any():
        by_length = np.lexsort((-words.lengths[numbers], window))
        rank = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
        numbers = numbers[np.sort(by_length[rank < limits[window]])]
        counts = np.minimum(counts, limits)
    return numbers, counts


def make_batches(
    characters: Characters,
    vocab: LatticeVocab,
    windows: Windows,
    words: Optional[LatticeWords],
    table: Optional[WordTable],
    *,
    max_words: float,
    max_tokens: int,
    device: torch.device,
) -> Iterator[RowBatch]:
    """Make padded batches of windows, those of similar size together.

    characters (Characters): The characters of the Docs.
    vocab (LatticeVocab): Their numbers.
    windows (Windows): The windows over them.
    words (Optional[LatticeWords]): Their words, where the model reads any.
    table (Optional[WordTable]): How the model knows words.
    max_words (float): See `words_in_windows`.
    max_tokens (int): Most characters and words of a batch, padding included.
    device (torch.device): Where the tensors go.
    YIELDS (RowBatch): The batches, whose rows are characters.
    """
    ids, bigrams = vocab.encode(characters.codes, characters.doc_ends)
    token = np.repeat(np.arange(len(characters.counts)), characters.counts)
    numbers, counts = np.zeros(0, "i8"), np.zeros(len(windows.starts), "i8")
    if words is not None:
        numbers, counts = words_in_windows(windows, words, max_words)
    firsts = np.cumsum(counts) - counts

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device)

    for chosen in batch_by_padding(windows.ends - windows.starts + counts, max_tokens):
        starts, ends = windows.starts[chosen], windows.ends[chosen]
        places, inside = _pad(starts, ends - starts)
        own = inside & (places >= windows.own_starts[chosen, None]) & (places < windows.own_ends[chosen, None])
        batch = FlatBatch(
            tensor(np.where(inside, ids[places], 0)),
            tensor(np.flatnonzero(own)),
            None if bigrams is None else tensor(np.where(inside, bigrams[places], 0)),
            tokens=tensor(token[places]),
        )
        if words is not None and table is not None:
            rows, present = _pad(firsts[chosen], counts[chosen])
            rows = np.where(present, numbers[rows], 0) if len(numbers) else rows
            word_ids, distinct = distinct_words(rows, words, table, device)
            spans = (np.where(present, part[rows] - starts[:, None], 0) for part in (words.first, words.last))
            batch = batch._replace(
                words=distinct,
                word_ids=tensor(word_ids),
                word_starts=tensor(next(spans)),
                word_ends=tensor(next(spans)),
            )
        yield RowBatch(batch, places[own])


def _pad(starts: np.ndarray, lengths: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Ranges as rows of equal length: int64[n, m] places, 0 in the padding; bool[n, m] where there is none."""
    steps = np.arange(lengths.max(initial=0))
    inside = steps < lengths[:, None]
    return np.where(inside, starts[:, None] + steps, 0), inside


def _ranges(firsts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The ranges `first, first + 1, ...` of the given lengths, one after the other."""
    return np.arange(counts.sum()) + np.repeat(firsts - (np.cumsum(counts) - counts), counts)
