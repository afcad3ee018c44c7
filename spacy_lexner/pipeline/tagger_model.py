"""Initializing a tagger's model and updating its weights."""

from itertools import islice
from typing import Callable, Iterable

from spacy.errors import Errors
from spacy.tokens import Doc
from thinc.api import Model, Optimizer

from ..candidates.limits import Limits, set_limits
from ..candidates.training_texts import pass_training_docs
from ..tagging.spans.head import TaggerOutput

SAMPLE = 10  # number of Docs that a model is initialized with


def has_weights(model: Model) -> bool:
    """Whether a tagger is initialized."""
    output = model.get_ref("output_layer")
    return all(output.has_param(name) for name in output.param_names)


def initialize_model(model: Model, get_docs: Callable[[], Iterable[Doc]], n_tags: int, component: str) -> None:
    """Initialize a tagger, after showing all training Docs to those of its nodes that ask for them. Raises ValueError
    if there are none."""
    docs = list(islice(get_docs(), SAMPLE))
    if not docs:
        raise ValueError(Errors.E923.format(name=component))
    set_limits(model, Limits.of(pass_training_docs(model, get_docs())))
    ops = model.ops
    output = TaggerOutput([ops.alloc2f(len(doc), n_tags) for doc in docs], ops.alloc2f(n_tags + 1, n_tags + 1))
    model.initialize(X=docs, Y=output)


def finish_update(model: Model, sgd: Optimizer) -> None:
    """Update the weights. An optimizer with its own `finish_update` gets the whole model, since clipping by the global
    norm needs all gradients."""
    finish = getattr(sgd, "finish_update", None)
    if finish is None:
        model.finish_update(sgd)
    else:
        finish(model)
