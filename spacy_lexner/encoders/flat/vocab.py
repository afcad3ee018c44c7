"""Characters and bigrams by number."""

import sys
from functools import cache, lru_cache
from typing import Any, Dict, Iterable, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, get_args

import numpy as np

from ...lexicon.normalization import to_codes
from ..shared.vector_file import END

PADDING, UNKNOWN = 0, 1  # numbers of characters and bigrams
BITS = 21  # of a code point
Numbers = Literal["keep", "characters", "all"]


class Keys(NamedTuple):
    """What has vectors of its own.

    trained (str): Characters, or bigrams one after the other, that occur in the training texts.
    fixed (str): Others, whose vectors come from a file and stay as they are.
    """

    trained: str
    fixed: str = ""


class LatticeVocab:
    """Numbers characters and bigrams: 0 is padding, 1 is unknown, then those of the training texts, then the others.

    A bigram is a character with the next one of its text, the last character with the end.
    """

    def __init__(self, characters: Keys, bigrams: Optional[Keys], numbers: Numbers = "keep") -> None:
        """Create the lookup.

        characters (Keys): The characters.
        bigrams (Optional[Keys]): The bigrams; None for a model without.
        numbers (str): "characters" reads every digit as 0; "all" those of bigrams too.
        """
        self.numbers = check_numbers(numbers)
        self.n_characters, self.n_fixed_characters = (len(part) for part in characters)
        self.n_bigrams, self.n_fixed_bigrams = (len(part) // 2 for part in bigrams or Keys(""))
        self._characters = _Numbering("".join(characters), 1)
        self._bigrams = None if bigrams is None else _Numbering("".join(bigrams), 2)

    def encode(self, codes: np.ndarray, text_ends: np.ndarray) -> Tuple[np.ndarray, Optional[np.ndarray]]:
        """Look up the characters of texts.

        codes (numpy.ndarray): uint32[n], the code points of all texts, one text after the other.
        text_ends (numpy.ndarray): int64[m], one past the last character of each text.
        RETURNS (Tuple[numpy.ndarray, Optional[numpy.ndarray]]): int64[n] characters; int64[n] bigrams, or None.
        """
        zeroed = codes if self.numbers == "keep" else zero_digits(codes)
        characters = self._characters(zeroed.astype("u8"))
        if self._bigrams is None:
            return characters, None
        return characters, self._bigrams(bigram_keys(zeroed if self.numbers == "all" else codes, text_ends))

    def rows(self, kind: str, keys: Sequence[str]) -> np.ndarray:
        """Number given characters or bigrams.

        kind (str): "characters" or "bigrams".
        keys (Sequence[str]): The characters or bigrams.
        RETURNS (numpy.ndarray): int64[n]; 1 for what is unknown.
        """
        numbering = self._characters if kind == "characters" else self._bigrams
        assert numbering is not None
        return numbering(_pack(to_codes("".join(keys)), 1 if kind == "characters" else 2))


def check_numbers(numbers: str) -> Numbers:
    """RETURNS (str): The same value. Raises ValueError if it is none of the known ones."""
    for known in get_args(Numbers):
        if numbers == known:
            return known
    raise ValueError(f"Unknown numbers = {numbers!r}. Choose one of {get_args(Numbers)}.")


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


def bigram_keys(codes: np.ndarray, text_ends: np.ndarray) -> np.ndarray:
    """Make a number of each character and the next one.

    codes (numpy.ndarray): uint32[n], as for `LatticeVocab.encode`.
    text_ends (numpy.ndarray): int64[m], as there.
    RETURNS (numpy.ndarray): uint64[n].
    """
    following = np.empty(len(codes), "u8")
    following[:-1] = codes[1:]
    following[text_ends[text_ends > 0] - 1] = ord(END)
    return (codes.astype("u8") << np.uint64(BITS)) | following


def zero_digits(codes: np.ndarray) -> np.ndarray:
    """RETURNS (numpy.ndarray): The same code points, with every digit, in whatever script, as 0."""
    digits = _digits()
    place = np.minimum(np.searchsorted(digits, codes), len(digits) - 1)
    return np.where(digits[place] == codes, np.uint32(ord("0")), codes)


@cache
def _digits() -> np.ndarray:
    return np.array([code for code in range(sys.maxunicode + 1) if chr(code).isdigit()], "u4")


def build_vocab(
    texts: Iterable[str],
    *,
    bigrams: bool = True,
    numbers: Numbers = "keep",
    min_count: int = 1,
    bigram_min_count: int = 1,
    fixed_characters: Iterable[str] = (),
    fixed_bigrams: Iterable[str] = (),
) -> Dict[str, Any]:
    """Make the vocabulary of texts.

    texts (Iterable[str]): The texts. Spaces do not count: between tokens they are no characters of a lattice.
    bigrams (bool): Whether there are bigrams.
    numbers (str): See `LatticeVocab`.
    min_count, bigram_min_count (int): Rarer characters and bigrams are left out.
    fixed_characters, fixed_bigrams (Iterable[str]): Those with vectors; what the texts lack of them becomes fixed.
    RETURNS (Dict[str, Any]): Settings for `load_vocab`, plain JSON.
    """
    codes = [to_codes(text.replace(" ", "")) for text in texts]
    joined = np.concatenate([np.zeros(0, "u4"), *codes])
    zeroed = joined if check_numbers(numbers) == "keep" else zero_digits(joined)
    found = _frequent(zeroed.astype("u8"), min_count)
    trained = [chr(code) for code in found]
    settings: Dict[str, Any] = {
        "characters": ["".join(trained), "".join(sorted(set(fixed_characters) - set(trained)))],
        "bigrams": None,
        "numbers": numbers,
    }
    if bigrams:
        keys = bigram_keys(zeroed if numbers == "all" else joined, np.cumsum([len(part) for part in codes], dtype="i8"))
        pairs = [chr(key >> BITS) + chr(key & (1 << BITS) - 1) for key in _frequent(keys, bigram_min_count)]
        settings["bigrams"] = ["".join(pairs), "".join(sorted(set(fixed_bigrams) - set(pairs)))]
    return settings


def _frequent(keys: np.ndarray, min_count: int) -> List[int]:
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct[counts >= min_count].tolist()


def load_vocab(settings: Mapping[str, Any]) -> LatticeVocab:
    """Make the lookup that settings describe; the same one for the same settings.

    settings (Mapping[str, Any]): What `build_vocab` gives.
    RETURNS (LatticeVocab): The lookup.
    """
    bigrams = settings["bigrams"]
    return _load(Keys(*settings["characters"]), None if bigrams is None else Keys(*bigrams), settings["numbers"])


_load = lru_cache(maxsize=16)(LatticeVocab)  # asked for at every call of a model
