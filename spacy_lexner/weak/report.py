"""The report of a run: the dictionary's coverage, the rounds, and the names found that are not in the dictionary."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Sequence

import srsly
from spacy.language import Language

from ..formats.spacy_file import read_all
from ..pipeline.annotate_texts import annotate_texts
from ..templates import render
from ..visualize.graphemes import clean
from .dictionary import Dictionary
from .doubt import Judgement, Reading
from .rounds import Round, best
from .texts import Labels

MAX_TEXTS, MAX_NAMES, MAX_PARTS, MAX_EXAMPLES, CONTEXT = 20_000, 30, 100, 3, 12
JSON, PAGE = "report.json", "report.html"


def find_new_names(nlp: Language, texts: Sequence[str], dictionary: Dictionary) -> Dict[str, List[Dict[str, Any]]]:
    """Find the entities of texts that the dictionary lacks.

    RETURNS (Dict[str, List[Dict[str, Any]]]): For each label the most frequent names, with count, mean score and
        examples.
    """
    counts: Counter[tuple] = Counter()
    scores: Dict[tuple, float] = {}
    examples: Dict[tuple, List[str]] = {}
    for _, doc in annotate_texts(nlp, texts, {}):
        text = doc.text  # joined from the tokens at each call
        for ent in doc.ents:
            key = (ent.label_, ent.text)
            if ent.label_ in dictionary.labels.get(dictionary.normalization.word(ent.text), ()):
                continue
            counts[key] += 1
            scores[key] = scores.get(key, 0.0) + (ent._.lex_score or 0.0)
            if len(places := examples.setdefault(key, [])) < MAX_EXAMPLES:
                places.append(text[max(0, ent.start_char - CONTEXT) : ent.end_char + CONTEXT])
    found: Dict[str, List[Dict[str, Any]]] = {}
    for (label, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        own = found.setdefault(label, [])
        if len(own) < MAX_NAMES:
            key = (label, name)
            own.append({"name": name, "count": count, "score": scores[key] / count, "examples": examples[key]})
    return dict(sorted(found.items()))


def find_parts(parts: Iterable[Reading]) -> List[Dict[str, Any]]:
    """RETURNS (List[Dict[str, Any]]): The words most often found inside longer entities, with these."""
    entities: Dict[str, Counter[str]] = {}
    for each in parts:
        entities.setdefault(each.word, Counter())[each.entity] += 1
    rows = sorted(entities.items(), key=lambda item: (-item[1].total(), item[0]))[:MAX_PARTS]
    return [
        {"word": word, "count": own.total(), "entities": [name for name, _ in own.most_common(MAX_EXAMPLES)]}
        for word, own in rows
    ]


def write_report(
    output: Path,
    nlp: Language,
    dictionary: Dictionary,
    labels: Labels,
    judged: Judgement,
    rounds: Sequence[Round],
    matching: Optional[float],
) -> None:
    """Write `report.json` and the same as a page. `nlp` is the pipeline as it was saved. `matching` is the F1 of the
    dictionary alone on the annotated texts that score models; None if words that are held out score them."""
    texts = list(islice(_texts(labels.train), MAX_TEXTS))
    chosen = best(rounds)
    figures = {
        "labels": labels.statistics,
        "improbable": [each._asdict() for each in sorted(judged.improbable, key=lambda each: -each.occurrences)],
        "parts": find_parts(judged.parts),
        "judged_by": "words of the dictionary that were held out" if matching is None else "annotated texts",
        "matching": matching,
        "rounds": [{"number": each.number, "score": each.score, "best": each == chosen} for each in rounds],
        "new": find_new_names(nlp, texts, dictionary),
        "texts": len(texts),
    }
    srsly.write_json(output / JSON, figures)
    (output / PAGE).write_text(make_page(figures), "utf8")


def make_page(figures: Dict[str, Any]) -> str:
    """Make the page of a report, with all texts escaped."""
    return render("weak.html.jinja", clean=clean, **figures)


def _texts(folder: Path) -> Iterable[str]:
    return (doc.text for doc in read_all(folder))
