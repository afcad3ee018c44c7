"""Whether annotation errors are found: some gold spans are corrupted at random, and `lexner errors` looks for them.

python scripts/study_errors.py corrupt corpus/resume/train.spacy corpus/corrupted.spacy metrics/corrupted.json
python -m spacy lexner errors corpus/corrupted.spacy -o training/errors --paths.lexicon lexicon/small
python scripts/study_errors.py measure training/errors/findings.jsonl metrics/corrupted.json

For MSRA: --limit 10000. For Weibo as it is: `lexner errors corpus/weibo/train.spacy -o training/errors-weibo`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Annotated, Any, Dict, List, Optional, Tuple

import srsly
import typer
from spacy.tokens import Doc, DocBin, Span
from wasabi import msg

from spacy_lexner.formats.spacy_file import read_docs

BORDER, LABEL, REMOVED, INVENTED = KINDS = ("border", "label", "removed", "invented")
FIRST, SHARE_READ = 100, 0.03
app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
Place = Tuple[int, int, str]


def corrupt_span(span: Span, kind: str, labels: List[str], random: Random) -> Optional[Place]:
    """RETURNS (Optional[Tuple[int, int, str]]): What replaces an entity, in tokens, or for INVENTED is added elsewhere;
    the span itself if that is impossible, None for nothing."""
    doc, start, end = span.doc, span.start, span.end
    if kind == REMOVED:
        return None
    if kind == LABEL:
        return start, end, random.choice([label for label in labels if label != span.label_] or [span.label_])
    if kind == BORDER:
        moved = [(start + 1, end), (start, end - 1), (start - 1, end), (start, end + 1)]
        free = [(a, b) for a, b in moved if 0 <= a < b <= len(doc) and _is_free(doc, a, b, span)]
        return (*random.choice(free or [(start, end)]), span.label_)
    length = min(len(span), len(doc))
    starts = [a for a in range(len(doc) - length + 1) if _is_free(doc, a, a + length, None)]
    return (a := random.choice(starts), a + length, span.label_) if starts else (start, end, span.label_)


def _is_free(doc: Doc, start: int, end: int, but: Optional[Span]) -> bool:
    """Whether no token is white space or in an entity other than `but`."""
    others = (ent for ent in doc.ents if but is None or (ent.start, ent.end) != (but.start, but.end))
    return not any(ent.start < end and start < ent.end for ent in others) and not any(
        t.is_space for t in doc[start:end]
    )


def corrupt(docs: List[Doc], share: float, seed: int) -> List[Dict[str, Any]]:
    """Corrupt a share of the entities in place, at most one per text, cycling through KINDS.

    RETURNS (List[Dict[str, Any]]): The changes: number of the text, kind, span before and after, in characters.
    """
    random = Random(seed)
    labels = sorted({ent.label_ for doc in docs for ent in doc.ents})
    candidates = [(i, random.randrange(len(doc.ents))) for i, doc in enumerate(docs) if doc.ents]
    random.shuffle(candidates)
    n_wanted, done = round(share * sum(len(doc.ents) for doc in docs)), []
    for i, number in candidates:
        if len(done) == n_wanted:
            break
        doc, kind = docs[i], KINDS[len(done) % len(KINDS)]
        span = doc.ents[number]
        before = (span.start, span.end, span.label_)
        after = corrupt_span(span, kind, labels, random)
        if after == before:
            continue
        kept = [ent for ent in doc.ents if kind == INVENTED or (ent.start, ent.end) != before[:2]]
        doc.set_ents([*kept, *([Span(doc, *after)] if after is not None else [])])
        sides = {"before": None if kind == INVENTED else before, "after": after}
        done.append({"number": i, "kind": kind, **{key: _characters(doc, side) for key, side in sides.items()}})
    return done


def _characters(doc: Doc, place: Optional[Place]) -> Optional[List[Any]]:
    if place is None:
        return None
    span = doc[place[0] : place[1]]
    return [span.start_char, span.end_char, place[2]]


@app.command("corrupt")
def corrupt_corpus(
    corpus: Annotated[Path, typer.Argument(help="Annotated texts, .spacy.")],
    output: Annotated[Path, typer.Argument(help="File for the corrupted texts, .spacy.")],
    truth: Annotated[Path, typer.Argument(help="File for the changes, .json.")],
    share: Annotated[float, typer.Option(help="Share of the entities to corrupt.")] = 0.02,
    limit: Annotated[int, typer.Option(help="Only the first texts; 0 for all.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the changes.")] = 0,
) -> None:
    """Corrupt some entities."""
    docs = list(read_docs(corpus))[: limit or None]
    n_entities = sum(len(doc.ents) for doc in docs)
    done = corrupt(docs, share, seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    truth.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs).to_disk(output)
    srsly.write_json(truth, {"entities": n_entities, "corrupted": done})
    msg.good(f"{output}: {len(done)} of {n_entities} entities corrupted")


@app.command("measure")
def measure(
    findings: Annotated[Path, typer.Argument(help="findings.jsonl of `lexner errors`.")],
    truth: Annotated[Path, typer.Argument(help="The changes, as written by `corrupt`.")],
) -> Dict[str, float]:
    """Print the precision of the first findings, and the share of errors found by reviewing 3 % of the entities."""
    known = srsly.read_json(truth)
    places = {row["number"]: [side for side in (row["before"], row["after"]) if side] for row in known["corrupted"]}
    rows = list(srsly.read_jsonl(findings))
    hits = [_is_hit(finding, places.get(finding["number"], [])) for finding in rows]
    n_read, n_corrupted = round(SHARE_READ * known["entities"]), max(1, len(known["corrupted"]))
    found, found_early = ({row["number"] for row, hit in zip(rows, some) if hit} for some in (hits, hits[:n_read]))
    scores = {
        "precision of the first 100": sum(hits[:FIRST]) / max(1, len(hits[:FIRST])),  # there may be fewer
        "found in the first 3 %": len(found_early) / n_corrupted,
        "found at all": len(found) / n_corrupted,
    }
    for name, score in scores.items():
        print(f"{name}: {score:.3f}")
    return scores


def _is_hit(finding: Dict[str, Any], places: List[List[Any]]) -> bool:
    """Whether a finding overlaps with a corrupted place."""
    sides = [side for side in (finding["annotated"], finding["proposed"]) if side]
    return any(side["start"] < end and start < side["end"] for side in sides for start, end, _ in places)


if __name__ == "__main__":
    app()
