"""`spacy-lexner.NCRFTagger.v1`: the tagger of checkpoints that were trained with NCRF++'s conditional random field."""

from typing import Optional, Sequence

from ..tagger import Encoder, Tagger
from .tagger import ncrf_tagger


def build_ncrf_tagger_v1(
    tok2vec: Encoder, tags: Sequence[str], *, dropout: Optional[float] = None, normalization: str = "sum"
) -> Tagger:
    """Build the tagger of LEBERT's authors (liuwei1206/LEBERT), whose conditional random field is that of NCRF++ (Yang
    and Zhang 2018): [CLS] and [SEP] have tags, a start and a stop tag are tags like any other, any tag may follow any.
    What spans a path of tags means is read as seqeval does. For new models choose `spacy-lexner.CRFTagger.v1`.

    tok2vec (Model[List[Doc], List[Floats2d]]): An encoder of wordpieces, such as `spacy-lexner.LEBERT.v1`.
    tags (Sequence[str]): The tags in their order: O, B-X, I-X or M-X, E-X, S-X; not all kinds need be there.
    dropout (Optional[float]): Dropout of the vectors; None takes the rate of training.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum",
        as the authors do).
    RETURNS (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): Emissions for each Doc, and transitions.
    """
    return ncrf_tagger(tok2vec, list(tags), dropout=dropout, normalization=normalization)
