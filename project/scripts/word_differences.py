"""Where two segmentations of the same texts differ, and how: one is finer, the other is, or their words cross."""

from __future__ import annotations

from collections import Counter
from typing import Dict, Iterable, Iterator, NamedTuple, Sequence, Tuple

from spacy.training import Example

from spacy_lexner.pipeline.segmenter.gold_words import SPACE, word_offsets


class Stretch(NamedTuple):
    """A shortest stretch of text between two borders that both segmentations share, within which they differ.

    gold (Tuple[str, ...]): Its words in the annotation.
    found (Tuple[str, ...]): Its words in the prediction.
    """

    gold: Tuple[str, ...]
    found: Tuple[str, ...]

    @property
    def kind(self) -> str:
        """RETURNS (str): "split" (a gold word into several), "joined" (several into one), otherwise "crossed"."""
        if len(self.gold) == 1:
            return "split"
        return "joined" if len(self.found) == 1 else "crossed"

    def __str__(self) -> str:
        return f"{' '.join(self.gold)} → {' '.join(self.found)}"


def differences(examples: Iterable[Example]) -> Counter[Stretch]:
    """Count the stretches in which prediction and annotation differ.

    examples (Iterable[Example]): Predicted and annotated Docs of the same texts.
    RETURNS (Counter[Stretch]): How often each occurs.
    """
    return Counter(stretch for example in examples for stretch in stretches(example))


def stretches(example: Example) -> Iterator[Stretch]:
    """YIELDS (Stretch): The stretches of one text in which prediction and annotation differ."""
    text = SPACE.sub("", example.reference.text)
    gold, found = (word_offsets(doc)[1].tolist() for doc in (example.reference, example.predicted))
    common = sorted(set(gold) & set(found))
    for begin, end in zip([0, *common], common):
        sides = [cut(text, begin, [place for place in ends if begin < place <= end]) for ends in (gold, found)]
        if sides[0] != sides[1]:
            yield Stretch(*sides)


def cut(text: str, begin: int, ends: Sequence[int]) -> Tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The words of a text from an offset on, given where they end."""
    return tuple(text[i:j] for i, j in zip([begin, *ends], ends))


def summarise_differences(counts: Counter[Stretch], n_common: int = 12) -> Dict[str, Dict[str, int]]:
    """RETURNS (Dict[str, Dict[str, int]]): For each kind the number of stretches, under "all", and of the most common
    ones."""
    summary: Dict[str, Dict[str, int]] = {}
    for kind in ("split", "joined", "crossed"):
        of_kind = Counter({stretch: n for stretch, n in counts.items() if stretch.kind == kind})
        common = {str(stretch): n for stretch, n in of_kind.most_common(n_common)}
        summary[kind] = {"all": of_kind.total(), **common}
    return summary
