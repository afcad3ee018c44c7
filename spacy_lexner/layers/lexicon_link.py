"""The place in a model where a `lex_matcher` leaves its lexicon."""

from typing import Optional

from ..lexicon.source import LexiconSource


class LexiconLink:
    """Holds the source that a model reads candidate words from. Never saved with the model (thinc leaves out attributes
    that it cannot serialise), and a copy of the model keeps the same source."""

    def __init__(self) -> None:
        self.source: Optional[LexiconSource] = None

    def require(self) -> LexiconSource:
        """RETURNS (LexiconSource): The source. Raises ValueError where none is linked."""
        if self.source is None:
            raise ValueError(
                "The model reads candidate words, but no lexicon is linked to it. Add a `lex_matcher` to the pipeline, "
                'before the component that holds this model: nlp.add_pipe("lex_matcher", first=True), give it words, '
                "and call nlp.initialize() or load the pipeline again."
            )
        return self.source
