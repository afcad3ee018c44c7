"""A copy of a thinc model that is built like it."""

from typing import Any, Dict, TypeVar

from thinc.api import Model

ModelT = TypeVar("ModelT", bound=Model)


def copy_model(model: ModelT) -> ModelT:
    """Copy a model with its references, and with attributes that nodes share still shared: `Model.copy` leaves out the
    ones and makes several of the others.

    model (Model): The model.
    RETURNS (Model): The copy. All its nodes have ids of their own.
    """
    copied = model.copy()
    nodes = {id(old): new for old, new in zip(model.walk(), copied.walk())}
    shared: Dict[int, Any] = {}
    for old in model.walk():
        new = nodes[id(old)]
        for name in old.ref_names:
            target = old.maybe_get_ref(name)
            new.set_ref(name, None if target is None else nodes[id(target)])
        for name, value in old.attrs.items():
            new.attrs[name] = shared.setdefault(id(value), new.attrs[name])
    return copied
