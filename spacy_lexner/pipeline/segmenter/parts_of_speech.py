"""Parts of speech of tokens, universal (`token.pos_`) and fine-grained (`token.tag_`), as labels and as numbers."""

from typing import Any, Dict, NamedTuple, Sequence

import numpy as np
from spacy.attrs import POS, TAG
from spacy.parts_of_speech import IDS
from spacy.strings import StringStore
from spacy.tokens import Doc

from ...tagging.spans.tag_scheme import Ints1d


class PartOfSpeech(NamedTuple):
    """A kind of part of speech."""

    attribute: int  # of tokens
    name: str  # of the attribute
    space: str  # its value for white space

    def read(self, doc: Doc) -> Ints1d:
        """spaCy's number of each token's part of speech; 0 for none."""
        return doc.to_array([self.attribute]).reshape(-1).astype(np.int64)

    def write(self, doc: Doc, labels: Sequence[str], which: Ints1d) -> None:
        """Set the parts of speech of a Doc, given the index of each token's label; -1 is white space."""
        if len(doc):
            strings = doc.vocab.strings
            numbers: Any = np.array([self.number(label, strings) for label in (*labels, self.space)], dtype=np.uint64)
            doc.from_array([self.attribute], numbers[which])

    def number(self, label: str, strings: StringStore) -> int:
        """spaCy's number of a label."""
        return IDS[label] if self.attribute == POS else strings.add(label)

    def label(self, number: int, strings: StringStore) -> str:
        """The label of a number from `read`."""
        return strings[int(number) % 2**64]

    def check(self, label: Any) -> None:
        """Raise ValueError for a label that tokens cannot have."""
        if self.attribute == POS and label not in IDS:
            known = ", ".join(sorted(filter(None, IDS)))
            raise ValueError(
                f"{label!r} is not a universal part of speech; token.pos_ can be {known}. For others set "
                'pos = "tag" in the config.'
            )


PARTS_OF_SPEECH: Dict[str, PartOfSpeech] = {
    "pos": PartOfSpeech(POS, "token.pos_", "SPACE"),
    "tag": PartOfSpeech(TAG, "token.tag_", "_SP"),
}
