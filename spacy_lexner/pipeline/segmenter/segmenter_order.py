"""Where in a pipeline characters become words, and what that means for the components behind."""

import logging

from spacy.language import Language
from spacy.pipeline import TrainablePipe

logger = logging.getLogger(__name__)


def check_order(nlp: Language, name: str) -> None:
    """Check that no component behind one that merges tokens is trained on other tokens than it will see.

    nlp (Language): The pipeline.
    name (str): The component that merges tokens. Raises ValueError if one behind it shares an encoder that stands
        before it, which reads characters; warns if one is trained on characters, but will see words.
    """
    if name not in nlp.pipe_names:
        return
    place = nlp.pipe_names.index(name)
    behind = nlp.pipe_names[place + 1 :]
    for before, pipe in nlp.pipeline[:place]:
        listening = getattr(pipe, "listening_components", ()) if isinstance(pipe, TrainablePipe) else ()
        if lost := [component for component in behind if component in listening]:
            raise ValueError(
                f"{lost[0]!r} shares the encoder {before!r}, which reads characters, but comes behind {name!r}, which "
                f"merges these into words. Put {name!r} behind {lost[0]!r}, or let it only write its words to "
                f"doc.spans (retokenize = false), or give {lost[0]!r} an encoder of its own."
            )
    annotating = nlp.config["training"]["annotating_components"]
    frozen = nlp.config["training"]["frozen_components"]
    learning = [c for c, pipe in nlp.pipeline[place + 1 :] if isinstance(pipe, TrainablePipe) and c not in frozen]
    if learning and name not in annotating:
        logger.warning(
            "%s merges characters into words, and %s comes behind it, but is trained on characters, because %s is none "
            "of training.annotating_components. Add it there, or put it behind %s.",
            *(name, learning[0], name, learning[0]),
        )
