"""Shared by the tests of pictures: a Doc with words and entities, and a real browser."""

import pytest
import spacy
from headless import browser, measure  # noqa: F401 (fixtures)
from spacy.tokens import Doc

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.pipeline.extensions import add_score_extension

TEXT = "南京市长江大桥"
WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥"]


@pytest.fixture
def lexicon() -> Lexicon:
    """Six words with increasing weights."""
    return Lexicon.from_entries(LexiconEntry(word, weight=float(i), label="n") for i, word in enumerate(WORDS, 2))


@pytest.fixture
def doc(lexicon: Lexicon) -> Doc:
    """A Doc with candidate words, and two entities, one of which has a score."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").set_lexicon(lexicon)
    add_score_extension()
    doc = nlp(TEXT)
    doc.ents = [doc.char_span(0, 3, label="GPE"), doc.char_span(3, 7, label="LOC")]
    doc.ents[0]._.lex_score = 0.875
    return doc
