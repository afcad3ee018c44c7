import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, MatchOptions
from spacy_lexner.lexicon.single_chars import RULES, keep_single_chars


def keep_by_definition(spans, rule):
    """The rules as the published codes have them: character by character, in order."""
    kept = []
    for start in sorted({start for start, _ in spans}):
        here = [span for span in spans if span[0] == start]
        longer = [span for span in here if span[1] - span[0] > 1]
        single = [span for span in here if span[1] - span[0] == 1]
        covered = any(end - begin > 1 and begin < start < end for begin, end in kept)
        stays = {"keep": True, "drop": False, "alone": not longer, "uncovered": not longer and not covered}[rule]
        kept += (single if stays else []) + longer
    return kept


@pytest.mark.parametrize("rule", RULES)
@given(st.sets(st.tuples(st.integers(0, 12), st.integers(1, 4))))
def test_rules_by_definition(rule, found):
    spans = sorted((start, start + length) for start, length in found)
    starts, ends = (np.array([span[i] for span in spans], "i8") for i in (0, 1))
    keep = keep_single_chars(starts, ends, rule)
    assert [span for span, kept in zip(spans, keep) if kept] == keep_by_definition(spans, rule)


def match(words, text, rule):
    lexicon = Lexicon.from_entries(map(LexiconEntry, words))
    words, _ = Matcher(lexicon, MatchOptions(single_chars=rule)).match([text])
    return list(zip(words.starts.tolist(), words.ends.tolist()))


def test_example_of_the_two_codes():
    words = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "江大桥", "京", "市", "南"]
    text = "南京市长江大桥"
    words_of_jing = {
        rule: [text[a:b] for a, b in match(words, text, rule) if a <= 1 < b] for rule in ("alone", "uncovered")
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
        spans = match(golden["inputs"]["lexicon"], text, rule)
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
        found = [[a, b - 1, text[a:b]] for a, b in match(golden["inputs"]["lexicon"], text, rule)]
        assert found == row["skip_path"]
