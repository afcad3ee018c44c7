from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.encoders.elmo.counted_words import write_counted_words
from spacy_lexner.pretraining.word_vocabulary import UNKNOWN, WordCounter, WordVocabulary

WORDS = st.lists(st.sampled_from(["长江", "大桥", "桥", "水", " ", "\u3000", "a\tb", "a\nb"]), max_size=40)


@given(st.lists(WORDS, max_size=5))
def test_counts(parts):
    counter = WordCounter()
    for part in parts:
        counter.add(part)
    kept = [word for part in parts for word in part if word in ("长江", "大桥", "桥", "水")]
    assert dict(counter.most_common()) == Counter(kept)
    assert counter.n_words == len(kept) and counter.least_certain == 0
    counts = [count for _, count in counter.most_common()]
    assert counts == sorted(counts, reverse=True)
    assert counter.most_common(1) == counter.most_common()[:1]
    assert all(count >= 3 for _, count in counter.most_common(min_count=3))


def test_order_does_not_depend_on_the_order_of_the_text():
    first, second = WordCounter(), WordCounter()
    first.add(["水", "桥", "江"])
    second.add(["江", "桥", "水"])
    assert first.most_common() == second.most_common()


def test_bounded_memory_keeps_the_frequent_words():
    counter = WordCounter(max_held=10)
    for number in range(200):
        counter.add(["的", "的", "了", f"词{number}"])
    assert len(counter._counts) <= 11
    assert counter.most_common(2) == [("的", 400), ("了", 200)]
    assert counter.least_certain == 1 and counter.n_words == 800


def test_numbers(tmp_path):
    write_counted_words([("的", 9), ("水", 5), ("桥", 5)], tmp_path / "words.tsv")
    vocabulary = WordVocabulary.read(tmp_path / "words.tsv")
    assert len(vocabulary) == 6
    assert vocabulary.numbers(["桥", "江", "的", " "]).tolist() == [5, UNKNOWN, 3, UNKNOWN]
    assert len(WordVocabulary.read(tmp_path / "words.tsv", max_words=1)) == 4
    assert vocabulary.fingerprint != WordVocabulary(["的", "水"]).fingerprint


def test_words_that_are_not_in_the_order_of_frequency(tmp_path):
    write_counted_words([("的", 9), ("水", 2), ("桥", 5)], tmp_path / "words.tsv")
    with pytest.raises(ValueError, match="line 3: '桥' is more frequent"):
        WordVocabulary.read(tmp_path / "words.tsv")


def test_a_number_of_words_below_zero(tmp_path):
    write_counted_words([("的", 9), ("水", 2)], tmp_path / "words.tsv")
    with pytest.raises(ValueError, match="max_words is -1; expected a number of words, or 0 for all"):
        WordVocabulary.read(tmp_path / "words.tsv", -1)
