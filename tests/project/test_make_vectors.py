"""Word vectors from raw text: words in similar contexts are similar, words that do not occur have none."""

import numpy as np
import pytest
from make_vectors import EDGE, OFFSETS, count_contexts, factorise, main
from tolerance import assert_close

CITIES, PEOPLE = ["北京", "南京", "东京"], ["王明", "李雷", "赵四"]
TEXTS = [f"我在{city}住" for city in CITIES] * 3 + [f"问{person}好" for person in PEOPLE] * 3


def test_counts():
    counts, chars = count_contexts(["京", "北京"], ["北京市", "京"])
    assert counts.shape == (2, len(OFFSETS) * len(chars))
    by_offset = counts.reshape(2, len(OFFSETS), len(chars))
    before = dict(zip(chars, by_offset[0, OFFSETS.index(-1)]))
    after = dict(zip(chars, by_offset[1, OFFSETS.index(1)]))
    assert before == {"北": 1, EDGE: 1, "京": 0, "市": 0}
    assert after == {"市": 1, EDGE: 0, "北": 0, "京": 0}


def test_words_in_the_same_places_are_alike():
    counts, _ = count_contexts(CITIES + PEOPLE, TEXTS)
    vectors = factorise(counts, 3, seed=0)
    assert_close(np.linalg.norm(vectors, axis=1), np.ones(len(vectors)), vectors.shape[1] + 2)
    similar = vectors @ vectors.T
    assert similar[:3, :3].min() > 0.99 and similar[3:, 3:].min() > 0.99
    assert abs(similar[:3, 3:]).max() < 0.3


def test_a_word_without_context_has_zeros():
    counts, _ = count_contexts(["北京", "巴黎"], TEXTS)
    assert not factorise(counts, 1, seed=0)[1].any()


def test_file(tmp_path):
    (tmp_path / "words.txt").write_text("\n".join([*CITIES, *PEOPLE, "巴黎"]), "utf8")
    (tmp_path / "raw.txt").write_text("".join(f"{text}\n" for text in TEXTS), "utf8")
    main(tmp_path / "words.txt", tmp_path / "raw.txt", tmp_path / "words.vec", dim=4)
    lines = (tmp_path / "words.vec").read_text("utf8").split("\n")
    assert lines[0] == "6 4"
    assert [line.split(" ")[0] for line in lines[1:-1]] == CITIES + PEOPLE


def test_too_little_text(tmp_path, capsys):
    (tmp_path / "words.txt").write_text("北京\n", "utf8")
    (tmp_path / "raw.txt").write_text("我在北京住\n", "utf8")
    with pytest.raises(SystemExit):
        main(tmp_path / "words.txt", tmp_path / "raw.txt", tmp_path / "words.vec")
    assert "too few" in capsys.readouterr().out


def test_words_that_a_lexicon_cannot_hold_take_no_contexts_from_others():
    counts, _ = count_contexts([*CITIES, "长" * 300], TEXTS)
    assert counts[:-1].sum(1).tolist() == [3 * len(OFFSETS)] * 3 and not counts[-1].any()


def test_the_last_line_counts_without_a_line_end(tmp_path):
    (tmp_path / "words.txt").write_text("\n".join([*CITIES, *PEOPLE]), "utf8")
    for name, end in (("a", "\n"), ("b", "")):
        (tmp_path / f"{name}.txt").write_text("\n".join(TEXTS) + end, "utf8")
        main(tmp_path / "words.txt", tmp_path / f"{name}.txt", tmp_path / f"{name}.vec", dim=4)
    assert (tmp_path / "a.vec").read_text("utf8") == (tmp_path / "b.vec").read_text("utf8")
