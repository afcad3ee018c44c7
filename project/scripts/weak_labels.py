"""Compare what a dictionary labels in the texts of a run of `spacy lexner weak` with their annotation: how many of the
known occurrences are entities, how many lie inside longer ones, and how many are neither. Labels are not compared.

The rows: all known occurrences, those left out as improbable words or as parts of longer entities, and the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Dict, Iterable, List, Set, Tuple

import srsly
import typer
from spacy.tokens import Doc

from spacy_lexner.formats.spacy_file import read_all, read_docs
from spacy_lexner.lexicon.entry import hash_word
from spacy_lexner.weak.doubt import PARTS
from spacy_lexner.weak.texts import TRAIN

Place = Tuple[str, int, int]  # text, start and end


def main(
    run: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The folder of the run.")],
    corpus: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The same texts, annotated (.spacy).")],
) -> None:
    entities, words = places_of(read_docs(corpus)), run / "words"
    before = places_of(read_all(run / "labels" / TRAIN))
    after = places_of(read_all(words / "labels" / TRAIN)) if (words / "labels").is_dir() else before  # nothing left out
    rows_of_parts = srsly.read_jsonl(words / PARTS) if (words / PARTS).is_file() else ()  # none with `--folds 0`
    parts = {(row["text"], row["start"], row["end"]) for row in rows_of_parts}
    in_parts = {(text, *place) for text, *place in before - after if (hash_word(text), *place) in parts}
    rows = {
        "known": before,
        "improbable words": before - after - in_parts,
        "parts of longer entities": in_parts,
        "kept": after,
    }
    inside = places_inside(before, entities)
    print("| occurrences | number | entities | inside longer ones | neither |\n|---|---|---|---|---|")
    for name, places in rows.items():
        counts = [len(places), len(places & entities), len(places & inside), len(places - entities - inside)]
        print("|", " | ".join([name, *map(str, counts)]), "|")


def places_of(docs: Iterable[Doc]) -> Set[Place]:
    """RETURNS (Set[Tuple[str, int, int]]): The places of all entities."""
    return {(doc.text, ent.start_char, ent.end_char) for doc in docs for ent in doc.ents}


def places_inside(places: Set[Place], entities: Set[Place]) -> Set[Place]:
    """RETURNS (Set[Tuple[str, int, int]]): The places that lie inside longer entities."""
    by_text: Dict[str, List[Tuple[int, int]]] = {}
    for text, start, end in entities:
        by_text.setdefault(text, []).append((start, end))
    return {
        (text, start, end)
        for text, start, end in places - entities
        if any(first <= start and end <= last for first, last in by_text.get(text, ()))
    }


if __name__ == "__main__":
    typer.run(main)
