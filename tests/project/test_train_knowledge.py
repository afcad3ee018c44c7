"""From a file of triples to the lexicon that ERNIE reads."""

import numpy as np
import pytest
import train_knowledge

from spacy_lexner.lexicon import Lexicon

CITIES = [("南京", "江苏"), ("苏州", "江苏"), ("杭州", "浙江"), ("宁波", "浙江"), ("合肥", "安徽"), ("芜湖", "安徽")]


@pytest.fixture
def triples(tmp_path):
    pytest.importorskip("pykeen")
    path = tmp_path / "triples.tsv"
    lines = [f"{city}\tlies_in\t{province}" for city, province in CITIES]
    lines += [f"{city}\tlies_in\t中国" for city, _ in CITIES]
    lines += [f"{province}\tpart_of\t中国" for _, province in CITIES]
    lines += [f"{one}\tnear\t{other}" for one, _ in CITIES for other, _ in CITIES if one < other]
    path.write_text("\n".join(lines) + "\n", "utf8")
    return path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_entities_are_words_with_ids_and_vectors(triples, tmp_path, capsys):
    (tmp_path / "names.tsv").write_text("南京\t南京\n金陵\t南京\n中国\t中国\n", "utf8")
    arguments = {"width": 8, "epochs": 2, "held_out": 0.2}
    train_knowledge.main(triples, tmp_path / "out", names=str(tmp_path / "names.tsv"), **arguments)
    lexicon = Lexicon.open(tmp_path / "out")
    assert set(lexicon) == {"南京", "金陵", "中国"} and lexicon.dim == 8
    assert lexicon.get("金陵").entity_id == "南京"
    np.testing.assert_array_equal(lexicon.get("金陵").vector, lexicon.get("南京").vector)
    out = " ".join(capsys.readouterr().out.split())
    assert "mean rank" in out and "hits@10" in out
    train_knowledge.main(triples, tmp_path / "out", **arguments)
    assert {"杭州", "江苏"} <= set(Lexicon.open(tmp_path / "out"))


@pytest.mark.parametrize("content", ["南京\tlies_in\n", "", "南京 lies_in 江苏\n"])
def test_a_file_that_is_no_graph_is_named_and_the_old_lexicon_stays(triples, tmp_path, capsys, content):
    Lexicon.from_entries([]).save(tmp_path / "out")
    triples.write_text(content, "utf8")
    with pytest.raises(SystemExit):
        train_knowledge.main(triples, tmp_path / "out")
    assert "Training on the knowledge graph failed" in capsys.readouterr().out
    assert len(Lexicon.open(tmp_path / "out")) == 0
