"""The thinc model of a sequence tagger: token vectors to emissions and transitions."""

from itertools import cycle, islice
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from spacy.tokens import Doc
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from ..candidates.batch_words import AttendedWords
from ..candidates.limits import Limits
from ..candidates.segments import Segments, cut_docs
from ..candidates.unit_docs import find_listener
from .spans.head import TaggerHead, TaggerOutput
from .text_paths import part_separated, part_texts

Encoder = Model[List[Doc], List[Floats2d]]
OutputLayer = Model[List[Floats2d], TaggerOutput]
Tagger = Model[List[Doc], TaggerOutput]

NEW_TAG_MARGIN = 4.0
READ_AT_ONCE = 256  # segments of long Docs


def tagger(tok2vec: Encoder, output: OutputLayer, head: TaggerHead) -> Tagger:
    """Put an output layer (`tagger_output`) on an encoder, and keep a head as `attrs["head"]`. The model has the
    references `tok2vec` and `output_layer`; `attrs["resize_output"]` adds tags. It is initialised with Docs, and with a
    sample output, for the number of tags."""
    attrs: Dict[str, Any] = {"head": head, "resize_output": resize_output, "limits": None}
    if any("attend" in node.attrs for node in tok2vec.walk()):
        attrs["attend"] = attend
    refs: Dict[str, Optional[Model]] = {"tok2vec": tok2vec, "output_layer": output}
    return Model("tagger", forward, init=init, layers=[tok2vec, output], refs=refs, attrs=attrs)


def forward(model: Tagger, docs: List[Doc], is_train: bool) -> Tuple[TaggerOutput, Callable[[TaggerOutput], Any]]:
    """Docs that are longer than those of training are read in segments; what would have been a text of its own in
    training (`Limits`) is read and tagged as one."""
    (tok2vec, output), xp = model.layers, model.ops.xp
    segments = _cut(model, docs)
    if segments is None:
        vectors, backprop_vectors = tok2vec(docs, is_train)
    elif not is_train:
        return _predict_segments(model, segments), lambda d_outputs: []
    else:
        rows, backprop_rows = tok2vec(segments.docs, is_train)
        vectors = segments.join(rows, xp)
        _join_notes(model, segments)

        def backprop_vectors(gradients: List[Floats2d]) -> Any:
            return backprop_rows(segments.split(gradients, xp))

    outputs, backprop_outputs = output(vectors, is_train)
    return outputs, lambda d_outputs: backprop_vectors(backprop_outputs(d_outputs))


def _predict_segments(model: Tagger, segments: Segments) -> TaggerOutput:
    """The output for Docs that were cut. Some segments at a time are encoded, so that the vectors of a long Doc are
    never all in memory."""
    tok2vec, output = model.layers
    emissions: List[Floats2d] = []
    for low in range(0, len(segments.docs), READ_AT_ONCE):
        found = output.predict(tok2vec.predict(segments.docs[low : low + READ_AT_ONCE]))
        emissions += found.emissions
    outputs = TaggerOutput(segments.join(emissions, model.ops.xp), found.transitions)
    _join_notes(model, segments)
    part_separated(outputs, segments.separators)
    part_texts(outputs, segments.text_ends)
    return outputs


def _join_notes(model: Tagger, segments: Segments) -> None:
    """Give Docs what encoders have noted in their segments."""
    for node in model.layers[0].walk():
        if "join_segments" in node.attrs:
            node.attrs["join_segments"](segments)


def attend(model: Tagger, docs: List[Doc]) -> List[AttendedWords]:
    """RETURNS (List[AttendedWords]): The attention of each Doc's tokens to words, from the outermost encoder that
    reports it."""
    encoder = next(node for node in model.layers[0].walk() if "attend" in node.attrs)
    segments = _cut(model, docs)
    if segments is None:
        return encoder.attrs["attend"](encoder, docs)
    return segments.join_attended(encoder.attrs["attend"](encoder, segments.docs))


def _cut(model: Tagger, docs: List[Doc]) -> Optional[Segments]:
    limits = model.attrs.get("limits")
    if limits is None or find_listener(model) is not None:  # a listener has rows for whole Docs
        return None
    return cut_docs(docs, Limits(*limits))


def init(model: Tagger, X: Optional[List[Doc]] = None, Y: Optional[TaggerOutput] = None) -> None:
    tok2vec, output = model.layers
    tok2vec.initialize(X=X)
    if tok2vec.has_dim("nO"):
        output.set_dim("nI", tok2vec.get_dim("nO"))
    elif X:
        output.set_dim("nI", tok2vec.predict(X[:1])[0].shape[1])
    output.initialize(Y=Y)


