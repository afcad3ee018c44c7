"""The labels of a trainable pipe, in the order of their tags."""

import logging
from typing import Any, Dict, List, Optional, Sequence, Tuple

from spacy.errors import Errors
from thinc.api import Model

from ..tagging.spans.tag_scheme import TagScheme

logger = logging.getLogger(__name__)


class TagLabels:
    """The labels of a tagger, kept in its saved `cfg`."""

    def __init__(self, cfg: Dict[str, Any], model: Model) -> None:
        self._cfg = cfg
        self._model = model
        self._scheme = TagScheme(())

    @property
    def names(self) -> Tuple[str, ...]:
        return tuple(self._cfg["labels"])

    @property
    def _fixed(self) -> Optional[Sequence[str]]:
        """The labels of a published model, whose tags cannot change."""
        return self._model.attrs.get("labels")

    @property
    def are_fixed(self) -> bool:
        """Whether the model has the tags of a published model."""
        return self._fixed is not None

    @property
    def scheme(self) -> TagScheme:
        """The tags of the labels."""
        if self._scheme.labels != self.names:
            self._scheme = TagScheme(self.names)
        return self._scheme

    def add(self, label: str, component: str) -> bool:
        """Add a label, and return whether it is new. Raises ValueError if it is invalid or cannot be added."""
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
        if label in self.names:
            return False
        if self._fixed is not None and label not in self._fixed:
            raise ValueError(
                f"{component}: {label!r} cannot be added, since the tags of the model are fixed. Its labels are "
                f"{', '.join(self._fixed)}."
            )
        if not label or label != label.strip():
            raise ValueError(f"{component}: {label!r} is not a label: it is empty or has white space at its edges.")
        self._cfg["labels"].append(label)
        return True

    def choose(self, found: Sequence[str], given: Optional[Sequence[str]], component: str) -> List[str]:
        """Choose the labels to train: those of the model, and those given or else found in the examples. Warns of other
        labels in the examples. Raises ValueError if there are none at all."""
        chosen = [*(self._fixed or ()), *(found if given is None else given)]
        if unknown := [label for label in found if label not in (*self.names, *chosen)]:
            logger.warning("%s: the examples have labels that were not given to initialize: %s", component, unknown)
        if not chosen and not self.names:
            raise ValueError(Errors.E143.format(name=component))
        return chosen
