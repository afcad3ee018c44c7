"""`spacy-lexner.collect_texts.v1`, `spacy-lexner.chain_callbacks.v1`, `spacy-lexner.distil_from.v1`: callbacks for a
config."""

from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Optional, Union

from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model, resolve_dot_names
from thinc.api import Model

from ..candidates.training_texts import show_training_docs
from ..pipeline.distillation import Teacher
from ..pipeline.explain import EntityScorer, find_scorers

CorpusT = Callable[[Language], Iterable[Example]]


class CallbackChain:
    """Runs several callbacks in order, where the config has room for one."""

    def __init__(self, callbacks: Dict[str, Any]) -> None:
        """callbacks (Dict[str, Callable[[Language], Language]]): The callbacks, as config blocks with any names, in the
        order in which they run."""
        self.callbacks = dict(callbacks)

    def __call__(self, nlp: Language) -> Language:
        """RETURNS (Language): The pipeline that the last callback returns."""
        for callback in self.callbacks.values():
            nlp = callback(nlp)
        return nlp


class TextCollector:
    """Shows a corpus to the models of a pipeline, in `[initialize.before_init]`. spaCy's own components initialise
    their models with a sample of ten Docs. They need this callback for an encoder that builds its vocabulary from the
    training texts, or fine-tunes the words in them; `lex_ner` does not."""

    def __init__(self, corpus: Optional[CorpusT] = None) -> None:
        """corpus (Optional[Callable[[Language], Iterable[Example]]]): The reader of the texts. By default
        `training.train_corpus` of the config."""
        self.corpus = corpus

    def __call__(self, nlp: Language) -> Language:
        """RETURNS (Language): The same pipeline. Disabled components are included."""
        corpus = self.corpus or _training_corpus(nlp)
        for _, pipe in nlp.components:
            model = getattr(pipe, "model", None)
            if isinstance(model, Model):
                show_training_docs(model, (example.predicted for example in corpus(nlp)))
        return nlp


class Distillation:
    """Makes a `lex_ner` learn from the exact probabilities of another pipeline on the texts of each batch, annotated or
    not, in `[training.before_update]`. Works in resumed training, too."""

    def __init__(
        self, path: Union[str, Path], component: str = "lex_ner", source: str = "lex_ner", weight: float = 1.0
    ) -> None:
        """path (Union[str, Path]): The teacher, by folder or package name.
        component (str): The name of the `lex_ner` that learns.
        source (str): The name of the teacher's `lex_ner`.
        weight (float): Weight of the divergence from the teacher, 0 or more; the loss on annotation has weight 1.
        """
        if not 0 <= weight < float("inf"):
            raise ValueError(f"weight is {weight}; expected the teacher's weight beside annotation, 0 or more.")
        self.path, self.component, self.source, self.weight = path, component, source, weight

    def __call__(self, nlp: Language, info: Dict[str, Any]) -> None:
        """Give the component its teacher before the first update. Raises ValueError if one of the two is no
        `lex_ner`."""
        pipe: Any = _find_ner(nlp, self.component, "component", "the pipeline")
        if pipe.teacher is None:
            teacher = load_model(str(self.path))
            _find_ner(teacher, self.source, "source", str(self.path))
            pipe.teacher = Teacher(teacher, self.source, self.weight)


def _find_ner(nlp: Language, name: str, setting: str, place: str) -> EntityScorer:
    found = find_scorers(nlp)
    if name not in found:
        raise ValueError(
            f"{setting} of spacy-lexner.distil_from.v1 is {name!r}; expected the name of a lex_ner in {place}, which "
            f"has {', '.join(found) or 'none'}."
        )
    return found[name]


def _training_corpus(nlp: Language) -> CorpusT:
    config = nlp.config.interpolate()
    return resolve_dot_names(config, [config["training"]["train_corpus"]])[0]
