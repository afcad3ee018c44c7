import gzip
import json
import pickle
import random

import numpy as np
import pygtrie
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Matcher, MatchOptions, Normalization, hash_word
from spacy_lexner.lexicon import matcher as matcher_module
from spacy_lexner.lexicon.matcher import SINGLE_CHARS, Occurrence, find_occurrences, keep_single_chars
from spacy_lexner.lexicon.rules import Rule

ALPHABET = "ab甲乙\U00020bb7é"
WORD = st.lists(st.text(ALPHABET, min_size=1, max_size=3), min_size=1, max_size=2).map(" ".join)  # some with a space
WORDS = st.lists(WORD, max_size=30)
TEXTS = st.lists(st.text(ALPHABET + " \n\t\u3000\0\u200d\ud800🙂", max_size=30), max_size=8)


def build(words, **settings):
    return Lexicon.from_entries(map(LexiconEntry, words), **settings)


def as_list(matched):
    """Text, start and end of each word that a matcher found."""
    words, borders = matched
    texts = np.repeat(np.arange(len(borders) - 1), np.diff(borders))
    return list(zip(texts.tolist(), words.starts.tolist(), words.ends.tolist()))


@settings(max_examples=300)
@given(WORDS, TEXTS)
def test_finds_what_brute_force_finds(find_all, words, texts):
    matches = Matcher(build(words)).match(texts)
    assert as_list(matches) == find_all(words, texts)
    assert [hash_word(texts[i][a:b]) for i, a, b in as_list(matches)] == matches[0].hashes.tolist()
    assert [array.dtype.str for array in matches[0]] == ["<i4", "<i4", "<u8"]


@settings(max_examples=100)
@given(WORDS, TEXTS, WORDS, WORDS)
def test_finds_what_brute_force_finds_after_changes(find_all, words, texts, added, removed):
    lexicon = build(words).with_words(added).without_words(removed)
    assert as_list(Matcher(lexicon).match(texts)) == find_all({*words, *added} - {*removed}, texts)


@settings(max_examples=100)
@given(WORDS, TEXTS)
def test_finds_what_pygtrie_finds(words, texts):
    trie = pygtrie.CharTrie.fromkeys(words, True)
    expected = [
        (i, start, start + len(step.key))
        for i, text in enumerate(texts)
        for start in range(len(text))
        for step in trie.prefixes(text[start:])
    ]
    assert as_list(Matcher(build(words)).match(texts)) == expected


@settings(max_examples=50)
@given(WORDS, TEXTS)
def test_groups_of_texts(find_all, words, texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher_module, "CHUNK", 10)
        assert as_list(Matcher(build(words)).match(texts)) == find_all(words, texts)


@settings(max_examples=100)
@given(WORDS, TEXTS, st.integers(1, 3), st.one_of(st.none(), st.integers(3, 5)), st.sampled_from(["keep", "drop"]))
def test_lengths(find_all, words, texts, min_length, max_length, rule):
    options = MatchOptions(min_length, max_length, rule)
    fitting = [w for w in words if min_length <= len(w) <= (max_length or 99) and (rule == "keep" or len(w) > 1)]
    assert as_list(Matcher(build(words), options).match(texts)) == find_all(fitting, texts)


def first_lines(data_dir, part, n_characters):
    """Lines of text, up to this many characters."""
    with gzip.open(data_dir / "text" / f"{part}.txt.gz", "rt", encoding="utf8", newline="\n") as file:
        while n_characters > 0:
            yield (line := next(file).rstrip("\n"))
            n_characters -= len(line)


def test_real_text(find_all, data_dir):
    with gzip.open(data_dir / "lexicon" / "jieba_words.tsv.gz", "rt", encoding="utf8") as file:
        words = [line.split("\t")[0] for line in file]
    texts = [line for part in ("lctt", "reviews", "dataclue", "csl") for line in first_lines(data_dir, part, 25_000)]
    matches = Matcher(build(words)).match(texts)
    assert as_list(matches) == find_all(words, texts)
    assert len(matches[0].hashes) > sum(map(len, texts)) >= 100_000
    assert [hash_word(texts[i][a:b]) for i, a, b in as_list(matches)] == matches[0].hashes.tolist()


def test_offsets_are_those_of_the_text():
    lexicon = build(["abc公司", "ok"], normalization=Normalization(case=True, width=True))
    text = "İＡＢｃ公司 Ok🙂OK"
    matches = Matcher(lexicon).match([text])
    assert [text[a:b] for _, a, b in as_list(matches)] == ["ＡＢｃ公司", "Ok", "OK"]
    assert matches[0].hashes.tolist() == [lexicon.hash("ABC公司"), lexicon.hash("ok"), lexicon.hash("ok")]
    assert lexicon.get("ＯＫ").word == "ok"


def test_words_do_not_cross_white_space_or_texts():
    matcher = Matcher(build(["北京大学", "大学"]))
    assert as_list(matcher.match(["北京 大学", "北京", "大学", "北京\u3000大学"])) == [(0, 3, 5), (2, 0, 2), (3, 3, 5)]


