"""Characters and bigrams by number: 0 is padding, 1 is unknown, then those of the training texts, then the others."""

import sys
from functools import cache, lru_cache
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, get_args

import numpy as np

from ...lexicon.limits import quote
from ...lexicon.normalization import Normalization, to_codes
from .character_options import CharacterOptions, Numbers
from .read_as import load_normalization, save_normalization
from .vector_file import END
from .weights import check_ids

PADDING, UNKNOWN = 0, 1
BITS = 21  # of a code point
Keys = Tuple[str, str]  # of what has vectors: those of the training texts, trained, and those of a file, fixed


class LatticeVocab:
    """Numbers of characters and bigrams, of the trained ones first, then of the fixed ones. A bigram is a
    character with the next one of its text, or with the end. Texts are normalised, the keys are. For `numbers` see
    `CharacterOptions`."""

    def __init__(
        self, characters: Keys, bigrams: Optional[Keys], numbers: Numbers, normalization: Normalization
    ) -> None:
        self.numbers, self.normalization = numbers, normalization
        self.n_characters, self.n_fixed_characters = (len(part) for part in characters)
        self.n_bigrams, self.n_fixed_bigrams = (len(part) // 2 for part in bigrams or ("", ""))
        self._characters = _Numbering("".join(characters), 1)
        self._bigrams = None if bigrams is None else _Numbering("".join(bigrams), 2)

    @property
    def has_bigrams(self) -> bool:
        return self._bigrams is not None

    def encode(self, codes: np.ndarray, text_ends: np.ndarray) -> Tuple[np.ndarray, Optional[np.ndarray]]:
        """Look up the n characters of texts.

        codes (numpy.ndarray): uint32[n], their code points, one text after the other.
        text_ends (numpy.ndarray): int64[m], one past the last character of each text.
        RETURNS (Tuple[numpy.ndarray, Optional[numpy.ndarray]]): int64[n] characters; int64[n] bigrams, or None.
        """
        characters, bigrams = _read(self.normalization.codes(codes), text_ends, self.numbers)
        return self._characters(characters), None if self._bigrams is None else self._bigrams(bigrams)

    def rows(self, kind: str, keys: Sequence[str]) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the numbers of given "characters" or "bigrams"."""
        numbering = self._characters if kind == "characters" else self._bigrams
        assert numbering is not None
        return numbering(_pack(to_codes("".join(keys)), 1 if kind == "characters" else 2))


class _Numbering:
    def __init__(self, keys: str, size: int) -> None:
        packed = _pack(to_codes(keys), size)
        self._order = np.argsort(packed, kind="stable")
        self._keys = packed[self._order]

    def __call__(self, keys: np.ndarray) -> np.ndarray:
        if not len(self._keys):
            return np.full(len(keys), UNKNOWN, "i8")
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._order[place] + UNKNOWN + 1, UNKNOWN)


def _pack(codes: np.ndarray, size: int) -> np.ndarray:
    codes = codes.astype("u8")
    return codes if size == 1 else (codes[0::2] << np.uint64(BITS)) | codes[1::2]


def _read(codes: np.ndarray, text_ends: np.ndarray, numbers: Numbers) -> Tuple[np.ndarray, np.ndarray]:
    """The characters and bigrams of texts as uint64[n] keys."""
    zeroed = codes if numbers == "keep" else np.where(np.isin(codes, _digits()), np.uint32(ord("0")), codes)
    paired = zeroed if numbers == "all" else codes
    following = np.empty(len(codes), "u8")
    following[:-1] = paired[1:]
    following[text_ends[text_ends > 0] - 1] = ord(END)
    return zeroed.astype("u8"), (paired.astype("u8") << np.uint64(BITS)) | following


@cache
def _digits() -> np.ndarray:
    """The code points of digits of any script."""
    return np.array([code for code in range(sys.maxunicode + 1) if chr(code).isdigit()], "u4")


def build_vocab(
    texts: Iterable[str],
    options: CharacterOptions = CharacterOptions(),  # noqa: B008 (frozen)
    fixed_characters: Iterable[str] = (),
    fixed_bigrams: Iterable[str] = (),
    normalization: Normalization = Normalization(),  # noqa: B008 (immutable)
) -> Dict[str, Any]:
    """Make the vocabulary of texts. Spaces do not count: between tokens they are not characters of a lattice.

    texts (Iterable[str]): The texts.
    options (CharacterOptions): Options.
    fixed_characters, fixed_bigrams (Iterable[str]): Those with vectors; the ones that the texts lack become fixed.
    normalization (Normalization): How texts are normalised; the fixed ones are.
    RETURNS (Dict[str, Any]): Settings for `load_vocab`, plain JSON.
    """
    codes = [to_codes(normalization(text.replace(" ", ""))) for text in texts]
    ends = np.cumsum([len(part) for part in codes], dtype="i8")
    characters, pairs = _read(np.concatenate([np.zeros(0, "u4"), *codes]), ends, options.numbers)
    trained = [chr(code) for code in _frequent(characters, options.min_count)]
    settings = {"characters": _keys(trained, fixed_characters), "bigrams": None, "numbers": options.numbers}
    settings.update(save_normalization(normalization))
    if options.bigrams:
        frequent = _frequent(pairs, options.bigram_min_count)
        trained = [chr(key >> BITS) + chr(key & (1 << BITS) - 1) for key in frequent]
        settings["bigrams"] = _keys(trained, fixed_bigrams)
    return settings


def _keys(trained: Sequence[str], fixed: Iterable[str]) -> List[str]:
    return ["".join(trained), "".join(sorted(set(fixed) - set(trained)))]


def _frequent(keys: np.ndarray, min_count: int) -> List[int]:
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct[counts >= min_count].tolist()


def load_vocab(settings: Mapping[str, Any]) -> LatticeVocab:
    """RETURNS (LatticeVocab): The lookup that `build_vocab` describes; the same object for equal settings."""
    bigrams = settings["bigrams"]
    keys = tuple(settings["characters"]), None if bigrams is None else tuple(bigrams)
    return _load(*keys, settings["numbers"], load_normalization(settings))


def check_tables(vocab: LatticeVocab, tables: Mapping[str, int]) -> None:
    """Raise ValueError if a vocabulary has numbers that the tables of `LatticeEmbedding` do not have, or lacks the
    bigrams that these have."""
    if vocab.numbers not in get_args(Numbers):
        raise ValueError(f"numbers is {quote(vocab.numbers)}; expected one of {', '.join(get_args(Numbers))}")
    if tables.get("n_bigrams", 0) and not vocab.has_bigrams:
        raise ValueError(f"there are {tables['n_bigrams']} rows for bigrams, and none in the vocabulary")
    n_rows = tables["n_characters"] + tables.get("n_fixed_characters", 0)
    last = vocab.n_characters + vocab.n_fixed_characters + UNKNOWN
    check_ids({"the last character": last}, n_rows, "rows for characters")
    if n_rows := tables.get("n_bigrams", 0):
        n_rows += tables.get("n_fixed_bigrams", 0)
        check_ids({"the last bigram": vocab.n_bigrams + vocab.n_fixed_bigrams + UNKNOWN}, n_rows, "rows for bigrams")


_load = lru_cache(maxsize=16)(LatticeVocab)  # asked for at every call of a model
