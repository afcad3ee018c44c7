"""A knowledge graph from a dictionary and raw text."""

import make_triples
import pytest
import typer


@pytest.fixture
def graph(tmp_path):
    dictionary = "南京市 100 ns\n苏州市 90 ns\n长江 50 ns\n大桥 40 n\n长江大桥 30 nz\n走路 80 v\n从不出现 5 n\n"
    (tmp_path / "dict.txt").write_text(dictionary, "utf8")
    paragraphs = ["南京市有长江大桥", "长江大桥在南京市", "苏州市在走路", "大桥很长", "长江很长", "苏州市很大"] * 5
    (tmp_path / "text.txt").write_text("\n".join(paragraphs), "utf8")
    triples, names = tmp_path / "graph" / "triples.tsv", tmp_path / "graph" / "names.tsv"
    make_triples.main(tmp_path / "dict.txt", [tmp_path / "text.txt"], triples, names, min_count=2, min_pmi=0.5)
    return [tuple(line.split("\t")) for line in triples.read_text("utf8").splitlines()], names.read_text("utf8")


def test_tags_endings_and_neighbours(graph):
    triples, _ = graph
    assert ("南京市", "tag", "tag:ns") in triples
    assert ("南京市", "ends_with", "kind:市") in triples and ("苏州市", "ends_with", "kind:市") in triples
    assert [triple for triple in triples if triple[1] == "near"] == [("南京市", "near", "长江大桥")]


def test_entities_are_frequent_words_of_the_wanted_tags(graph):
    names = dict(line.split("\t") for line in graph[1].splitlines())
    assert names == {word: word for word in ("南京市", "苏州市", "长江", "大桥", "长江大桥")}


@pytest.mark.parametrize(
    "dictionary, text, message",
    [
        ("none.txt", "text.txt", "no such file"),
        ("dict.txt", "none.txt", "There is no text file"),
        ("dict.txt", "text.txt", "Give more text"),
    ],
)
def test_without_files_or_words_there_is_no_graph(tmp_path, capsys, dictionary, text, message):
    (tmp_path / "dict.txt").write_text("南京市 100 ns\n", "utf8")
    (tmp_path / "text.txt").write_text("南京市\n", "utf8")
    with pytest.raises((SystemExit, typer.Exit)):
        make_triples.main(tmp_path / dictionary, [tmp_path / text], tmp_path / "triples.tsv", tmp_path / "names.tsv")
    assert message in capsys.readouterr().out and not (tmp_path / "triples.tsv").exists()
