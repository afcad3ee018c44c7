import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Normalization, table
from spacy_lexner.lexicon.build import MAX_PLACES, BuildReport
from spacy_lexner.lexicon.entry import REASONS, EntryStream
from spacy_lexner.lexicon.readers.merged_stream import MergedStream
from spacy_lexner.lexicon.rules import Rule

UNFIT = [
    (11, LexiconEntry("南京", np.ones(3))),
    (12, LexiconEntry(" ")),
    (13, LexiconEntry("北\t京")),
    (14, LexiconEntry("北\0京")),
    (15, LexiconEntry("长" * 65)),
    (16, LexiconEntry("上\ud800海")),
    (17, LexiconEntry("上海", np.ones(4))),
    (17, LexiconEntry("上海", label="A\x1fB")),
    (18, LexiconEntry("上海", np.array([1, np.nan, 1]))),
    (19, LexiconEntry("上海", weight=float("inf"))),
    (19, LexiconEntry("上海", entity_id=42)),
    (20, LexiconEntry("南京", np.zeros(3), 2.0)),
    (21, LexiconEntry("上海", rules=(Rule("must"),))),
    (22, LexiconEntry("上海")),
]


def test_unfit_entries_are_skipped_and_counted():
    lexicon = Lexicon.from_entries(EntryStream("words.vec", UNFIT))
    assert list(lexicon) == ["南京", "上海"]
    assert lexicon.get("南京").weight == 1.0 and lexicon.get("南京").vector.tolist() == [1, 1, 1]
    assert lexicon.report.n_read == 14 and lexicon.report.n_skipped == 12
    assert set(lexicon.report.skipped) == set(REASONS) - {"label_added"}
    assert lexicon.report.skipped["bad_vector"] == 2
    assert lexicon.report.places["bad_vector"] == ["words.vec:17", "words.vec:18"]
    assert lexicon.report.places["duplicate"] == ["words.vec:20"]


@pytest.mark.parametrize("unfit", UNFIT[1:-1])
def test_strict_names_file_line_and_reason(unfit):
    with pytest.raises(LexiconError, match=rf"^words.vec:{unfit[0]}: .*or skip it .strict=False."):
        Lexicon.from_entries(EntryStream("words.vec", [UNFIT[0], unfit]), strict=True)


def test_vector_that_half_precision_cannot_hold():
    entries = [LexiconEntry("甲", np.array([1.0, 2.0])), LexiconEntry("乙", np.array([1e5, 0.0]))]
    assert list(Lexicon.from_entries(entries)) == ["甲", "乙"]
    assert list(Lexicon.from_entries(entries, dtype="float16")) == ["甲"]


def test_words_are_normalised_before_they_are_compared():
    entries = [LexiconEntry("ＡＢc"), LexiconEntry("abC", weight=3.0)]
    lexicon = Lexicon.from_entries(entries, normalization=Normalization(True, True))
    assert list(lexicon) == ["abc"] and lexicon.report.skipped == {"duplicate": 1}


def test_merging_lends_vectors():
    first = EntryStream("dict.txt", [(1, LexiconEntry("甲", None, 5.0, "n")), (2, LexiconEntry("乙"))])
    second = EntryStream("a.vec", [(2, LexiconEntry("甲", np.ones(2))), (3, LexiconEntry("丙", np.zeros(2)))])
    third = EntryStream("b.vec", [(9, LexiconEntry("甲", np.zeros(2))), (8, LexiconEntry("丙", np.ones(2)))])
    lexicon = Lexicon.from_entries(MergedStream([first, second, third]), merge=True, strict=True)
    known = {entry.word: entry for entry in lexicon.entries()}
    assert list(known) == ["甲", "乙", "丙"]
    assert known["甲"].vector.tolist() == [1, 1] and known["甲"][2:5] == (5.0, ("n",), "")
    assert known["乙"].vector is None and known["丙"].vector.tolist() == [0, 0]
    assert lexicon.report.source == "dict.txt, a.vec, b.vec"
    assert lexicon.report.places["duplicate"] == ["a.vec:2", "b.vec:9", "b.vec:8"]
    assert lexicon.version == Lexicon.from_entries(lexicon.entries()).version


def test_stream_is_not_held(monkeypatch):
    """At most one entry is in memory at a time, and the vectors go to disk."""
    monkeypatch.setattr(table, "MAX_IN_MEMORY", 1 << 12)
    alive = []

    class Vector(np.ndarray):
        def __del__(self):
            alive.remove(id(self))

    def numbered():
        for i in range(1000):
            vector = np.full(8, i, "f4").view(Vector)
            alive.append(id(vector))
            assert len(alive) <= 3
            yield i, LexiconEntry(f"w{i}", vector)
            del vector

    lexicon = Lexicon.from_entries(EntryStream("generator", numbered()))
    assert len(lexicon) == 1000 and lexicon.get("w999").vector.tolist() == [999.0] * 8


