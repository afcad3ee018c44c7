"""The part of `lex_segmenter` that learns: labels and annotation."""

import logging
from typing import Callable, Iterable, Optional, Sequence, Set

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...tagging.spans.tag_scheme import Bools2d, UnknownLabelError
from ...tagging.spans.word_borders import UNKNOWN, border_tags, fixed_borders, is_space
from ..sequence_tagger import SequenceTagger
from .decree_words import WORD
from .gold_words import gold_words
from .gold_words_report import GoldWordsReport, survey_words
from .parts_of_speech import PARTS_OF_SPEECH, PartOfSpeech
from .segmenter_order import check_order
from .word_search import allow

logger = logging.getLogger(__name__)


class WordTraining(SequenceTagger):
    """Learns words and their parts of speech. A subclass sets `retokenize`, and `cfg["pos"]`.

    gold_report (GoldWordsReport): What could not be learned.
    """

    retokenize: bool
    gold_report: GoldWordsReport

    @property
    def part(self) -> Optional[PartOfSpeech]:
        """RETURNS (Optional[PartOfSpeech]): Which part of speech is learned."""
        return PARTS_OF_SPEECH.get(self.cfg["pos"])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        labels: Optional[Sequence[str]] = None,
    ) -> None:
        """Set the labels, check the annotation and the order of the pipeline, and initialise the model.

        get_examples (Callable[[], Iterable[Example]]): Gives the training examples.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Sequence[str]]): The labels; without them, the parts of speech of the examples, sorted.
        """
        if nlp is not None and self.retokenize:
            check_order(nlp, self.name)
        super().initialize(get_examples, nlp=nlp, labels=labels)

    def survey(self, examples: Iterable[Example]) -> Set[str]:
        """Collect the parts of speech of the examples, and the hashes of their words, by which scores tell new words.
        Count in `gold_report` the words that cannot be learned as they are; if there are any, a warning tells."""
        try:
            labels, known_words, self.gold_report = survey_words(examples, self.part)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        self.cfg["known_words"] = known_words.tolist()
        if self.gold_report.message:
            logger.warning("%s: %s", self.name, self.gold_report.message)
        return labels if self.part is not None else {WORD}

    def gold(self, example: Example) -> Bools2d:
        doc = example.predicted
        found = gold_words(example, fixed_borders(doc), self.part)
        labels = np.zeros(len(doc), dtype=np.int64)
        if self.part is not None:
            numbers, inverse = np.unique(found.tags, return_inverse=True)
            labels = np.array([self._index(number, example.reference) for number in numbers.tolist()], "i8")[inverse]
        return border_tags(found.borders, labels, is_space(doc), len(self.labels))

    def _index(self, number: int, reference: Doc) -> int:
        """The label of a part of speech, given by spaCy's number for it."""
        if not number or self.part is None:
            return UNKNOWN
        label = self.part.label(number, reference.vocab.strings)
        try:
            return self.scheme.index(label)
        except UnknownLabelError:
            raise ValueError(
                f"{self.name}: the annotation of {reference.text[:40]!r} has the part of speech {label!r}, which was "
                f"not there when the component was initialised (it knows {', '.join(self.labels)}). Either call "
                f"nlp.get_pipe({self.name!r}).add_label({label!r}) before this update, or initialise with it."
            ) from None

    def add_label(self, label: str) -> int:
        """Add a part of speech. A model that is trained keeps what it knows; the new one has to be learned.

        label (str): The part of speech.
        RETURNS (int): 0 if it was there, otherwise 1.
        """
        if isinstance(label, str) and label not in self.labels:
            if self.part is None:
                raise ValueError(f"{self.name}: with pos = null {WORD!r} is the only label; {label!r} has no use.")
            self.part.check(label)
        return super().add_label(label)

    def set_output(self, nO: int) -> None:
        """Add tags to the model. The new ones start from those of the first label.

        nO (int): The new number of tags.
        """
        self.model.attrs["resize_output"](self.model, nO, templates=(1, 2, 3, 4))

    def training_constraint(self, doc: Doc) -> Bools2d:
        return allow(doc, fixed_borders(doc), len(self.labels))