@pytest.mark.parametrize("width,found", [(False, ["富士 施乐"]), (True, ["富士 施乐", "富士\u3000施乐"])])
def test_words_with_a_space(width, found):
    lexicon = build([" 富士 施乐"], normalization=Normalization(width=width))
    text = "富士 施乐、富士\u3000施乐、富士  施乐、富士\t施乐、富士\n施乐、富士施乐"
    words, _ = Matcher(lexicon).match([text, "富士", "施乐"])
    assert [text[a:b] for a, b in zip(words.starts, words.ends)] == found
    assert set(words.hashes.tolist()) == {lexicon.hash("富士 施乐")} and "富士 施乐 " in lexicon


@pytest.mark.parametrize("texts", [[], [""], ["", "\0", " \n"], ["\ud800"]])
def test_nothing_to_find(texts):
    assert as_list(Matcher(build(["甲"])).match(texts)) == []
    assert as_list(Matcher(build([])).match(texts)) == []


@pytest.mark.parametrize(
    ("text", "inside", "whole"),
    [
        ("iPhone15手机", ["iPhone", "15"], ["手机"]),
        ("AA股", ["A股"], []),
        ("T恤", [], ["T恤", "恤"]),
        ("COVID-19", [], ["COVID-19", "19"]),
        ("COVID-190", ["COVID-19", "19"], []),
        ("15G", ["15", "5G"], []),
        ("3.19%", ["19"], []),
    ],
)
def test_inside_of_latin_words(text, inside, whole):
    lexicon = build(["iPhone", "手机", "T恤", "恤", "COVID-19", "19", "A股", "5G", "15"])
    for option, expected in (("hints", [*inside, *whole]), ("all", [*inside, *whole]), ("none", whole)):
        words, _ = Matcher(lexicon, MatchOptions(inside_latin=option)).match(["甲", text])
        assert [text[start:end] for start, end in zip(words.starts, words.ends)] == expected


def test_a_single_text():
    with pytest.raises(LexiconError, match=r"Expected several texts, got '甲乙'. .*: \['甲乙'\]"):
        Matcher(build(["甲乙"])).match("甲乙")


def test_text_that_is_no_string():
    for texts in ([None], ["甲", 3], [b"a"]):
        with pytest.raises(TypeError):
            Matcher(build(["甲"])).match(texts)


def test_version_depends_on_lexicon_and_options():
    lexicon = build(["甲"])
    versions = {
        Matcher(lexicon).version,
        Matcher(lexicon, MatchOptions(min_length=2)).version,
        Matcher(lexicon, MatchOptions(alignment_mode="expand")).version,
        Matcher(lexicon, MatchOptions(inside_latin="none")).version,
        Matcher(build(["乙"])).version,
    }
    assert len(versions) == 5
    assert Matcher(build(["甲"]), MatchOptions()).version == Matcher(lexicon).version
    assert all(0 <= version < 2**64 for version in versions)


@pytest.mark.parametrize(
    "options,message",
    [
        (MatchOptions(single_chars="some"), "single_chars is 'some'; expected one of keep, drop"),
        (MatchOptions(alignment_mode="loose"), "alignment_mode is 'loose'"),
        (MatchOptions(inside_latin="some"), "inside_latin is 'some'; expected one of hints, all, none"),
        (MatchOptions(min_length=0), "min_length is 0"),
        (MatchOptions(min_length=3, max_length=2), "max_length is 2, less than min_length"),
    ],
)
def test_senseless_options(options, message):
    with pytest.raises(ValueError, match=message):
        Matcher(build(["甲"]), options)


def test_pickles():
    matcher = Matcher(build(["甲"]), MatchOptions(min_length=1))
    copy = pickle.loads(pickle.dumps(matcher))
    assert copy.version == matcher.version and copy.options == matcher.options
    assert np.array_equal(copy.match(["甲"])[0].hashes, matcher.match(["甲"])[0].hashes)


FORCE, FORBID = (Rule("force", "LOC"),), (Rule("forbid"),)


def test_occurrences_in_order_and_of_any_length():
    entries = [LexiconEntry("京", rules=FORCE), LexiconEntry("南京市", rules=FORBID), LexiconEntry("南京")]
    lexicon = Lexicon.from_entries([*entries, LexiconEntry("市", rules=FORBID)])
    first = [Occurrence(0, 3, FORBID), Occurrence(1, 2, FORCE), Occurrence(2, 3, FORBID)]
    assert find_occurrences(lexicon, ["南京市", "", "北 京"]) == [first, [], [Occurrence(2, 3, FORCE)]]


def test_occurrences_are_normalised_like_the_lexicon():
    lexicon = Lexicon.from_entries([LexiconEntry("ABC", rules=FORCE)], normalization=Normalization(True, True))
    assert find_occurrences(lexicon, ["Ａbcd"]) == [[Occurrence(0, 3, FORCE)]]
    simplified = Normalization(script="simplified")
    lexicon = Lexicon.from_entries([LexiconEntry("臺灣", rules=FORCE)], normalization=simplified)
    assert find_occurrences(lexicon, ["在台湾", "在臺灣"]) == [[Occurrence(1, 3, FORCE)]] * 2


