"""`spacy-lexner.NCRFTagger.v1`: the tagger of checkpoints that were trained with NCRF++'s conditional random field."""

from typing import Any, Optional, Sequence

from ..spans.head import TaggerOutput
from ..tagger import Encoder, Tagger, tagger, tagger_output
from .frame import FramedEncoder
from .head import NCRFHead
from .tags import N_EXTRA, labels_of


def build_ncrf_tagger_v1(
    tok2vec: Encoder, tags: Sequence[str], *, dropout: Optional[float] = None, normalization: str = "sum"
) -> Tagger:
    """Build the tagger of LEBERT's authors (liuwei1206/LEBERT), whose conditional random field is that of NCRF++ (Yang
    and Zhang 2018): [CLS] and [SEP] have tags, a start and a stop tag are tags like any other, any tag may follow any.
    Spans are read off a path of tags as seqeval does it. For new models choose `spacy-lexner.CRFTagger.v1`.

    tok2vec (Model[List[Doc], List[Floats2d]]): An encoder of wordpieces, such as `spacy-lexner.LEBERT.v1`.
    tags (Sequence[str]): The tags in their order: O, B-X, I-X or M-X, E-X, S-X; not all kinds are needed.
    dropout (Optional[float]): Dropout of the vectors; None follows training.dropout.
    normalization (str): Divide the loss of a batch by its sentences ("mean"), tokens ("token") or nothing ("sum", the
        authors').
    RETURNS (Model[List[Doc], TaggerOutput]): The model. `attrs["labels"]` lists its labels, which are fixed.
    """
    output = tagger_output(len(tags) + N_EXTRA, transitions=True, dropout=dropout)
    model = tagger(FramedEncoder(tok2vec), output, NCRFHead(normalization, tuple(tags)))
    model.init = init
    model.attrs["labels"] = labels_of(tags)
    model.attrs["resize_output"] = refuse_to_resize
    return model


def init(model: Tagger, X: Any = None, Y: Optional[TaggerOutput] = None) -> None:
    """Initialise the model; the number of tags is that of the tag set, not that of `Y`."""
    tok2vec, output = model.layers
    tok2vec.initialize(X=X)
    output.set_dim("nI", tok2vec.get_dim("nO"))
    output.initialize()


def refuse_to_resize(model: Tagger, nO: int) -> Tagger:
    """Raises ValueError: the tags are fixed."""
    raise ValueError(
        f"The tags of this model are fixed; its labels are {', '.join(model.attrs['labels'])}. For other labels "
        'train a tagger of your own, "spacy-lexner.CRFTagger.v1".'
    )
