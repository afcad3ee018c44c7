"""Finding all lexicon words in a batch of texts, overlapping ones included, as arrays."""

from hashlib import blake2b
from itertools import pairwise
from typing import List, Literal, NamedTuple, Optional, Sequence, Tuple, get_args

import numpy as np

from .entry import reject_single
from .level import TEXT_SEPARATOR, Candidates
from .lexicon import Lexicon
from .limits import quote
from .rules import Rules
from .trie import CHUNK
from .unbreakable import is_unbreakable

SingleChars = Literal["keep", "drop", "alone", "uncovered"]
InsideLatin = Literal["hints", "all", "none"]
SINGLE_CHARS = get_args(SingleChars)
MAX_LENGTH = 1 << 30  # characters of a word
ALIGNMENT_MODES = ("strict", "contract", "expand")


class MatchOptions(NamedTuple):
    """Which words are candidates.

    min_length (int): Shortest word, in characters. The factory of `lex_matcher` sets 2.
    max_length (Optional[int]): Longest word; None for any.
    single_chars (str): Which words of one character are candidates, see `keep_single_chars`.
    alignment_mode (str): What happens to words that do not begin and end on token boundaries, as in `Doc.char_span`.
        In languages written without spaces every word counts, and only spans (`spans_key`) are aligned. Applied by
        `candidates`: the Matcher knows no tokens.
    inside_latin (str): What happens to words that begin or end inside a Latin word or a number, such as phone in
        iPhone. "hints": they are candidates, but their rules do not apply. "all": their rules apply too, except in
        `lex_segmenter`, which never cuts a Latin word. "none": they are no candidates.
    """

    min_length: int = 1
    max_length: Optional[int] = None
    single_chars: SingleChars = "keep"
    alignment_mode: str = "strict"
    inside_latin: InsideLatin = "hints"


class Matcher:
    """A lexicon and matching options. Immutable and thread-safe. `version` is a 64-bit hash of the lexicon's version
    and the options."""

    def __init__(self, lexicon: Lexicon, options: Optional[MatchOptions] = None) -> None:
        """lexicon (Lexicon): The words to find.
        options (Optional[MatchOptions]): Which words are candidates. Raises ValueError for invalid options.
        """
        self.lexicon = lexicon
        self.options = MatchOptions() if options is None else options
        check_options(self.options)
        state = f"{lexicon.version} {tuple(self.options)}"
        self.version = int.from_bytes(blake2b(state.encode("utf8"), digest_size=8).digest(), "little")

    def match(self, texts: Sequence[str]) -> Tuple[Candidates, np.ndarray]:
        """Find all lexicon words in all texts. No match crosses the end of a text, or white space other than the
        single spaces of the word itself.

        texts (Sequence[str]): The texts.
        RETURNS (Tuple[Candidates, numpy.ndarray]): The words (int32 offsets in their own text), text after text; and
            int64[n_texts + 1], where the words of each text begin, and the end of the last.
        """
        reject_single(texts, "text")
        lengths = np.fromiter(map(len, texts), "i8", len(texts))
        groups = np.cumsum(lengths + 1) // CHUNK  # texts matched together fit into one chunk of the trie
        borders = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(texts)]
        found = [self._match_group(texts[a:b], lengths[a:b]) for a, b in pairwise(borders)]
        words, counts = zip(*found)
        together = words[0] if len(words) == 1 else Candidates(*map(np.concatenate, zip(*words)))
        return together, np.append(0, np.cumsum(np.concatenate(counts)))

    def _match_group(self, texts: Sequence[str], lengths: np.ndarray) -> Tuple[Candidates, np.ndarray]:
        """Match texts as one: their words, and the number of words of each text."""
        options = self.options
        min_length = max(options.min_length, 2) if options.single_chars == "drop" else options.min_length
        text = TEXT_SEPARATOR.join(texts)
        found = self.lexicon.match(text, min_length, options.max_length)
        if options.inside_latin == "none":
            found = found.take(np.flatnonzero(~is_unbreakable(text, np.stack(found[:2])).any(0)))
        if min_length == 1 and options.single_chars != "keep":
            found = found.take(np.flatnonzero(keep_single_chars(found.starts, found.ends, options.single_chars)))
        stops = np.cumsum(lengths + 1)
        counts = np.diff(np.searchsorted(found.starts, stops), prepend=0)
        offsets = np.repeat(stops - lengths - 1, counts)
        starts, ends = ((part - offsets).astype("i4") for part in found[:2])
        return Candidates(starts, ends, found.hashes), counts


def check_options(options: MatchOptions) -> None:
    """Raise ValueError for invalid options, listing the valid ones."""
    if options.single_chars not in SINGLE_CHARS:
        raise ValueError(f"single_chars is {quote(options.single_chars)}; expected one of {', '.join(SINGLE_CHARS)}.")
    if options.alignment_mode not in ALIGNMENT_MODES:
        raise ValueError(
            f"alignment_mode is {quote(options.alignment_mode)}; expected one of {', '.join(ALIGNMENT_MODES)}."
        )
    if options.inside_latin not in get_args(InsideLatin):
        expected = ", ".join(get_args(InsideLatin))
        raise ValueError(f"inside_latin is {quote(options.inside_latin)}; expected one of {expected}.")
    for name, value in (("min_length", options.min_length), ("max_length", options.max_length)):
        is_length = type(value) is int and 1 <= value <= MAX_LENGTH
        if not is_length and not (value is None and name == "max_length"):
            raise ValueError(f"{name} is {quote(value)}; expected an integer from 1 to {MAX_LENGTH}.")
    if options.max_length is not None and options.max_length < options.min_length:
        raise ValueError(f"max_length is {options.max_length}, less than min_length ({options.min_length}).")


def keep_single_chars(starts: np.ndarray, ends: np.ndarray, rule: SingleChars) -> np.ndarray:
    """Decide which one-character words to keep among the words found in a text, as the published systems do.

    starts, ends (numpy.ndarray): int[n], first character, and one past the last; ordered by start, then by end.
    rule (str): Which words of one character stay.
        "keep": all.
        "drop": none (FLAT, `drop_characters`).
        "alone": those where no longer word starts (yangjianxin1/LEBERT-NER-Chinese).
        "uncovered": of these, those not covered by a word with an earlier start (liuwei1206/LEBERT).
    RETURNS (numpy.ndarray): bool[n].
    """
    single = ends - starts == 1
    if rule == "keep":
        return np.ones(len(starts), bool)
    if rule == "drop":
        return ~single
    last_of_start = np.append(starts[1:] != starts[:-1], np.ones(min(1, len(starts)), bool))
    keep = ~single | last_of_start
    if rule == "uncovered":
        reached = np.maximum.accumulate(np.where(single, 0, ends))
        covered = np.append(np.zeros(min(1, len(starts)), bool), reached[:-1] > starts[1:])
        keep &= ~(single & covered)
    return keep


class Occurrence(NamedTuple):
    """A word with rules at characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int
    rules: Rules


def find_occurrences(lexicon: Lexicon, texts: Sequence[str]) -> List[List[Occurrence]]:
    """Find in each text all words that have rules, overlapping, ordered by start, then by length. Matching options do
    not apply: they are for candidates."""
    found: List[List[Occurrence]] = [[] for _ in texts]
    if lexicon.has_rules:
        words, borders = Matcher(lexicon).match(texts)
        for i, rules in sorted(lexicon.rules(words.hashes).items()):
            text = int(np.searchsorted(borders, i, "right")) - 1
            found[text].append(Occurrence(int(words.starts[i]), int(words.ends[i]), rules))
    return found