def test_occurrences_after_changes():
    lexicon = Lexicon.from_entries([LexiconEntry("长江", rules=FORCE), LexiconEntry("大桥")])
    assert find_occurrences(lexicon.with_words(["长江"]), ["长江"]) == [[Occurrence(0, 2, FORCE)]]
    changed = lexicon.with_words([LexiconEntry("大桥", rules=FORBID), LexiconEntry("长江", rules=(Rule("hint"),))])
    assert find_occurrences(changed, ["长江大桥"]) == [[Occurrence(2, 4, FORBID)]]
    assert find_occurrences(changed.without_words(["大桥"]), ["长江大桥"]) == [[]]


def test_occurrences_among_many_words():
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


def keep_by_definition(spans, rule):
    """The rules as in the published code: one character after the other."""
    kept = []
    for start in sorted({start for start, _ in spans}):
        here = [span for span in spans if span[0] == start]
        longer = [span for span in here if span[1] - span[0] > 1]
        single = [span for span in here if span[1] - span[0] == 1]
        covered = any(end - begin > 1 and begin < start < end for begin, end in kept)
        stays = {"keep": True, "drop": False, "alone": not longer, "uncovered": not longer and not covered}[rule]
        kept += (single if stays else []) + longer
    return kept


@pytest.mark.parametrize("rule", SINGLE_CHARS)
@given(st.sets(st.tuples(st.integers(0, 12), st.integers(1, 4))))
def test_rules_by_definition(rule, found):
    spans = sorted((start, start + length) for start, length in found)
    starts, ends = (np.array([span[i] for span in spans], "i8") for i in (0, 1))
    keep = keep_single_chars(starts, ends, rule)
    assert [span for span, kept in zip(spans, keep) if kept] == keep_by_definition(spans, rule)


def match_one(words, text, rule):
    lexicon = Lexicon.from_entries(map(LexiconEntry, words))
    words, _ = Matcher(lexicon, MatchOptions(single_chars=rule)).match([text])
    return list(zip(words.starts.tolist(), words.ends.tolist()))


def test_example_of_the_two_codes():
    words = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "江大桥", "京", "市", "南"]
    text = "南京市长江大桥"
    words_of_jing = {
        rule: [text[a:b] for a, b in match_one(words, text, rule) if a <= 1 < b] for rule in ("alone", "uncovered")
    }
    assert words_of_jing == {"alone": ["南京", "南京市", "京"], "uncovered": ["南京", "南京市"]}


@pytest.fixture(scope="module")
def golden(data_dir):
    folder = data_dir.parent / "golden" / "pipeline"
    if not folder.is_dir():
        pytest.skip(f"needs the outputs of the published codes: no folder {folder}")
    return {path.stem: json.loads(path.read_text("utf8")) for path in folder.glob("*.json")}


def words_per_character(golden, rule):
    for sentence in golden["inputs"]["sentences"]:
        text = "".join(sentence["text"])
        spans = match_one(golden["inputs"]["lexicon"], text, rule)
        yield [[text[a:b] for a, b in spans if a <= i < b] for i in range(len(text))]


def test_authors_code(golden):
    expected = [row["words"][1:-1] for row in golden["lw"]["cases"]["None"]["rows"]]  # without [CLS] and [SEP]
    assert list(words_per_character(golden, "uncovered")) == expected


def test_second_code(golden):
    assert list(words_per_character(golden, "alone")) == [row["words"] for row in golden["yj"]["rows"]]


@pytest.mark.parametrize("rule,case", [("drop", "drop_characters"), ("keep", "with_single_chars")])
def test_flat(golden, rule, case):
    for sentence, row in zip(golden["inputs"]["sentences"], golden["flat"]["cases"][case], strict=True):
        text = "".join(sentence["text"])
        found = [[a, b - 1, text[a:b]] for a, b in match_one(golden["inputs"]["lexicon"], text, rule)]
        assert found == row["skip_path"]


def test_marks_are_not_composed():
    """A combining accent (NFD) and a precomposed letter (NFC) make different words, and texts are not changed."""
    text = "cafe\u0301 caf\u00e9"
    for word, place in (("cafe\u0301", (0, 0, 5)), ("caf\u00e9", (0, 6, 10))):
        assert as_list(Matcher(build([word])).match([text])) == [place]


def test_many_words_that_would_be_slow_as_patterns():
    """Words are not patterns: 100,000 of them, including some that a backtracking engine would choke on."""
    slow = ["(a+)+$", "(a|aa)+b", ".*.*.*=", "[a-z]+", "a" * 30 + "b"]
    matcher = Matcher(build([*slow, *(f"词{i}" for i in range(100_000))]))
    text = "a" * 5000 + "!" + "(a+)+$" + "词99999"
    words = {text[a:b] for _, a, b in as_list(matcher.match([text]))}
    assert words == {"(a+)+$", *(f"词{99999 // 10**i}" for i in range(5))}
    assert len(matcher.match([text * 3])[0].starts) == 3 * len(words)
