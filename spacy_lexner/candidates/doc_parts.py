"""Parts of a Doc as Docs of their own, with everything an encoder may read: candidates, token annotation, user data."""

from typing import Any, Dict, Iterator, List, Sequence, Tuple

import numpy as np
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, LEMMA, MORPH, POS, TAG
from spacy.tokens import Doc

from ..lexicon.level import Candidates
from .storage import USER_DATA_KEY, get_candidates, set_candidates, token_borders

ENTITY_ATTRIBUTES = [ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID]
ATTRIBUTES = [*ENTITY_ATTRIBUTES, TAG, POS, MORPH, LEMMA]
UNDERSCORE = "._."  # extension attributes have the keys (UNDERSCORE, name, start, end); `end` is None for a token


def copy_tokens(doc: Doc) -> Doc:
    """RETURNS (Doc): The tokens of a Doc and nothing else."""
    return Doc(doc.vocab, words=[token.text for token in doc], spaces=[bool(token.whitespace_) for token in doc])


def cut_out(doc: Doc, ranges: Sequence[Tuple[int, int]]) -> Iterator[Doc]:
    """YIELDS (Doc): The tokens of each range (start, end), which must not be empty. A part has the candidates and
    entities that lie wholly inside it, the user data of the whole Doc, and that of the tokens and spans inside it.
    Syntax, sentences and span groups are left out."""
    words = [token.text for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    begins, stops = token_borders(doc)
    annotation = _Annotation(doc)
    user_data = _UserData(doc)
    stored = get_candidates(doc)
    for start, end in ranges:
        first, last = int(begins[start]), int(stops[end - 1])
        part = Doc(doc.vocab, words[start:end], spaces[start:end], user_data=user_data.part(first, last))
        annotation.write(part, start, end)
        if stored is not None:
            version, found = stored
            # With the dtype of `starts`, or numpy would convert that whole array for each range.
            low, high = np.searchsorted(found.starts, np.array([first, last], found.starts.dtype))
            own = found.take(slice(low, high))
            own = own.take(own.ends <= last)
            set_candidates(part, version, Candidates(own.starts - first, own.ends - first, own.hashes))
        yield part


class _Annotation:
    """The annotation of a Doc's tokens."""

    def __init__(self, doc: Doc) -> None:
        self._values = doc.to_array(ATTRIBUTES)
        self._starts = np.arange(len(doc))  # int64[n_tokens], of the entity that a token is in
        self._ends = self._starts + 1
        for ent in doc.ents:
            self._starts[ent.start : ent.end], self._ends[ent.start : ent.end] = ent.start, ent.end

    def write(self, part: Doc, start: int, end: int) -> None:
        values = self._values[start:end]
        if values.any():
            cut = (self._starts[start:end] < start) | (self._ends[start:end] > end)
            values = values.copy()
            values[cut, : len(ENTITY_ATTRIBUTES)] = 0
            part.from_array(ATTRIBUTES, values)  # type: ignore[arg-type]


class _UserData:
    """The user data of a Doc, without its candidates."""

    def __init__(self, doc: Doc) -> None:
        self._of_doc: Dict[Any, Any] = {}
        self._placed: List[Tuple[int, int, str, Any]] = []  # start, end (-1 for a token), name, value
        for key, value in doc.user_data.items():
            if isinstance(key, tuple) and key[:1] == (UNDERSCORE,) and key[2] is not None:
                self._placed.append((key[2], -1 if key[3] is None else key[3], key[1], value))
            elif key != USER_DATA_KEY:
                self._of_doc[key] = value
        self._placed.sort(key=lambda one: one[0])
        self._starts = np.array([one[0] for one in self._placed], "i8")

    def part(self, first: int, last: int) -> Dict[Any, Any]:
        """RETURNS (Dict[Any, Any]): The user data of the part from character `first` to `last`, at its new offsets."""
        low, high = np.searchsorted(self._starts, [first, last])
        inside = (one for one in self._placed[low:high] if one[1] <= last)
        moved = {
            (UNDERSCORE, name, start - first, None if end < 0 else end - first): value
            for start, end, name, value in inside
        }
        return {**self._of_doc, **moved}
