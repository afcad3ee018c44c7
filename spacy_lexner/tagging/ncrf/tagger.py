"""The thinc model of an NCRF++ tagger: emissions for the tags of a published model, [CLS] and [SEP] among the rows."""

from typing import Any, Optional, Sequence

from ..tagger import Encoder, Outputs, Tagger, tagger, tagger_output
from .frame import FramedEncoder
from .head import NCRFHead
from .tags import N_EXTRA, labels_of


def ncrf_tagger(
    encoder: Encoder, tags: Sequence[str], *, dropout: Optional[float] = None, normalization: str = "sum"
) -> Tagger:
    """Create the model.

    encoder (Model[List[Doc], List[Floats2d]]): An encoder of wordpieces.
    tags (Sequence[str]): The tags, without start and stop.
    dropout (Optional[float]): Dropout of the vectors; None follows the rate of training.
    normalization (str): See TaggerHead.
    RETURNS (Tagger): The model. `attrs["labels"]` says which labels it has, in their order: there can be no others.
    """
    output = tagger_output(len(tags) + N_EXTRA, transitions=True, dropout=dropout)
    model = tagger(FramedEncoder(encoder), output, NCRFHead(normalization, tuple(tags)))
    model.init = init
    model.attrs["labels"] = labels_of(tags)
    model.attrs["resize_output"] = refuse_to_resize
    return model


def init(model: Tagger, X: Any = None, Y: Optional[Outputs] = None) -> None:
    """The number of tags is that of the tag set, whatever `Y` has."""
    tok2vec, output = model.layers
    tok2vec.initialize(X=X)
    output.set_dim("nI", tok2vec.get_dim("nO"))
    output.initialize()


def refuse_to_resize(model: Tagger, nO: int) -> Tagger:
    """Refused: raises ValueError."""
    raise ValueError(
        f"The tags of this model are fixed; its labels are {', '.join(model.attrs['labels'])}. For other labels "
        'train a tagger of your own, "spacy-lexner.CRFTagger.v1".'
    )
