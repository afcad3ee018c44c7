"""What a Doc says about its entities before a component looks for them."""

from typing import List

import numpy as np
from spacy.tokens import Doc, Span

BEGIN = 3  # in ENT_IOB; of a token without a type it says that this is in no entity


def present_entities(doc: Doc) -> List[Span]:
    """RETURNS (List[Span]): The entities of a Doc."""
    return list(doc.ents) if doc.to_array("ENT_TYPE").any() else []


def blocked_spans(doc: Doc) -> List[Span]:
    """RETURNS (List[Span]): The runs of tokens that were marked as in no entity (`Doc.set_ents(blocked=...)`)."""
    if not len(doc):
        return []
    blocked = (doc.to_array("ENT_IOB") == BEGIN) & (doc.to_array("ENT_TYPE") == 0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], blocked, [False]]).astype(np.int8)))
    return [Span(doc, start, end) for start, end in zip(edges[::2].tolist(), edges[1::2].tolist())]
