"""Draws the lattice and the report shown in the docs from the texts in docs/pictures/examples.yml, with the package's
own functions.

    python docs/tools/draw_examples.py
"""

import re
from pathlib import Path
from typing import Any, Dict, List, Tuple

import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lexner.pipeline.extensions import add_score_extension
from spacy_lexner.report.gold import GoldText
from spacy_lexner.report.measure import Settings
from spacy_lexner.report.page import make_page
from spacy_lexner.report.report import make_report
from spacy_lexner.visualize import Mark, draw_lattice

PICTURES = Path(__file__).parents[1] / "pictures"
MENTION = re.compile(r"\[(\w+)\|(\w+)(?: ([\d.]+))?\]|(.)")


def draw() -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The pictures, by file name."""
    source = srsly.read_yaml(PICTURES / "examples.yml")
    read = [(read_marks(gold), read_marks(found)) for gold, found in source["texts"]]
    text, marks = read_marks(source["lattice"])
    nlp = make_model(source["lexicon"], {**{found[0]: found[1] for _, found in read}, text: marks})
    peer = spacy.blank("zh")
    peer.add_pipe("entity_ruler").add_patterns([{"label": v, "pattern": k} for k, v in source["peer"].items()])
    gold = [GoldText(*gold, []) for gold, _ in read]
    report = make_report([("model", nlp), ("peer", peer)], gold, Settings(seen=set(source["seen"])))
    for measured in report.models.values():
        measured.figures["seconds"] = 0.0  # differs between machines
    picture = draw_lattice(nlp(text), nlp.get_pipe("lex_matcher").lexicon, theme="light")
    pages = {"report.html": make_page(report), "report.zh.html": make_page(report, title="报告", language="zh")}
    return {"lattice.svg": picture.to_svg(), **pages}


def read_marks(annotated: str) -> Tuple[str, List[Mark]]:
    """RETURNS (Tuple[str, List[Mark]]): The text and the entities of "[南京市|GPE 0.98]很大"."""
    text, marks = "", []
    for mention, label, score, other in MENTION.findall(annotated):
        if label:
            marks.append(Mark(len(text), len(text) + len(mention), label, float(score) if score else None))
        text += mention or other
    return text, marks


def make_model(words: List[str], found: Dict[str, List[Mark]]) -> Language:
    """RETURNS (Language): A pipeline with a lexicon that finds the given entities in each text."""

    @Language.component("lexner_docs_example")
    def find(doc: Doc) -> Doc:
        add_score_extension()
        doc.ents = [doc.char_span(mark.start, mark.end, mark.label) for mark in found[doc.text]]
        for ent, mark in zip(doc.ents, found[doc.text]):
            ent._.lex_score = mark.score
        return doc

    nlp = spacy.blank("zh")
    matcher: Any = nlp.add_pipe("lex_matcher")
    matcher.add_words(words)
    nlp.add_pipe("lexner_docs_example")
    return nlp


if __name__ == "__main__":
    for name, content in draw().items():
        (PICTURES / name).write_text(content, "utf8")
