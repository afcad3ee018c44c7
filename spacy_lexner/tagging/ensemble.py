"""Several taggers that are trained separately and predict together: the registered architectures, and their model."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from spacy.tokens import Doc
from thinc.api import Model

from ..candidates.unit_docs import find_listener
from .spans.head import TaggerOutput
from .tagger import Tagger

TURN = "turn"


def build_ensemble_tagger_v1(member: Tagger, n_members: int = 5) -> Tagger:
    """Build an ensemble of taggers that are trained separately, from different random weights and on different batches;
    their scores are averaged. It takes `n_members` times the training steps, prediction time and space of one.

    member (Model[List[Doc], TaggerOutput]): The first one; the others are made like it.
    n_members (int): Number of taggers.
    RETURNS (Model[List[Doc], TaggerOutput]): The ensemble.
    """
    if n_members < 1:
        raise ValueError(f"n_members is {n_members}; expected at least 1.")
    return ensemble([member, *(copy_tagger(member) for _ in range(n_members - 1))])


def build_mixed_ensemble_tagger_v1(*members: Tagger) -> Tagger:
    """Build an ensemble of taggers that may differ in encoder and settings; their scores are averaged. `spacy lexner
    combine` makes one from trained pipelines.

    *members (Model[List[Doc], TaggerOutput]): The taggers; in a config, the sections of `model.*`, with any names. If
        they are trained further, all learn from the loss of the first one.
    RETURNS (Model[List[Doc], TaggerOutput]): The ensemble.
    """
    return ensemble(members)


def ensemble(members: Sequence[Tagger]) -> Tagger:
    """Average the scores of taggers. For CRFs that is a logarithmic opinion pool with equal weights (Smith, Cohn and
        Osborne 2005): a path has the geometric mean of the members' probabilities, scaled to sum to 1.

    In training the members take turns, one per batch: each learns from its own loss, on its own batches, as if it were
    alone, so n members need n times the steps of one.

    Each member has its own encoder. A softmax can be mixed with CRFs: it is one without transitions. Either all or none
    have the tags of a published model. Output layer and attributes, such as the head, are the first member's.
    """
    if not members:
        raise ValueError("An ensemble needs at least one member.")
    for member in members:
        _check(member, members[0])
    return Model(
        "ensemble",
        forward,
        init=init,
        layers=list(members),
        refs={"output_layer": members[0].get_ref("output_layer")},
        attrs={**members[0].attrs, "resize_output": resize_output, TURN: 0},
    )


def copy_tagger(model: Tagger) -> Tagger:
    """Copy a tagger with its references, and with attributes that nodes share still shared: `Model.copy` drops the
    former and duplicates the latter."""
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


def _check(member: Tagger, first: Tagger) -> None:
    listener = find_listener(member)
    if listener is not None:
        raise ValueError(
            f"A member of the ensemble listens to a shared encoder ({listener.name!r}): members that share one do not "
            "learn apart. Put the encoder into the member itself."
        )
    expected, own = (getattr(tagger.attrs["head"], "tag_names", ()) for tagger in (first, member))
    if own != expected:
        raise ValueError(
            "An ensemble cannot average scores of different tags: one member has "
            f"{', '.join(expected) or 'those of its labels'}, another {', '.join(own) or 'those of its labels'}."
        )


def forward(model: Tagger, docs: List[Doc], is_train: bool) -> Tuple[TaggerOutput, Callable[[TaggerOutput], Any]]:
    if is_train:
        turn = model.attrs[TURN]
        model.attrs[TURN] = (turn + 1) % len(model.layers)
        return model.layers[turn](docs, is_train)
    first, *others = model.layers
    emissions, transitions = first.predict(docs)
    for number, member in enumerate(others, 2):
        own_emissions, own_transitions = member.predict(docs)
        emissions = [rows + (own - rows) / number for rows, own in zip(emissions, own_emissions)]
        transitions = transitions + (own_transitions - transitions) / number
    return TaggerOutput(emissions, transitions), _refuse_backprop


def init(model: Tagger, X: Optional[List[Doc]] = None, Y: Optional[TaggerOutput] = None) -> None:
    for member in model.layers:
        member.initialize(X=X, Y=Y)


def resize_output(model: Tagger, nO: int, templates: Sequence[int] = (0,)) -> Tagger:
    """Add tags to every member: see `tagger.resize_output`."""
    for member in model.layers:
        member.attrs["resize_output"](member, nO, templates)
    model.set_ref("output_layer", model.layers[0].get_ref("output_layer"))
    return model


def _refuse_backprop(d_outputs: TaggerOutput) -> Any:
    raise ValueError("An ensemble has no gradient where it predicts: begin an update first.")
