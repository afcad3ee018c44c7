"""Wordpieces of spaCy tokens: each token is looked up on its own, so that every character keeps a piece of its own."""

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc
from tokenizers import Tokenizer
from tokenizers.models import WordLevel, WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from ...lexicon.normalization import Normalization
from .read_as import KEY, load_normalization
from .weights import check_ids

SPECIAL_PIECES = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
MAX_CACHED = 100_000


class Wordpieces:
    """Turns tokens into wordpieces, as a checkpoint's own tokenizer would turn each token by itself. BERT's tokenizers
    make one piece of every Chinese character. A token without pieces (white space, control characters) gets the unknown
    piece, so every token has at least one."""

    def __init__(
        self,
        tokenizer: str,
        *,
        pad: int,
        unk: int,
        cls: int,
        sep: int,
        mask: int,
        normalization: Normalization = Normalization(),  # noqa: B008 (immutable)
    ) -> None:
        """`tokenizer` is one of the `tokenizers` library, as JSON, `normalization` what happens to a token before it is
        looked up; the others are the ids of the special pieces."""
        self.tokenizer = Tokenizer.from_str(tokenizer)
        self.tokenizer.encode_special_tokens = True  # a text that says "[SEP]" is no separator
        self.normalization = normalization
        self.pad, self.unk, self.cls, self.sep, self.mask = pad, unk, cls, sep, mask
        self._size = 1 + max(self.tokenizer.get_vocab().values())
        self._cache: Dict[int, List[int]] = {}

    def __len__(self) -> int:
        """The ids, used or not: a piece on several lines of a vocab.txt has the number of the last."""
        return self._size

    def pieces(self, text: str) -> List[int]:
        """The ids of the pieces of a token, at least one."""
        return self.tokenizer.encode(self.normalization(text), add_special_tokens=False).ids or [self.unk]

    def names(self, ids: np.ndarray) -> List[str]:
        """The pieces with these ids."""
        distinct, inverse = np.unique(ids, return_inverse=True)
        names = [self.tokenizer.id_to_token(piece) for piece in distinct.tolist()]
        return [names[i] for i in inverse.tolist()]

    def encode(self, docs: Sequence[Doc]) -> Tuple[np.ndarray, np.ndarray]:
        """The ids of the pieces of all tokens of Docs, int64[n_pieces], and the pieces per token, int64[n_tokens]. Each
        distinct text is looked up once."""
        orths = np.concatenate([np.zeros(0, "u8"), *(doc.to_array([ORTH]).reshape(-1) for doc in docs)])
        distinct, where, inverse = np.unique(orths, return_index=True, return_inverse=True)
        if len(self._cache) > MAX_CACHED:
            self._cache = {}
        cache = self._cache  # threads may share it: each entry is the same, whoever computes it
        ends = np.cumsum([len(doc) for doc in docs])
        found: List[List[int]] = []
        for orth, index in zip(distinct.tolist(), where.tolist()):
            pieces = cache.get(orth)
            if pieces is None:
                i = int(np.searchsorted(ends, index, "right"))
                pieces = cache[orth] = self.pieces(docs[i][index - int(ends[i])].text)
            found.append(pieces)
        lengths = np.array([len(pieces) for pieces in found], "i8")
        flat = np.array([piece for pieces in found for piece in pieces], "i8")
        counts = lengths[inverse]
        begins = (np.cumsum(lengths) - lengths)[inverse]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return flat[np.repeat(begins, counts) + within], counts


@lru_cache(maxsize=16)
def _load(tokenizer: str, normalization: Normalization, **special: int) -> Wordpieces:
    return Wordpieces(tokenizer, normalization=normalization, **special)


def load_wordpieces(settings: Mapping[str, Any]) -> Wordpieces:
    """The lookup for settings, which are the arguments of Wordpieces; the same one for the same settings."""
    given = {name: value for name, value in settings.items() if name != KEY}
    return _load(**given, normalization=load_normalization(settings))


