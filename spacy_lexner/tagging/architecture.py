"""Sequence taggers: a CRF or a softmax over any token encoder, and several of them together."""

from typing import Optional

from .crf_head import CRFHead
from .ensemble import ensemble
from .model_copy import copy_model
from .softmax_head import SoftmaxHead
from .tagger import Encoder, Tagger, tagger, tagger_output


def build_crf_tagger_v1(
    tok2vec: Encoder,
    nO: Optional[int] = None,
    *,
    dropout: Optional[float] = None,
    normalization: str = "mean",
    constrained_training: bool = True,
) -> Tagger:
    """Build a tagger with a conditional random field (Lafferty et al. 2001) whose paths keep to the BIOES scheme.

    tok2vec (Model[List[Doc], List[Floats2d]]): One row per token.
    nO (Optional[int]): Number of tags; left open, it follows from the labels.
    dropout (Optional[float]): Dropout of the token vectors; None takes the rate of training.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum").
    constrained_training (bool): Whether the loss knows which moves are illegal; false is what the original FLAT does.
        Decoding always knows.
    RETURNS (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): Emissions for each Doc, and transitions.
    """
    head = CRFHead(normalization, constrained_training)
    return tagger(tok2vec, tagger_output(nO, transitions=True, dropout=dropout), head)


def build_softmax_tagger_v1(
    tok2vec: Encoder,
    nO: Optional[int] = None,
    *,
    dropout: Optional[float] = None,
    focal_gamma: float = 0.0,
    label_smoothing: float = 0.0,
    normalization: str = "mean",
) -> Tagger:
    """Build a tagger that classifies each token for itself; decoding keeps to the BIOES scheme.

    tok2vec (Model[List[Doc], List[Floats2d]]): One row per token.
    nO (Optional[int]): Number of tags; left open, it follows from the labels.
    dropout (Optional[float]): Dropout of the token vectors; None takes the rate of training.
    focal_gamma (float): Exponent of the focal loss (Lin et al. 2017); 0 is cross-entropy.
    label_smoothing (float): Share of the target spread evenly over all tags.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum").
    RETURNS (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): Emissions for each Doc, and transitions of zero.
    """
    head = SoftmaxHead(normalization, focal_gamma, label_smoothing)
    return tagger(tok2vec, tagger_output(nO, transitions=False, dropout=dropout), head)


def build_ensemble_tagger_v1(member: Tagger, n_members: int = 5) -> Tagger:
    """Build several taggers that learn apart, from different random weights and on different batches, and whose scores
    are averaged. It takes `n_members` times the steps to train, the time to predict and the space of one.

    member (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): The first one; the others are made like it.
    n_members (int): How many there are.
    RETURNS (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): Emissions for each Doc, and transitions.
    """
    if n_members < 1:
        raise ValueError(f"n_members is {n_members}; expected at least 1.")
    return ensemble([member, *(copy_model(member) for _ in range(n_members - 1))])


def build_mixed_ensemble_tagger_v1(*members: Tagger) -> Tagger:
    """Build a tagger of several that may differ in their encoders and settings, and whose scores are averaged. Trained
    pipelines are put together to one of these by `spacy lexner combine`.

    *members (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): The taggers; in a config, the sections of `model.*`,
        with any names. Where all are trained further, the loss is that of the first one.
    RETURNS (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): Emissions for each Doc, and transitions.
    """
    return ensemble(members)
