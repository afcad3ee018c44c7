"""`spacy-lexner.collect_texts.v1`: all training texts for models that learn from them when they are initialised."""

from typing import Callable, Iterable, Optional

from spacy.language import Language
from spacy.training import Example
from spacy.util import resolve_dot_names
from thinc.api import Model

from ..candidates.training_texts import show_training_docs

CorpusT = Callable[[Language], Iterable[Example]]


def create_text_collector(corpus: Optional[CorpusT] = None) -> "TextCollector":
    """Create a callback for `[initialize.before_init]`.

    spaCy's own components initialise their models with a sample of ten Docs. An encoder in one of them that makes its
    vocabulary of the training texts, or fine-tunes the words in them, needs this callback. `lex_ner` does not.

    corpus (Optional[Callable[[Language], Iterable[Example]]]): The reader of the texts. By default the one that the
        config names as `training.train_corpus`.
    RETURNS (TextCollector): The callback.
    """
    return TextCollector(corpus)


class TextCollector:
    """Shows a corpus to the models of a pipeline before they are initialised. See `create_text_collector`."""

    def __init__(self, corpus: Optional[CorpusT]) -> None:
        self.corpus = corpus

    def __call__(self, nlp: Language) -> Language:
        """Go through the corpus.

        nlp (Language): The pipeline; its components may be disabled.
        RETURNS (Language): The same pipeline.
        """
        corpus = self.corpus or _training_corpus(nlp)
        for _, pipe in nlp.components:
            model = getattr(pipe, "model", None)
            if isinstance(model, Model):
                show_training_docs(model, (example.predicted for example in corpus(nlp)))
        return nlp


def _training_corpus(nlp: Language) -> CorpusT:
    config = nlp.config.interpolate()
    return resolve_dot_names(config, [config["training"]["train_corpus"]])[0]
