import copy
import gc
import multiprocessing
import pickle

import numpy as np
import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Matcher, Normalization, hash_word
from spacy_lexner.lexicon import lexicon as module
from spacy_lexner.lexicon.rules import Rule

TEXTS = ["南京市长江大桥", "武汉"]


def hashes(*words):
    return np.array([hash_word(word) for word in words], "u8")


def test_words(lexicon):
    assert len(lexicon) == 10 and list(lexicon)[:3] == ["南京", "南京市", "市长"]
    assert "长江" in lexicon and "武汉" not in lexicon and 3 not in lexicon and "" not in lexicon
    assert lexicon.get("武汉") is None
    entry = lexicon.get("长江")
    assert (entry.word, entry.vector.tolist(), *entry[2:]) == (
        "长江",
        [3.0] * 4,
        3.5,
        ("LOC",),
        "Q3",
        (Rule("prefer", "LOC", 3.5),),
    )
    assert [entry.word for entry in lexicon.entries()] == list(lexicon)


def test_rows_and_vectors(lexicon):
    rows = lexicon.rows(hashes("京", "武汉", "南京"))
    assert rows.dtype == "i8" and rows.tolist() == [7, -1, 0]
    vectors, known = lexicon.vectors(hashes("京", "武汉", "南京市"))
    assert vectors.dtype == "f4" and vectors[:, 0].tolist() == [7, 0, 1] and known.tolist() == [True, False, True]
    vectors, known = lexicon.vectors(hashes())
    assert vectors.shape == (0, 4) and known.shape == (0,)


def test_lexicon_without_vectors():
    lexicon = Lexicon.from_entries([LexiconEntry("甲")])
    vectors, known = lexicon.vectors(hashes("甲", "乙"))
    assert lexicon.dim == 0 and vectors.shape == (2, 0) and not known.any()


def test_empty_lexicon():
    lexicon = Lexicon.from_entries([])
    assert len(lexicon) == 0 and list(lexicon) == [] and "甲" not in lexicon
    assert lexicon.rows(hashes("甲")).tolist() == [-1] and lexicon.vectors(hashes("甲"))[0].shape == (1, 0)
    assert list(lexicon.prune(["甲"])) == [] and list(lexicon.without_words(["甲"])) == []


def test_version_comes_from_the_content(entries):
    lexicon = Lexicon.from_entries(entries)
    assert Lexicon.from_entries(reversed(entries)).version == lexicon.version
    others = [
        Lexicon.from_entries(entries[:-1]),
        Lexicon.from_entries([*entries[:-1], entries[-1]._replace(weight=0.25)]),
        Lexicon.from_entries([*entries[:-1], entries[-1]._replace(labels=("PER",))]),
        Lexicon.from_entries([*entries[:-1], entries[-1]._replace(entity_id="Q0")]),
        Lexicon.from_entries([*entries[:-1], entries[-1]._replace(vector=np.zeros(4))]),
        Lexicon.from_entries([*entries[:-1], entries[-1]._replace(vector=None)]),
        Lexicon.from_entries(entries, dtype="float16"),
        Lexicon.from_entries(entries, normalization=Normalization(width=True)),
        Lexicon.from_entries(entries, normalization=Normalization(script="x", characters="臺台")),
        Lexicon.from_entries(entries, normalization=Normalization(script="x", characters="灣湾")),
    ]
    assert len({lexicon.version, *(other.version for other in others)}) == len(others) + 1


@pytest.mark.parametrize("n_texts", [1, 3, 500])
def test_prune_keeps_what_occurs(lexicon, monkeypatch, n_texts):
    monkeypatch.setattr(module, "TEXTS_PER_MATCH", n_texts)
    changed = lexicon.with_words(["武汉", "重庆"]).without_words(["市"])
    pruned = changed.prune(text for text in ["", "南京市", "在武汉", "长", "江"])
    assert list(pruned) == ["南京", "南京市", "京", "南", "武汉"]
    assert pruned.get("南京市").vector.tolist() == [1.0] * 4 and len(pruned.base.table.vectors) == 4
    assert list(lexicon.prune([])) == []
    with pytest.raises(LexiconError, match="Expected several texts, got '南京市'"):
        lexicon.prune("南京市")


def test_a_copy_is_the_lexicon_itself(lexicon):
    assert copy.deepcopy({"lexicon": lexicon})["lexicon"] is lexicon


def test_pickle_in_memory(lexicon):
    changed = lexicon.with_words(["武汉"])
    again = pickle.loads(pickle.dumps(changed))
    assert again.version == changed.version and list(again) == list(changed)


def test_pickle_of_an_opened_lexicon_holds_only_the_changes(lexicon, tmp_path):
    lexicon.save(tmp_path)
    changed = Lexicon.open(tmp_path).with_words(["武汉", LexiconEntry("长江", weight=9.0)]).without_words(["大桥"])
    data = pickle.dumps(changed)
    assert len(data) < 1000 < len(changed.to_bytes())
    again = pickle.loads(data)
    assert again.version == changed.version and again.base.table.vectors.base is not None


def test_pickle_when_the_folder_has_changed(lexicon, tmp_path):
    lexicon.save(tmp_path)
    opened = Lexicon.open(tmp_path)
    data = pickle.dumps(opened)
    lexicon.with_words(["武汉"]).save(tmp_path)
    with pytest.raises(LexiconError, match="another lexicon was saved here"):
        pickle.loads(data)
    assert pickle.loads(pickle.dumps(opened)).version == opened.version  # as bytes, now


def match_in_worker(matcher, texts):
    return [array.tolist() for array in matcher.match(texts)[0]]


@pytest.mark.parametrize("opened", [False, True])
def test_spawned_worker(lexicon, tmp_path, opened):
    if opened:
        lexicon.save(tmp_path)
        lexicon = Lexicon.open(tmp_path)
    matcher = Matcher(lexicon.with_words(["武汉"]))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(match_in_worker, (matcher, TEXTS))
    assert found == [array.tolist() for array in matcher.match(TEXTS)[0]]


def test_opened_lexicon_outlives_its_folder(lexicon, tmp_path):
    lexicon.save(tmp_path)
    opened = Lexicon.open(tmp_path)
    for file in tmp_path.iterdir():
        file.unlink()
    gc.collect()
    assert list(opened) == list(lexicon) and opened.vectors(hashes("长江"))[0].tolist() == [[3.0] * 4]


def test_distinct_rules_and_ruled_words():
    force, forbid = Rule("force", "LOC"), Rule("forbid")
    lexicon = Lexicon.from_entries(LexiconEntry(word, [1.0, i], rules=(force,)) for i, word in enumerate("甲乙丙"))
    assert lexicon.distinct_rules() == {(force,): "丙"}
    lexicon = lexicon.without_words(["丙"]).with_words([LexiconEntry("乙", rules=(forbid, force)), LexiconEntry("丁")])
    assert lexicon.distinct_rules() == {(force,): "甲", (forbid, force): "乙"}
    found = {entry.word: entry for entry in lexicon.ruled_words()}
    assert {word: entry.rules for word, entry in found.items()} == {"甲": (force,), "乙": (forbid, force)}
    assert found["甲"].vector is None
    assert Lexicon.from_entries([LexiconEntry("甲")]).distinct_rules() == {}
