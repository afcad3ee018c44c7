"""Sequence taggers: a CRF or a softmax over any token encoder. `ensemble.py` has the ensembles of them."""

from typing import Optional

from .guards import Guard, check_guard
from .heads import CRFHead, SoftmaxHead
from .tagger import Encoder, Tagger, tagger, tagger_output


def build_crf_tagger_v1(
    tok2vec: Encoder,
    nO: Optional[int] = None,
    *,
    dropout: Optional[float] = None,
    normalization: str = "mean",
    constrained_training: bool = True,
    guard: Optional[Guard] = None,
) -> Tagger:
    """Build a tagger with a conditional random field (Lafferty et al. 2001) restricted to legal BIOES paths.

    tok2vec (Model[List[Doc], List[Floats2d]]): One row per token.
    nO (Optional[int]): Number of tags; None takes it from the labels.
    dropout (Optional[float]): Dropout of the token vectors; None follows training.dropout.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum").
    constrained_training (bool): Whether the loss excludes illegal moves, which the original FLAT's does not. Decoding
        always does.
    guard (Optional[Guard]): What keeps it from calling everything an entity where annotation is missing, such as
        `spacy-lexner.EntityRatio.v1`; null for nothing.
    RETURNS (Model[List[Doc], TaggerOutput]): Emissions for each Doc, and transitions.
    """
    check_guard(guard)
    head = CRFHead(normalization, constrained_training, guard)
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
