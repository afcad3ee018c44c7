"""Scoring spans given by characters."""

from typing import List, Sequence, Tuple

from spacy.language import Language

from ..read_upto import read_upto
from .lex_ner import LexNER


def score_places(nlp: Language, ner: LexNER, text: str, places: Sequence[Tuple[int, int, str]]) -> List[float]:
    """Compute the scores that spans of a text would have as entities, whether or not they are found.

    nlp (Language): The pipeline.
    ner (LexNER): Its component.
    text (str): The text.
    places (Sequence[Tuple[int, int, str]]): First character, end (exclusive) and label of each span.
    RETURNS (List[float]): Their scores; 0 for a span without characters, off the borders of what the model tags
        (characters or tokens), or with a label that it lacks.
    """
    (doc,) = ner.unit_docs([read_upto(nlp, ner, text)])
    spans = [doc.char_span(*place) if 0 <= place[0] < place[1] else None for place in places]
    known = [i for i, span in enumerate(spans) if span is not None and span.label_ in ner.labels]
    wanted = [(span.start, span.end, span.label_) for span in (spans[i] for i in known) if span is not None]
    scores = [0.0] * len(places)
    for i, score in zip(known, ner.score_spans([doc], [wanted])[0]):
        scores[i] = score
    return scores
