from itertools import pairwise

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Normalization
from spacy_lexner.lexicon.changes import GROWTH
from spacy_lexner.lexicon.rules import Rule, normal_rules

WORD = st.text("甲乙aB", min_size=1, max_size=3)
VECTOR = st.one_of(st.none(), st.lists(st.integers(0, 9), min_size=2, max_size=2).map(np.float16))
NAME = st.sampled_from(["", "LOC"])
LABELS = st.lists(st.sampled_from("AB"), max_size=2)
RULE = st.sampled_from([Rule("hint"), Rule("force", "LOC"), Rule("forbid"), Rule("prefer", "LOC", 0.1)])
ENTRY = st.builds(
    LexiconEntry, WORD, VECTOR, st.sampled_from([1.0, 0.1]), LABELS, NAME, st.lists(RULE, max_size=2).map(tuple)
)


class Changes(RuleBasedStateMachine):
    """A changed lexicon behaves like a dict, and equals the one built from its entries."""

    def __init__(self):
        super().__init__()
        self.lexicon = Lexicon.from_entries([], dtype="float16", normalization=Normalization(case=True))
        self.known = {}

    @rule(entries=st.lists(ENTRY, max_size=4))
    def add(self, entries):
        self.lexicon = self.lexicon.with_words(entries)
        labels = {}
        for entry in entries:
            word = entry.word.lower()
            labels[word] = tuple(dict.fromkeys((*labels.get(word, ()), *entry.labels)))
            old = self.known.get(word, LexiconEntry(word))
            self.known[word] = LexiconEntry(
                word,
                old.vector if entry.vector is None else entry.vector,
                old.weight if entry.weight == 1.0 else entry.weight,
                labels[word] or old.labels,
                entry.entity_id or old.entity_id,
                normal_rules(entry.rules) if entry.rules else old.rules,
            )

    @rule(words=st.lists(WORD, max_size=3))
    def remove(self, words):
        self.lexicon = self.lexicon.without_words(words)
        for word in words:
            self.known.pop(word.lower(), None)

    @rule()
    def fold(self):
        version = self.lexicon.version
        self.lexicon = self.lexicon.compact()
        assert self.lexicon.version == version and not self.lexicon.changed

    @invariant()
    def equals_the_dictionary(self):
        lexicon, known = self.lexicon, self.known
        assert len(lexicon) == len(known) and sorted(lexicon) == sorted(known)
        for word in ("甲", "B", "乙a", *known):
            entry, expected = lexicon.get(word), known.get(word.lower())
            assert (word in lexicon) == (entry is not None) == (expected is not None)
            if expected is not None:
                assert entry[0] == expected[0] and entry[3:] == expected[3:]
                assert entry.weight == np.float32(expected.weight)
                assert np.array_equal(entry.vector, expected.vector) or entry.vector is expected.vector is None
        hashes = np.array([lexicon.hash(word) for word in [*known, "不在"]], "u8")
        rows = lexicon.rows(hashes)
        assert rows[-1] == -1 and len(set(rows.tolist())) == len(known) + 1
        ruled = {entry.word: entry.rules for entry in known.values() if entry.rules}
        assert {entry.word: entry.rules for entry in lexicon.ruled_words()} == ruled
        assert {i: rules for i, word in enumerate(known) if (rules := ruled.get(word))} == lexicon.rules(hashes)
        assert not ruled or lexicon.has_rules
        vectors, there = lexicon.vectors(hashes)
        assert there.tolist() == [entry.vector is not None for entry in known.values()] + [False]
        for vector, entry in zip(vectors, known.values()):
            assert vector.tolist() == ([0.0] * lexicon.dim if entry.vector is None else entry.vector.tolist())
        again = Lexicon.from_entries(known.values(), dtype="float16", normalization=Normalization(case=True))
        assert lexicon.version == again.version


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)


