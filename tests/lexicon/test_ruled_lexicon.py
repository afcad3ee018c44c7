from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.lexicon.ruled_lexicon import RuledLexicon
from spacy_lexner.lexicon.rules import HINT_ONLY, Rule, normal_rules

WORD = st.text("甲乙aA", min_size=1, max_size=2)
RULE = st.sampled_from([Rule("force", "LOC"), Rule("forbid"), Rule("prefer", "LOC", 2.0)])
RULES = st.one_of(st.just(()), st.just(HINT_ONLY), st.tuples(RULE))
START = Lexicon.from_entries([LexiconEntry("甲", weight=3.0), LexiconEntry("乙", rules=(Rule("forbid"),))])


class Changes(RuleBasedStateMachine):
    """Changes by calls, and reloaded files: they behave like two dicts."""

    def __init__(self):
        super().__init__()
        start = Lexicon.from_entries(START.entries(), normalization=Normalization(case=True))
        self.dictionary = RuledLexicon(start, {})
        self.own, self.files = {"甲": (), "乙": (Rule("forbid"),)}, {}

    @rule(rules=st.dictionaries(WORD, RULES, max_size=3))
    def add(self, rules):
        self.dictionary = self.dictionary.with_words(LexiconEntry(word, rules=own) for word, own in rules.items())
        for word, given in rules.items():
            word = word.lower()
            self.own[word] = normal_rules(given) if given else self.own.get(word, ())
            if given:
                self.files.pop(word, None)

    @rule(words=st.lists(WORD, max_size=2))
    def remove(self, words):
        self.dictionary = self.dictionary.without_words(words)
        for word in words:
            self.own.pop(word.lower(), None)
            self.files.pop(word.lower(), None)

    @rule(rules=st.dictionaries(WORD, st.one_of(st.just(()), st.tuples(RULE)), max_size=3))
    def read_files(self, rules):
        self.dictionary = RuledLexicon(self.dictionary.own, rules)
        self.files = {}
        for word, given in rules.items():
            self.files[word.lower()] = normal_rules((*self.files.get(word.lower(), ()), *given))

    @invariant()
    def is_what_it_should_be(self):
        for lexicon, expected in ((self.dictionary.own, self.own), (self.dictionary.lexicon, self.own | self.files)):
            assert {entry.word: entry.rules for entry in lexicon.entries()} == expected
        assert self.dictionary.from_files == self.files
        kept = self.dictionary.lexicon.get("甲")
        assert kept is None or kept.weight in (3.0, 1.0)


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=60, stateful_step_count=12, deadline=None)
