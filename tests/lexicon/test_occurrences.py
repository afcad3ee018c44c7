import random

import numpy as np

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, Normalization
from spacy_lexner.lexicon.occurrences import Occurrence, find_occurrences
from spacy_lexner.lexicon.rules import Rule

FORCE, FORBID = (Rule("force", "LOC"),), (Rule("forbid"),)


def test_in_order_and_of_any_length():
    entries = [LexiconEntry("京", rules=FORCE), LexiconEntry("南京市", rules=FORBID), LexiconEntry("南京")]
    lexicon = Lexicon.from_entries([*entries, LexiconEntry("市", rules=FORBID)])
    first = [Occurrence(0, 3, FORBID), Occurrence(1, 2, FORCE), Occurrence(2, 3, FORBID)]
    assert find_occurrences(lexicon, ["南京市", "", "北 京"]) == [first, [], [Occurrence(2, 3, FORCE)]]


def test_as_the_lexicon_normalises():
    lexicon = Lexicon.from_entries([LexiconEntry("ABC", rules=FORCE)], normalization=Normalization(True, True))
    assert find_occurrences(lexicon, ["Ａbcd"]) == [[Occurrence(0, 3, FORCE)]]


def test_changes_count():
    lexicon = Lexicon.from_entries([LexiconEntry("长江", rules=FORCE), LexiconEntry("大桥")])
    assert find_occurrences(lexicon.with_words(["长江"]), ["长江"]) == [[Occurrence(0, 2, FORCE)]]
    changed = lexicon.with_words([LexiconEntry("大桥", rules=FORBID), LexiconEntry("长江", rules=(Rule("hint"),))])
    assert find_occurrences(changed, ["长江大桥"]) == [[Occurrence(2, 4, FORBID)]]
    assert find_occurrences(changed.without_words(["大桥"]), ["长江大桥"]) == [[]]


def test_among_many_words():
    rng = random.Random(0)
    words = {"".join(rng.choices("甲乙丙丁", k=rng.randint(1, 4))) for _ in range(200)}
    ruled = {word for word in words if rng.random() < 0.2}
    lexicon = Lexicon.from_entries(LexiconEntry(word, rules=FORCE if word in ruled else ()) for word in sorted(words))
    texts = ["".join(rng.choices("甲乙丙丁 ", k=30)) for _ in range(20)]
    words, borders = Matcher(lexicon).match(texts)
    numbers = np.repeat(np.arange(len(texts)), np.diff(borders))
    expected = [row for row in zip(numbers, words.starts, words.ends) if texts[row[0]][row[1] : row[2]] in ruled]
    found = find_occurrences(lexicon, texts)
    assert [(i, each.start, each.end) for i, part in enumerate(found) for each in part] == expected


def test_no_rules_cost_nothing(monkeypatch):
    lexicon = Lexicon.from_entries([LexiconEntry("长江")])
    monkeypatch.setattr(Lexicon, "match", None)
    assert find_occurrences(lexicon, ["长江"] * 2) == [[], []]