def test_what_an_entry_leaves_out_stays(lexicon):
    changed = lexicon.with_words(["长江", LexiconEntry("大桥", label="BRIDGE"), LexiconEntry("京", np.zeros(4), 7.0)])
    assert changed.get("长江")[2:] == lexicon.get("长江")[2:]
    assert changed.get("大桥")[2:5] == (5.5, ("BRIDGE",), "Q5") and changed.get("大桥").vector.tolist() == [5.0] * 4
    assert changed.get("京")[2:5] == (7.0, ("LOC",), "Q7") and changed.get("京").vector.tolist() == [0.0] * 4
    assert lexicon.with_words(["长江", "长江"]).version == lexicon.version


def test_the_lexicon_itself_never_changes(lexicon):
    before = lexicon.version, list(lexicon)
    lexicon.with_words(["新词"]).without_words(["长江"])
    assert (lexicon.version, list(lexicon)) == before


@pytest.mark.parametrize(
    "entry,message",
    [
        ("北  京", "'北  京' cannot be added: white space"),
        ("", "empty word"),
        ("长" * 65, r"65 characters, expected at most 64"),
        (LexiconEntry("甲", np.ones(5)), r"expected 4 dimensions, got the shape \[5\]"),
        (LexiconEntry("甲", np.full(4, np.nan)), "not finite"),
        (LexiconEntry("甲", weight=float("nan")), "the weight is nan"),
        (LexiconEntry("甲", rules=(Rule("must"),)), "the mode is 'must'; expected one of hint, force, forbid, prefer"),
    ],
)
def test_unfit_entries_are_refused(lexicon, entry, message):
    with pytest.raises(LexiconError, match=message):
        lexicon.with_words(["好词", entry])


def test_first_vectors_of_a_lexicon():
    lexicon = Lexicon.from_entries([LexiconEntry("甲")]).with_words([LexiconEntry("乙", np.ones(3))])
    assert lexicon.dim == 3
    with pytest.raises(LexiconError, match="expected 3 dimensions"):
        lexicon.with_words([LexiconEntry("丙", np.ones(2))])


def sizes(lexicon):
    return [level.size for level in lexicon.levels]


def test_changes_share_the_lexicon(lexicon):
    changed = lexicon.with_words([f"新词{i}" for i in range(300)]).without_words(["长江"])
    assert changed.base.trie is lexicon.base.trie and len(changed.base.hidden) == 1
    assert sizes(changed) == [len(lexicon) - 1, 300]


def test_small_levels_are_merged(lexicon):
    """Levels above the lexicon stay few, and nothing is lost, or rewritten below."""
    changed = lexicon
    for i in range(200):
        changed = changed.with_words([f"词{i}甲", f"词{i}乙"])
        above = sizes(changed)[1:]
        assert all(older >= GROWTH * newer for older, newer in pairwise(above)) and len(above) <= 5
    assert sum(sizes(changed)) == len(changed) == len(lexicon) + 400 and changed.base is lexicon.base
    changed = changed.without_words([f"词{i}甲" for i in range(200)])
    assert len(changed) == len(lexicon) + 200 and sum(len(level.hidden) for level in changed.levels) <= 200
    assert not changed.without_words(f"词{i}乙" for i in range(200)).changed


def test_what_does_not_change_anything(lexicon):
    changed = lexicon.with_words([LexiconEntry("长江", rules=(Rule("force", "LOC"),))])
    again = changed.with_words([LexiconEntry("长江", rules=(Rule("force", "LOC"),)), "大桥"])
    assert again.version == changed.version and again.levels is changed.levels
    back = LexiconEntry("长江", rules=(Rule("forbid"),)), LexiconEntry("长江", rules=(Rule("force", "LOC"),))
    assert changed.with_words(back).levels is changed.levels


def test_dimensions_stay_when_no_word_has_a_vector_any_more():
    lexicon = Lexicon.from_entries([LexiconEntry("甲", np.ones(3)), LexiconEntry("乙")]).without_words(["甲"])
    assert lexicon.dim == lexicon.compact().dim == Lexicon.from_bytes(lexicon.to_bytes()).dim == 3
