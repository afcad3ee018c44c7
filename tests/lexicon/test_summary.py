import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.lexicon.strings import StringsBuilder
from spacy_lexner.lexicon.summary import count_characters, summarise


def test_figures(lexicon):
    figures = summarise(lexicon)
    assert (figures["words"], figures["dim"], figures["dtype"]) == (10, 4, "float32")
    assert figures["words_with_vector"] == figures["words_with_entity_id"] == 10
    assert figures["lengths"] == {1: 3, 2: 4, 3: 2, 4: 1}
    assert figures["labels"] == {"LOC": 5}
    assert figures["weight"] == [0.5, 5.0, 9.5]
    assert figures["version"] == f"{lexicon.version:016x}"


def test_changes_count_too(lexicon):
    figures = summarise(lexicon.with_words(["紫峰大厦"]).without_words(["南京", "市"]))
    assert (figures["words"], figures["words_with_vector"]) == (9, 8)
    assert figures["lengths"] == {1: 2, 2: 3, 3: 2, 4: 2}


def test_rules(lexicon):
    rules = (Rule("forbid"), Rule("prefer", "LOC", 1.0))
    assert summarise(lexicon)["rules"] == {"prefer": 4} and summarise(Lexicon.from_entries([]))["rules"] == {}
    ruled = Lexicon.from_entries([LexiconEntry("南京")]).with_words(
        [LexiconEntry("南京", rules=rules), LexiconEntry("市", rules=rules[:1])]
    )
    assert summarise(ruled)["rules"] == {"forbid": 2, "prefer": 1}


def test_empty():
    figures = summarise(Lexicon.from_entries([]))
    assert (figures["words"], figures["lengths"], figures["labels"], figures["weight"]) == (0, {}, {}, [1.0, 1.0, 1.0])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_characters_are_counted(strings):
    builder = StringsBuilder()
    for string in strings:
        builder.append(string)
    np.testing.assert_array_equal(count_characters(builder.finish()), [len(string) for string in strings])
