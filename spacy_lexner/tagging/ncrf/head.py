"""Head of a conditional random field as in NCRF++: any tag may follow any, [CLS] and [SEP] are part of the path."""

from dataclasses import dataclass
from typing import List, Sequence, Tuple

import numpy as np
from torch import Tensor

from ..crf import Trellis
from ..heads import Head, log_share
from ..spans.states import States, tag_states
from ..spans.tag_scheme import Bools2d
from .tags import join_states, ncrf_states


@dataclass(frozen=True)
class NCRFHead(Head):
    """Loss, decoding and span scores under the tag set of a published model. Emissions are [n_tokens + 2, n_tags] for
    each Doc, those of [CLS] and [SEP] included; masks of tags are in the order of TagScheme, labels sorted, as in the
    other heads. A span's score is the probability of all paths that are read as having it. The authors normalize by
    "sum"."""

    tag_names: Tuple[str, ...] = ()  # in the order of the emissions, without start and stop, which come last

    def __post_init__(self) -> None:
        super().__post_init__()
        ncrf_states(self.tag_names)  # raises if they are not a tag set

    def to_states(self, states: States) -> States:
        return join_states(ncrf_states(self.tag_names), states)[0]

    def gold_states(self, gold: Sequence[Bools2d], states: States) -> Bools2d:
        """The states that spell the annotation, [n_rows, n_states]; all where it is missing. Raises ValueError if a
        token has annotation that the tags cannot spell."""
        own = ncrf_states(self.tag_names)
        spells = own.spells[join_states(own, tag_states(gold[0].shape[1]))[1]]
        masks: List[Bools2d] = []
        for mask in gold:
            rows = states.rows(mask)
            annotated = np.ones((len(rows), 1), dtype=bool)
            annotated[states.margin : states.margin + len(mask), 0] = ~mask.all(axis=1)
            masks.append(rows & (spells | ~annotated))
            if not masks[-1].any(axis=1).all():
                raise ValueError(
                    f"The tags {', '.join(self.tag_names)} cannot spell the annotation of a text: they lack one that "
                    "its entities, or the tokens outside of these, would need."
                )
        return np.concatenate(masks)

    def losses(self, trellis: Trellis, gold: Tensor) -> Tensor:
        return -log_share(trellis, gold)