def check_pieces(settings: Mapping[str, Any]) -> None:
    """Raise ValueError if the settings of a module, if they say both, have other "wordpieces" than the "encoder" has
    rows for."""
    pieces, n_rows = settings.get("wordpieces"), settings["encoder"].get("vocab_size")
    if pieces is None or n_rows is None:
        return
    check_ids({name: pieces[name] for name in SPECIAL_PIECES}, n_rows, "rows for wordpieces")
    if (n_pieces := len(load_wordpieces(pieces))) > n_rows:
        raise ValueError(f"the tokenizer has {n_pieces} wordpieces, and the model {n_rows} rows for them")


def vocab_settings(vocab: Sequence[str], *, lower_case: bool = True) -> Dict[str, Any]:
    """Settings for `load_wordpieces` from a WordPiece vocabulary, pieces in order of their ids, those inside a word
    with "##". Normalised as by BERT's tokenizer: `lower_case` removes case and accents of letters. Raises ValueError
    where a special piece is missing."""
    ids = _piece_ids(vocab)
    tokenizer = Tokenizer(WordPiece(ids, unk_token=SPECIAL_PIECES["unk"]))
    tokenizer.normalizer = BertNormalizer(lowercase=lower_case)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return {"tokenizer": tokenizer.to_str(), **{name: ids[piece] for name, piece in SPECIAL_PIECES.items()}}


def lookup_settings(vocab: Sequence[str]) -> Dict[str, Any]:
    """Settings for `load_wordpieces` that look up whole tokens, unchanged; one that is no line of the vocabulary is
    unknown. Raises ValueError where a special piece is missing."""
    ids = _piece_ids(vocab)
    tokenizer = Tokenizer(WordLevel(ids, unk_token=SPECIAL_PIECES["unk"]))
    return {"tokenizer": tokenizer.to_str(), **{name: ids[piece] for name, piece in SPECIAL_PIECES.items()}}


def _piece_ids(vocab: Sequence[str]) -> Dict[str, int]:
    ids = {piece: i for i, piece in enumerate(vocab)}
    missing = [piece for piece in SPECIAL_PIECES.values() if piece not in ids]
    if missing:
        raise ValueError(
            f"The vocabulary of {len(vocab)} pieces lacks {', '.join(missing)}. Expected a BERT vocab.txt: one piece a "
            f"line, among them {', '.join(SPECIAL_PIECES.values())}."
        )
    return ids


def read_vocab(path: Union[str, Path]) -> List[str]:
    """The pieces of a vocab.txt, UTF-8. Only a line feed ends a line: BERT's Chinese vocabulary has pieces that Python
    takes for line ends, or for white space to strip. Raises ValueError if it cannot be read."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")  # some editors write a byte-order mark
    except OSError as error:
        raise ValueError(f"The vocabulary {str(path)!r} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"The vocabulary {str(path)!r} is not UTF-8 (byte {error.start}).") from error
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def build_vocab(tokens: Mapping[str, int], *, lower_case: bool = True, min_count: int = 1) -> List[str]:
    """Make a vocabulary of the characters in tokens, given how often each token occurs: the special pieces, then by
    frequency. A character inside a word of letters or digits is a piece of its own ("##a"), so that any word can be
    spelled. Characters rarer than `min_count` become the unknown piece; for `lower_case` see `vocab_settings`."""
    normalizer, splitter = BertNormalizer(lowercase=lower_case), BertPreTokenizer()
    counts: Counter[str] = Counter()
    for text, count in tokens.items():
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text)):
            for piece in (word[0], *(f"##{character}" for character in word[1:])):
                counts[piece] += count
    frequent = sorted((-count, piece) for piece, count in counts.items() if count >= min_count)
    return [*SPECIAL_PIECES.values(), *(piece for _, piece in frequent)]
