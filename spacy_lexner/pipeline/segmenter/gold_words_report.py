"""What training examples have to teach about words, and an account of what cannot be learned as it is."""

from dataclasses import dataclass, field
from typing import Iterable, List, Optional, Set, Tuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Example

from ...tagging.spans.tag_scheme import Ints1d
from ...tagging.spans.word_borders import fixed_borders, is_space
from .gold_words import GoldWords, gold_words, is_segmented
from .parts_of_speech import PartOfSpeech

MAX_SHOWN = 5


@dataclass
class GoldWordsReport:
    """How many gold words of the training examples can be learned as they are.

    texts (int), segmented (int): All texts, and those that say what their words are.
    words (int): All words.
    misaligned (int): Those whose edges are not token edges.
    joined (int): Those that the rules join to a neighbour.
    cut (int): Those that the rules cut.
    shown (List[str]): A few of the last three.
    """

    texts: int = 0
    segmented: int = 0
    words: int = 0
    misaligned: int = 0
    joined: int = 0
    cut: int = 0
    shown: List[str] = field(default_factory=list)

    def add(self, reference: Doc, words: GoldWords) -> None:
        """Count the words of an annotated Doc.

        reference (Doc): The Doc.
        words (GoldWords): What was found in it.
        """
        self.texts += 1
        if not is_segmented(reference):
            return
        self.segmented += 1
        self.words += int((~is_space(reference)).sum())
        self.misaligned += len(words.misaligned)
        self.joined += len(words.joined)
        self.cut += len(words.cut)
        self._show(reference, words.misaligned, "not on token boundaries")
        self._show(reference, words.joined, "joined to a neighbour")
        self._show(reference, words.cut, "cut")

    @property
    def message(self) -> Optional[str]:
        """RETURNS (Optional[str]): What to tell the user, if anything."""
        if not self.misaligned and not self.joined and not self.cut:
            return None
        return (
            f"of {self.words} gold words, {self.misaligned} are not on the boundaries of the tokenizer's tokens, which "
            f"should be characters (spacy-lexner.CharTokenizer.v1), {self.joined} are parts of what is never cut "
            f"(Latin words, numbers, signs) and {self.cut} reach over what is never joined (white space, the words of "
            f"texts that come in words), for example: {'; '.join(self.shown)}"
        )

    def _show(self, doc: Doc, words: Ints1d, reason: str) -> None:
        for i in words[: max(0, MAX_SHOWN - len(self.shown))].tolist():
            token = doc[i]
            around = doc.text[max(0, token.idx - 10) : token.idx + len(token) + 10]
            self.shown.append(f"{token.text!r} in {around!r}: {reason}")


def survey_words(
    examples: Iterable[Example], part: Optional[PartOfSpeech]
) -> Tuple[Set[str], NDArray[np.uint64], GoldWordsReport]:
    """Look through examples.

    examples (Iterable[Example]): The examples.
    part (Optional[PartOfSpeech]): Which part of speech to collect.
    RETURNS (Tuple[Set[str], numpy.ndarray, GoldWordsReport]): The parts of speech; spaCy's hashes of the words, sorted;
        the report. Raises ValueError where nothing can be learned, or a text is not that of its annotation.
    """
    labels: Set[str] = set()
    hashes = [np.zeros(0, dtype=np.uint64)]
    report = GoldWordsReport()
    for example in examples:
        reference = example.reference
        report.add(reference, gold_words(example, fixed_borders(example.predicted), part))
        if not is_segmented(reference):
            continue
        solid = ~is_space(reference)
        hashes.append(np.unique(reference.to_array([ORTH]).reshape(-1)[solid]))
        if part is not None:
            numbers = np.unique(part.read(reference)[solid])
            labels.update(part.label(number, reference.vocab.strings) for number in numbers[numbers != 0].tolist())
    if report.texts and not report.segmented:
        raise ValueError(
            f"None of the {report.texts} examples says what its words are. The tokens of a reference Doc have to be "
            "words, some of them of two characters or more, or to have parts of speech."
        )
    if part is not None and report.segmented and not labels:
        raise ValueError(f"The examples have words, but none has a {part.name}. To learn words alone, set pos = null.")
    return labels, np.unique(np.concatenate(hashes)), report
