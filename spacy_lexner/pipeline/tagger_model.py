"""Initializing a tagger's model, running it and updating its weights."""

import logging
from itertools import islice
from typing import Any, Callable, Iterable, Sequence

from spacy.errors import Errors
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model, Optimizer

from ..candidates.limits import Limits, set_limits
from ..candidates.training_texts import pass_training_docs
from ..candidates.unit_docs import find_listener
from ..tagging.spans.head import TaggerOutput

logger = logging.getLogger(__name__)
SAMPLE = 10  # number of Docs that a model is initialized with
KEPT = (
    "%s was initialized before: its encoder keeps its weights, and the vocabulary of the first texts. To begin again "
    "with the characters and words of these texts, create the pipeline again."
)


def has_weights(model: Model) -> bool:
    """Whether a tagger is initialized."""
    output = model.get_ref("output_layer")
    return all(output.has_param(name) for name in output.param_names)


def initialize_model(model: Model, get_docs: Callable[[], Iterable[Doc]], n_tags: int, component: str) -> None:
    """Initialize a tagger, after showing all training Docs to those of its nodes that ask for them. Warns if it has
    weights, and raises ValueError if there are no Docs."""
    if has_weights(model):
        logger.warning(KEPT, component)
    docs = list(islice(get_docs(), SAMPLE))
    if not docs:
        raise ValueError(Errors.E923.format(name=component))
    set_limits(model, Limits.of(pass_training_docs(model, get_docs())))
    ops = model.ops
    output = TaggerOutput([ops.alloc2f(len(doc), n_tags) for doc in docs], ops.alloc2f(n_tags + 1, n_tags + 1))
    model.initialize(X=docs, Y=output)


def predict_tags(model: Model, docs: Sequence[Doc], component: str) -> TaggerOutput:
    """Run a tagger on unit Docs. Raises ValueError for a Doc without the vectors of an encoder that it shares."""
    require_vectors(model, docs, component)
    return model.predict(docs)


def require_vectors(model: Model, docs: Iterable[Doc], component: str) -> None:
    """Raise ValueError for a Doc without the vectors of the encoder that a tagger shares. For such a Doc spaCy's
    listeners return zeros, in which the tagger would find something or other."""
    listener: Any = find_listener(model)
    lacking = None if listener is None else next((doc for doc in docs if not _has_vectors(listener, doc)), None)
    if lacking is not None:
        raise ValueError(
            f"{component} listens to a shared encoder (upstream {listener.upstream_name!r}), which has not read "
            f"{lacking.text[:40]!r}. Add or enable that encoder before {component}; in training, add it to "
            f"training.annotating_components. Or give {component} a copy, in the pipeline that it comes from: "
            f"nlp.replace_listeners(ENCODER, {component!r}, ['model.tok2vec'])."
        )


def _has_vectors(listener: Any, doc: Doc) -> bool:
    if isinstance(listener, Tok2VecListener):
        shape = () if doc.tensor is None else doc.tensor.shape  # None where `doc_cleaner` has run
        return not len(doc) or shape[1:] == (listener.get_dim("nO"),)
    return not doc.has_extension("trf_data") or doc._.trf_data is not None


def finish_update(model: Model, sgd: Optimizer) -> None:
    """Update the weights. An optimizer with its own `finish_update` gets the whole model, since clipping by the global
    norm needs all gradients."""
    finish = getattr(sgd, "finish_update", None)
    if finish is None:
        model.finish_update(sgd)
    else:
        finish(model)
