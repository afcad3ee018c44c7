"""Shared by the report's tests: annotated texts, and a pipeline that gets some of them right."""

from pathlib import Path
from typing import Any, List, Tuple

import pytest
import spacy
from headless import browser, measure  # noqa: F401 (fixtures)
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_lexner.pipeline.extensions import add_score_extension
from spacy_lexner.report.gold import GoldText
from spacy_lexner.visualize.lattice import Mark

TextT = Tuple[str, List[Tuple[int, int, str]]]
TEXTS: List[TextT] = [
    ("王明在南京", [(0, 2, "PER"), (3, 5, "GPE")]),  # found, found
    ("李雷去南京市", [(0, 2, "PER"), (3, 6, "GPE")]),  # missed, boundary
    ("没有人", []),
    ("王明公司", [(0, 4, "ORG")]),  # type and boundary
    ("在北京", [(1, 3, "ORG")]),  # type
    ("小北京好", []),  # spurious
]


@Language.component("score_by_length")
def score_by_length(doc: Doc) -> Doc:
    """Give every entity a score: 0.5 for PER, 0.9 for others."""
    add_score_extension()
    for ent in doc.ents:
        ent._.lex_score = 0.5 if ent.label_ == "PER" else 0.9
    return doc


@pytest.fixture
def nlp() -> Language:
    """A pipeline with scores and a lexicon that finds 王明, 南京 and 北京."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市", "北京"])
    patterns = [("PER", "王明"), ("GPE", "南京"), ("GPE", "北京")]
    nlp.add_pipe("entity_ruler").add_patterns([{"label": label, "pattern": word} for label, word in patterns])
    nlp.add_pipe("score_by_length")
    return nlp


@pytest.fixture
def gold() -> List[GoldText]:
    return [GoldText(text, [Mark(*ent) for ent in ents], []) for text, ents in TEXTS]


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    nlp = spacy.blank("zh")
    DocBin(docs=[make_doc(nlp, *text) for text in TEXTS]).to_disk(tmp_path / "test.spacy")
    return tmp_path / "test.spacy"


def make_doc(nlp: Any, text: str, ents: List[Tuple[int, int, str]]) -> Doc:
    doc = nlp.make_doc(text)
    doc.set_ents([doc.char_span(start, end, label=label) for start, end, label in ents])
    return doc
