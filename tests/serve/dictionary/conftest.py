import pytest
from thinc.api import Model

from spacy_lexner.candidates.lexicon_node import RulesLink
from spacy_lexner.lexicon import Lexicon, LexiconEntry, MatchOptions
from spacy_lexner.lexicon.rules import RuleReader
from spacy_lexner.pipeline.lexicon_pipe import LexiconPipe

READER = RuleReader("lex_ner", frozenset(["LOC", "PER"]), frozenset(["forbid"]))


@pytest.fixture
def make_pipe():
    """Makes a component with a lexicon whose rules are followed by another one, with the labels LOC and PER."""

    def make(reader=READER, words=("长江", "大桥")):
        pipe = LexiconPipe("lex_matcher", MatchOptions())
        entries = [LexiconEntry(word, [1.0, 2.0], 2.0, "X") for word in words]
        pipe.set_lexicon(Lexicon.from_entries(entries))
        link = RulesLink()
        link.reader = reader
        model = Model("tagger", lambda model, X, is_train: (X, lambda dY: dY), attrs={"link": link})
        pipe.add_listener(model, "lex_ner")
        pipe.model_of_listener = model  # the link is weak
        return pipe

    return make