def test_unknown_dtype():
    with pytest.raises(LexiconError, match="'int8'; expected \"float32\""):
        Lexicon.from_entries([], dtype="int8")


def test_error_in_the_stream_comes_through():
    def broken():
        yield LexiconEntry("甲", np.ones(2))
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        Lexicon.from_entries(broken())


def test_counts_all_and_remembers_the_first():
    report = BuildReport("words.txt")
    report.n_read = 40
    for line in range(1, 31):
        report.skip("empty", f"words.txt:{line}")
    report.skip("duplicate", "words.txt:40")
    assert report.n_skipped == 31 and report.skipped == {"empty": 30, "duplicate": 1}
    assert report.places["empty"] == [f"words.txt:{line}" for line in range(1, MAX_PLACES + 1)]
    text = str(report)
    assert "40 entries read, 31 skipped" in text
    assert "30 x empty word: words.txt:1, " in text and "words.txt:10, ..." in text
    assert "1 x duplicate of an earlier word: words.txt:40" in text


def test_json_round_trip():
    report = BuildReport("words.txt")
    report.n_read = 2
    report.skip("nul", "words.txt:2")
    assert report.by_file == {"words.txt": BuildReport("words.txt", 0, report.skipped, report.places)}
    saved = {name: value for name, value in asdict(report).items() if name != "by_file"}
    assert BuildReport(**json.loads(json.dumps(saved))) == report


def test_plain_entries_are_numbered():
    report = Lexicon.from_entries([LexiconEntry("甲"), LexiconEntry("乙\n乙")]).report
    assert (report.source, report.places) == ("entries", {"white_space": ["entries:2"]})


ENTRIES = st.lists(
    st.builds(
        lambda word, labels: LexiconEntry(word, labels=labels),
        st.sampled_from(["甲", "乙", "丙"]),
        st.lists(st.sampled_from("ABC"), max_size=2),
    )
)


@given(ENTRIES, st.booleans())
def test_equal_words_have_the_labels_of_all(entries, merge):
    """Against a dictionary; and nothing is lost in a file, with another lexicon on top, or in any number of parts."""
    expected = {}
    for entry in entries:
        expected[entry.word] = tuple(dict.fromkeys((*expected.get(entry.word, ()), *entry.labels)))
    lexicon = Lexicon.from_entries(entries, merge=merge)
    added = lexicon.report.skipped.get("label_added", 0)
    assert lexicon.report.n_read == len(entries) == len(lexicon) + lexicon.report.n_skipped + added
    halves = Lexicon.from_entries([*Lexicon.from_entries(entries[:2]).entries(), *entries[2:]])
    on_top = Lexicon.from_entries([]).with_words(entries)
    for each in (lexicon, Lexicon.from_bytes(lexicon.to_bytes()), halves, on_top, on_top.compact()):
        assert {entry.word: entry.labels for entry in each.entries()} == expected
        assert each.version == lexicon.version and each.has_labels == any(expected.values())
        assert each.distinct_labels() == {label for labels in expected.values() for label in labels}
        hashes = np.array([each.hash(word) for word in (*expected, "丁")], "u8")
        assert each.labels(hashes) == {i: labels for i, labels in enumerate(expected.values()) if labels}


def test_a_label_that_an_earlier_word_gets_is_reported_and_not_lost():
    entries = EntryStream("all.tsv", [(i, LexiconEntry("小米", label=label)) for i, label in enumerate("ABA", 1)])
    report = Lexicon.from_entries(entries).report
    assert report.skipped == {"label_added": 1, "duplicate": 1} and report.n_skipped == 1
    assert report.places["label_added"] == ["all.tsv:2"]
    assert "1 x duplicate of an earlier word, which also gets its label: all.tsv:2" in str(report)
    both = [LexiconEntry("小米", label=label) for label in "AB"]
    assert Lexicon.from_entries(both, strict=True).get("小米").labels == ("A", "B")


def test_a_lexicon_without_labels_says_so_after_they_are_gone():
    lexicon = Lexicon.from_entries([LexiconEntry("小米", label="FOOD"), LexiconEntry("南京")]).without_words(["小米"])
    assert lexicon.distinct_labels() == set() and not lexicon.labels(np.array([lexicon.hash("南京")], "u8"))