def tagger_output(
    nO: Optional[int] = None, nI: Optional[int] = None, *, transitions: bool = True, dropout: Optional[float] = None
) -> OutputLayer:
    """Emissions, linear in the token vectors (nI wide) after dropout, and transitions, zero unless they are learned.
    The parameters are `emission_W` [nO, nI], `emission_b` [nO] and, if learned, `transitions` [nO + 1, nO + 1], which
    start at zero. A `dropout` of None follows the rate of training."""
    if dropout is not None and not 0 <= dropout < 1:
        raise ValueError(f"dropout is {dropout}; expected 0 <= dropout < 1, or null to follow training.dropout.")
    names = ["emission_W", "emission_b"] + ["transitions"] * transitions
    return Model(
        "tagger_output",
        forward_output,
        init=init_output,
        dims={"nO": nO, "nI": nI},
        params=dict.fromkeys(names),
        attrs={"dropout_rate": 0.0, "own_dropout": dropout},
    )


def forward_output(
    model: OutputLayer, vectors: List[Floats2d], is_train: bool
) -> Tuple[TaggerOutput, Callable[[TaggerOutput], List[Floats2d]]]:
    ops = model.ops
    W: Any = model.get_param("emission_W")
    b: Any = model.get_param("emission_b")
    n_tags = model.get_dim("nO")
    learned = model.has_param("transitions")
    transitions: Any = model.get_param("transitions") if learned else ops.alloc2f(n_tags + 1, n_tags + 1)
    rate = model.attrs["dropout_rate"] if model.attrs["own_dropout"] is None else model.attrs["own_dropout"]
    vectors = [rows if len(rows) else ops.alloc2f(0, W.shape[1]) for rows in vectors]  # a listener's have no width
    masks: List[Any] = []
    if is_train and rate:
        masks = [ops.get_dropout_mask(rows.shape, rate) for rows in vectors]
        vectors = [rows * mask for rows, mask in zip(vectors, masks)]
    emissions = [rows @ W.T + b for rows in vectors]  # a third of the time of `ops.gemm` for matrices as small as these

    def backprop(d_outputs: TaggerOutput) -> List[Floats2d]:
        d_vectors = []
        for rows, d_emissions in zip(vectors, d_outputs[0]):
            model.inc_grad("emission_W", ops.gemm(d_emissions, rows, trans1=True))
            model.inc_grad("emission_b", d_emissions.sum(axis=0))
            d_vectors.append(ops.gemm(d_emissions, W))
        if learned:
            model.inc_grad("transitions", d_outputs[1])
        return [d_rows * mask for d_rows, mask in zip(d_vectors, masks)] if masks else d_vectors

    return TaggerOutput(emissions, transitions), backprop


def init_output(model: OutputLayer, X: Optional[List[Floats2d]] = None, Y: Optional[TaggerOutput] = None) -> None:
    if X:
        model.set_dim("nI", X[0].shape[1])
    if Y is not None:
        n_tags = len(Y[1]) - 1
        if model.has_dim("nO") and model.get_dim("nO") != n_tags:
            raise ValueError(
                f"The tagger was built for nO = {model.get_dim('nO')} tags, but the labels need {n_tags}: 1, and 4 for "
                "each label. Leave nO null in the config: it follows from the labels."
            )
        model.set_dim("nO", n_tags)
    nO, nI = model.get_dim("nO"), model.get_dim("nI")
    model.set_param("emission_W", glorot_uniform_init(model.ops, (nO, nI)))
    model.set_param("emission_b", model.ops.alloc1f(nO))
    if "transitions" in model.param_names:
        model.set_param("transitions", model.ops.alloc2f(nO + 1, nO + 1))


def resize_output(model: Tagger, nO: int, templates: Sequence[int] = (0,)) -> Tagger:
    """Add tags to an initialised `tagger`, in place, until it has nO. New tags copy `templates` in turn, by default tag
    0, outside, with an emission lower by NEW_TAG_MARGIN: what was learned stays, since a path through new tags scores
    less than the same path with their templates instead, and training starts from what such tokens have looked like."""
    old: Any = model.get_ref("output_layer")
    n_old = old.get_dim("nO")
    if nO < n_old:
        raise ValueError(f"The tagger has {n_old} tags; it cannot shrink to {nO}.")
    learned = "transitions" in old.param_names
    new = tagger_output(nO, old.get_dim("nI"), transitions=learned, dropout=old.attrs["own_dropout"])
    new.ops = old.ops
    tags = [*range(n_old), *islice(cycle(templates), nO - n_old)]
    bias = old.get_param("emission_b")[tags]
    bias[n_old:] -= NEW_TAG_MARGIN
    new.set_param("emission_W", old.get_param("emission_W")[tags])
    new.set_param("emission_b", bias)
    if learned:
        rows = [*tags, n_old]
        new.set_param("transitions", old.get_param("transitions")[rows][:, rows])
    # A new node rather than new parameters of the old one: optimisers keep moments of the old shape under its id.
    model.replace_node(old, new)
    return model
