"""Random Docs with entities, for round trips."""

import spacy
from hypothesis import strategies as st
from spacy.tokens import Span

ZH = spacy.blank("zh")
CHARACTERS = st.sampled_from([*"南京市a1 ,é", "\u0301", "😀", "👨\u200d👩", "\n", "𠮷", "\u2028"])


@st.composite
def annotated_docs(draw):
    """Docs in characters, with entities that neither overlap nor start or end with white space."""
    doc = ZH.make_doc("".join(draw(st.lists(CHARACTERS, max_size=10))))
    borders = sorted(draw(st.sets(st.integers(0, len(doc)), max_size=6)))
    labels = draw(st.lists(st.sampled_from(["PER", "地点", "A.b", "x y"]), min_size=6, max_size=6))
    spans = [Span(doc, i, j, label) for i, j, label in zip(borders[::2], borders[1::2], labels)]
    doc.set_ents([span for span in spans if span.text and span.text == span.text.strip()])
    return doc


def entities_of(doc):
    """RETURNS (tuple): The text, and whether and how it is annotated."""
    ents = [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]
    return doc.text, ents if doc.has_annotation("ENT_IOB") else None
