"""The dictionary baseline: every labelled word is an entity, and of overlapping ones the longest.

python scripts/dictionary_alone.py lexicon/typed-bc5cdr corpus/bc5cdr/test.spacy --language en
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Dict

import spacy
import typer
from evaluate import percent
from pipelines import read_examples
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans, registry

from spacy_lexner.cli.shared import failing
from spacy_lexner.lexicon import Lexicon


def add_entities(doc: Doc) -> Doc:
    """Set the entities of a matched Doc."""
    words = [match for match in doc._.lex_matches if match.labels]
    spans = [doc.char_span(word.start, word.end, label=word.labels[0]) for word in words]
    doc.ents = filter_spans([span for span in spans if span is not None])
    return doc


def main(
    lexicon: Annotated[Path, typer.Argument(help="The folder of a lexicon with labels.")],
    corpus: Annotated[Path, typer.Argument(help="The corpus to evaluate on, .spacy.")],
    language: Annotated[str, typer.Option(help="The language of the corpus.")] = "zh",
) -> Dict[str, float]:
    """Print precision, recall and F1."""
    nlp = spacy.blank(language)
    with failing("The dictionary cannot be evaluated"):
        nlp.add_pipe("lex_matcher").set_lexicon(Lexicon.open(lexicon))  # type: ignore[attr-defined]
    gold = [example.reference for example in read_examples(nlp, corpus)]
    examples = [Example(add_entities(doc), own) for doc, own in zip(nlp.pipe(doc.text for doc in gold), gold)]
    scores = registry.scorers.get("spacy-lexner.lex_ner_scorer.v1")()(examples)
    print(*(f"{name} {percent(scores[key])}" for name, key in (("P", "ents_p"), ("R", "ents_r"), ("F1", "ents_f"))))
    return scores


if __name__ == "__main__":
    typer.run(main)
