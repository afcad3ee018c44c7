"""What a node logs about a lexicon unlike the one in training."""

import warnings

import pytest
import spacy

from spacy_lexner.candidates.lexicon_node import LexiconCandidates, training_matcher
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, Normalization
from spacy_lexner.lexicon.errors import LexiconWarning
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

NLP = spacy.blank("zh")
WORDS = ["南京", "北京", "东京", "西京", "长江"]


def lexicon(*words, label=""):
    return Lexicon.from_entries(LexiconEntry(word, label=label) for word in words)


def trained_with(known, **settings):
    """A node, and a function that runs it with another lexicon and returns what it logs."""
    node, source = LexiconCandidates(), SharedMatcher(Matcher(known))
    node.attrs["link"].source = source
    training_matcher(node, **settings)

    def say(other):
        source.set(Matcher(other))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", LexiconWarning)
            node.predict([NLP.make_doc("去南京")])
        return [str(warning.message) for warning in said]

    return node, say


def test_a_lexicon_that_shrinks_by_more_than_half_is_named_once():
    _, say = trained_with(lexicon(*WORDS))
    assert say(lexicon(*WORDS)) == say(lexicon(*WORDS[:3])) == []
    (message,) = say(lexicon(*WORDS[:2]))
    assert message.startswith("The lexicon has 2 words, but had 5 when the model was trained")
    assert say(lexicon()) == []


@pytest.mark.parametrize("known", [lexicon(), lexicon("南京")])
def test_one_that_was_empty_or_grows_is_not(known):
    _, say = trained_with(known)
    assert say(known) == say(lexicon(*WORDS)) == []


def test_a_lexicon_without_the_script_of_training_is_named_once():
    words = [LexiconEntry(word) for word in WORDS]
    simplified = Lexicon.from_entries(words, normalization=Normalization(script="simplified", characters="東东"))
    _, say = trained_with(simplified)
    assert say(simplified) == []
    (message,) = say(lexicon(*WORDS))
    assert "simplified script" in message and "--script simplified" in message
    assert say(lexicon(*WORDS)) == []
    _, say = trained_with(lexicon(*WORDS))
    assert say(simplified) == []


def test_labels_that_the_model_ignores_are_named_once():
    _, say = trained_with(lexicon(*WORDS), reads_labels=True)
    (message,) = say(lexicon(*WORDS, label="LOC"))
    assert "labels" in message and "ignores" in message
    assert say(lexicon(*WORDS[1:], label="LOC")) == []


@pytest.mark.parametrize("known, reads_labels", [(lexicon(*WORDS), False), (lexicon(*WORDS, label="X"), True)])
def test_labels_are_no_news(known, reads_labels):
    _, say = trained_with(known, reads_labels=reads_labels)
    assert say(lexicon(*WORDS, label="LOC")) == []


def test_the_memory_is_saved():
    node, _ = trained_with(lexicon(*WORDS))
    loaded = LexiconCandidates().from_bytes(node.to_bytes())
    loaded.attrs["link"].source = SharedMatcher(Matcher(lexicon()))
    with pytest.warns(LexiconWarning, match="has 0 words, but had 5"):
        loaded.predict([NLP.make_doc("去南京")])


def test_a_model_saved_before_remembers_nothing():
    node = LexiconCandidates()
    node.attrs["link"].source = SharedMatcher(Matcher(lexicon()))
    node.predict([NLP.make_doc("去南京")])
    assert node.attrs["trained_lexicon"] is None
