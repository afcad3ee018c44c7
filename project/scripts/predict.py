"""Find entities in raw sentences, each with its score and the lexicon words that overlap with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer
from pipelines import load_pipeline
from spacy.tokens import Doc
from wasabi import msg


def describe(doc: Doc) -> List[Dict[str, Any]]:
    """Describe the entities of a Doc.

    doc (Doc): An annotated Doc.
    RETURNS (List[Dict[str, Any]]): The text, label, character offsets and score of each entity, and the candidate
        words that overlap with it.
    """
    matches = (doc._.lex_matches if Doc.has_extension("lex_matches") else None) or []
    return [
        {
            "text": ent.text,
            "label": ent.label_,
            "start": ent.start_char,
            "end": ent.end_char,
            "score": round(ent._.lex_score, 4)
            if ent.has_extension("lex_score") and ent._.lex_score is not None
            else None,
            "words": [word.word for word in matches if word.start < ent.end_char and ent.start_char < word.end],
        }
        for ent in doc.ents
    ]


def main(
    model: Annotated[Path, typer.Argument(help="A trained pipeline.")],
    texts: Annotated[
        Optional[Path], typer.Argument(help="File with one text per line; standard input by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON lines.")] = False,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
) -> None:
    """Find entities in texts, one per line."""
    if texts is not None and not texts.is_file():
        msg.fail(f"No file {texts}", exits=1)
    try:
        lines = texts.read_text("utf8").split("\n") if texts else (line.rstrip("\n") for line in sys.stdin)
    except UnicodeDecodeError as error:
        msg.fail(f"{texts} is not UTF-8: {error.reason} at byte {error.start + 1}", "Convert it to UTF-8.", exits=1)
    nlp = load_pipeline(model, gpu_id)
    for doc in nlp.pipe(line for line in lines if line.strip()):
        entities = describe(doc)
        if as_json:
            print(json.dumps({"text": doc.text, "entities": entities}, ensure_ascii=False))
            continue
        print(doc.text)
        for ent in entities:
            score = "" if ent["score"] is None else f"  {ent['score']:.3f}"
            print(f"    {ent['label']}  {ent['text']}{score}  [{' '.join(ent['words'])}]")


if __name__ == "__main__":
    typer.run(main)
