"""Sequence taggers: a CRF or a softmax over any token encoder, and ensembles of taggers."""

from typing import Optional

from .ensemble import copy_tagger, ensemble
from .heads import CRFHead, SoftmaxHead
from .tagger import Encoder, Tagger, tagger, tagger_output


def build_crf_tagger_v1(
    tok2vec: Encoder,
    nO: Optional[int] = None,
    *,
    dropout: Optional[float] = None,
    normalization: str = "mean",
    constrained_training: bool = True,
) -> Tagger:
    """Build a tagger with a conditional random field (Lafferty et al. 2001) restricted to legal BIOES paths.

    tok2vec (Model[List[Doc], List[Floats2d]]): One row per token.
    nO (Optional[int]): Number of tags; None takes it from the labels.
    dropout (Optional[float]): Dropout of the token vectors; None follows training.dropout.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum").
    constrained_training (bool): Whether the loss excludes illegal moves, which the original FLAT's does not. Decoding
        always does.
    RETURNS (Model[List[Doc], TaggerOutput]): Emissions for each Doc, and transitions.
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
    """Build a tagger that classifies each token on its own; decoding keeps to legal BIOES paths.

    tok2vec (Model[List[Doc], List[Floats2d]]): One row per token.
    nO (Optional[int]): Number of tags; None takes it from the labels.
    dropout (Optional[float]): Dropout of the token vectors; None follows training.dropout.
    focal_gamma (float): Exponent of the focal loss (Lin et al. 2017); 0 is cross-entropy.
    label_smoothing (float): Share of the target spread evenly over all tags.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum").
    RETURNS (Model[List[Doc], TaggerOutput]): Emissions for each Doc, and transitions of zero.
    """
    head = SoftmaxHead(normalization, focal_gamma, label_smoothing)
    return tagger(tok2vec, tagger_output(nO, transitions=False, dropout=dropout), head)


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
