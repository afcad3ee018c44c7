"""The candidate words that entities rest on: `ent._.lex_words`."""

from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc, Span
from thinc.api import Model

from ..candidates.batch_words import AttendedWords
from ..candidates.storage import get_candidates, matches_near, text_around, token_spans
from ..candidates.user_data import reading
from ..lexicon.entry import Labels
from .exact_offsets import exact_spans
from .extensions import add_extension

USER_DATA_KEY: Any = ("._.", "lex_entity_words", None, None)


class LexWord(NamedTuple):
    """A candidate word that shares tokens with an entity."""

    start: int  # characters: `doc.text[start:end] == word`
    end: int
    word: str
    weight: Optional[float] = None  # mean attention of the entity's tokens to it, from 0 to 1, if known
    change: Optional[float] = None  # change of the entity's score without it, < 0 if it helps, if measured
    labels: Labels = ()  # as in `doc._.lex_matches`


def add_words_extension() -> None:
    """Add `span._.lex_words`, the candidate words that an entity rests on."""
    add_extension(Span, "lex_words", getter=get_words)


@reading("span._.lex_words")
def get_words(span: Span) -> Optional[List[LexWord]]:
    """The candidate words that an entity rests on, by decreasing attention; None if they were not recorded (see
    `pipeline.explain`, and the option `note_words` of `lex_ner`)."""
    place = (span.start_char, span.end_char, span.label_)
    for start, end, label, words in span.doc.user_data.get(USER_DATA_KEY, ()):
        if (start, end, label) == place:
            if not words:
                return []
            labels = {(match.start, match.end): match.labels for match in matches_near(span.doc, start, end) or ()}
            text, at = text_around(span.doc, min(word[0] for word in words), max(word[1] for word in words))
            return [
                LexWord(begin, stop, text[begin - at : stop - at], weight, change, labels.get((begin, stop), ()))
                for begin, stop, weight, change in words
            ]
    return None


def set_words(doc: Doc, words: Iterable[Tuple[Span, Sequence[LexWord]]]) -> None:
    """Store the words of entities in a Doc, replacing any stored before."""
    doc.user_data[USER_DATA_KEY] = [
        [ent.start_char, ent.end_char, ent.label_, [[w.start, w.end, w.weight, w.change] for w in _ranked(own)]]
        for ent, own in words
    ]


def attend_words(model: Model, docs: Sequence[Doc]) -> List[AttendedWords]:
    """The attention of each Doc's tokens to words, as reported by the outermost encoder that does. Raises ValueError if
    there is none."""
    attending = find_attending([model])
    if attending is None:
        raise ValueError(
            "No encoder of this model reports its attention: LEBERT with adapters and FLAT with words do. If the "
            "encoder belongs to another component, use spacy_lexner.pipeline.explain on the whole pipeline."
        )
    return attending.attrs["attend"](attending, list(docs))


def find_attending(models: Iterable[Model]) -> Optional[Model]:
    """The first node that reports its attention to words; None if there is none."""
    return next((node for model in models for node in model.walk() if "attend" in node.attrs), None)


def words_of_entities(
    ents: Sequence[Span],
    places: Sequence[Tuple[int, int]],
    attended: Optional[AttendedWords] = None,
    changes: Optional[Mapping[Tuple[int, int], Mapping[Tuple[int, int], float]]] = None,
) -> List[List[LexWord]]:
    """Find the words that share tokens with each entity.

    ents (Sequence[Span]): The entities.
    places (Sequence[Tuple[int, int]]): The tokens (start, end) of candidate words.
    attended (Optional[AttendedWords]): The attention of tokens to words.
    changes (Optional[Mapping]): For each entity (start, end) the change of its score without each word (start, end).
    RETURNS (List[List[LexWord]]): The words of each entity.
    """
    found = []
    distinct = np.array(sorted(set(places)), "i8").reshape(-1, 2)
    for ent in ents:
        own = distinct[(distinct[:, 0] < ent.end) & (distinct[:, 1] > ent.start)].tolist()
        weights = {} if attended is None else weights_of(ent, attended)
        without = (changes or {}).get((ent.start, ent.end), {})
        words = []
        for start, end in own:
            span = ent.doc[start:end]
            weight = None if attended is None else weights.get((start, end), 0.0)
            words.append(LexWord(span.start_char, span.end_char, span.text, weight, without.get((start, end))))
        found.append(words)
    return found


def weights_of(ent: Span, attended: AttendedWords) -> Mapping[Tuple[int, int], float]:
    """The attention of an entity, averaged over its tokens, to each word (start, end)."""
    inside = (attended.tokens >= ent.start) & (attended.tokens < ent.end)
    weights: dict[Tuple[int, int], float] = {}
    for start, end, weight in zip(*(column[inside].tolist() for column in attended[1:])):
        weights[start, end] = weights.get((start, end), 0.0) + weight / len(ent)
    return weights


def note_attended(doc: Doc, unit_doc: Doc, attended: AttendedWords) -> None:
    """Store the words of all entities of a Doc. `attended` is on the tokens of its unit Doc."""
    places = set(zip(attended.starts.tolist(), attended.ends.tolist()))
    stored = get_candidates(doc)
    if stored is not None:
        starts, ends, kept = token_spans(unit_doc, stored[1])
        places.update(zip(starts[kept].tolist(), ends[kept].tolist()))
    found = words_of_entities(exact_spans(doc, unit_doc), sorted(places), attended)
    set_words(doc, zip(doc.ents, found))


def _ranked(words: Sequence[LexWord]) -> List[LexWord]:
    return sorted(words, key=lambda word: (-(word.weight or 0.0), word.change or 0.0, word.start, word.end))
