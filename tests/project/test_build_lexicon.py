"""Lexicon folders from words, vectors, both or neither."""

import pytest
from build_lexicon import main

from spacy_lexner.lexicon import Lexicon


def test_files_of_all_kinds(tmp_path):
    (tmp_path / "list.txt").write_text("南京市\n长江  大桥\n大桥\n", "utf8")
    (tmp_path / "jieba.txt").write_text("大桥 3 n\n长江 5 ns\n", "utf8")
    (tmp_path / "table.tsv").write_text("市长\t7\tn\n", "utf8")
    (tmp_path / "words.vec").write_text("2 2\n大桥 1 2\n桥 3 4\n", "utf8")
    files = " ".join(str(tmp_path / name) for name in ("list.txt", "jieba.txt", "table.tsv"))
    main(tmp_path / "out", files, str(tmp_path / "words.vec"))
    lexicon = Lexicon.open(tmp_path / "out")
    assert set(lexicon) == {"南京市", "大桥", "长江", "市长", "桥"}
    assert lexicon.dim == 2
    assert lexicon.get("大桥").vector.tolist() == [1, 2] and lexicon.get("长江").vector is None


@pytest.mark.parametrize(
    "name, text", [("table.tsv", "市长\tPER\n长江\tLOC\n"), ("table.csv", '市长,PER\n"长江",LOC\n')]
)
def test_the_first_column_of_a_table(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf8")
    main(tmp_path / "out", str(tmp_path / name))
    assert set(Lexicon.open(tmp_path / "out")) == {"市长", "长江"}


def test_no_valid_word(tmp_path, capsys):
    (tmp_path / "list.txt").write_text("长江  大桥\n", "utf8")
    with pytest.raises(SystemExit):
        main(tmp_path / "out", str(tmp_path / "list.txt"))
    assert "No word is valid" in (printed := capsys.readouterr().out) and "list.txt:1" in printed
    assert not (tmp_path / "out").exists()


def test_shuffled_vectors(tmp_path):
    table = {chr(0x4E00 + number): [float(number), -float(number)] for number in range(1, 40)}
    lines = [f"{word} {first} {second}" for word, (first, second) in table.items()]
    (tmp_path / "words.vec").write_text("\n".join([f"{len(table)} 2", *lines]), "utf8")
    (tmp_path / "list.txt").write_text("长江\n", "utf8")
    main(tmp_path / "out", str(tmp_path / "list.txt"), str(tmp_path / "words.vec"), shuffle=0)
    lexicon = Lexicon.open(tmp_path / "out")
    shuffled = {word: lexicon.get(word).vector.tolist() for word in table}
    assert sorted(shuffled.values()) == sorted(table.values()) and shuffled != table
    assert set(lexicon) == {*table, "长江"} and lexicon.get("长江").vector is None


def test_nonsense(tmp_path):
    (tmp_path / "words.vec").write_text("2 2\n大桥 1 2\n南京市 3 4\n", "utf8")
    for out in ("one", "two"):
        main(tmp_path / out, vectors=str(tmp_path / "words.vec"), nonsense=40)
    lexicon = Lexicon.open(tmp_path / "one")
    new = set(lexicon) - {"大桥", "南京市"}
    assert len(lexicon) == 42 and set(Lexicon.open(tmp_path / "two")) == set(lexicon)
    assert {len(word) for word in new} == {2, 3, 4} and set("".join(new)) == set("大桥南京市")
    assert lexicon.get("大桥").vector.tolist() == [1, 2] and all(lexicon.get(word).vector is None for word in new)


def test_what_is_left_out_is_reported(tmp_path, capsys):
    (tmp_path / "list.txt").write_text("南京市\n长江  大桥\n", "utf8")
    main(tmp_path / "out", str(tmp_path / "list.txt"))
    out = " ".join(capsys.readouterr().out.split())
    assert "1 entries skipped: white space" in out and "list.txt:2" in out


def test_empty_and_replaced(tmp_path):
    (tmp_path / "list.txt").write_text("南京市\n", "utf8")
    main(tmp_path / "out", str(tmp_path / "list.txt"))
    main(tmp_path / "out")
    assert not len(Lexicon.open(tmp_path / "out"))


def test_a_missing_file(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(tmp_path / "out", str(tmp_path / "none.txt"))
    assert "none.txt" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_the_first_words_of_a_file_of_vectors(tmp_path):
    (tmp_path / "words.vec").write_text("3 2\n大桥 1 2\n桥 3 4\n长江 5 6\n", "utf8")
    main(tmp_path / "out", vectors=str(tmp_path / "words.vec"), limit=2)
    assert set(Lexicon.open(tmp_path / "out")) == {"大桥", "桥"}
