"""What is printed for each entity."""

import json

import pytest
import spacy
from predict import describe, main
from spacy.tokens import Span


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京市", "市长", "长江大桥", "大桥"])
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "LOC", "pattern": "长江大桥"}])
    return nlp


def test_entity_with_score_and_words(nlp):
    if not Span.has_extension("lex_score"):
        Span.set_extension("lex_score", default=None)
    doc = nlp("南京市长江大桥")
    doc.ents[0]._.lex_score = 0.98765
    assert describe(doc) == [
        {
            "text": "长江大桥",
            "label": "LOC",
            "start": 3,
            "end": 7,
            "score": 0.9877,
            "words": ["市长", "长江大桥", "大桥"],
        }
    ]


def test_any_pipeline(nlp):
    nlp.remove_pipe("lex_matcher")
    (entity,) = describe(nlp("南京市长江大桥"))
    assert (entity["score"], entity["words"]) == (None, [])


def test_output(nlp, tmp_path, capsys):
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("南京市长江大桥\n\n没有\n", "utf8")
    main(tmp_path / "model", tmp_path / "texts.txt", as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["text"], len(line["entities"])) for line in lines] == [("南京市长江大桥", 1), ("没有", 0)]
    main(tmp_path / "model", tmp_path / "texts.txt")
    assert "    LOC  长江大桥  [市长 长江大桥 大桥]" in capsys.readouterr().out


def test_missing_file(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(tmp_path / "model", tmp_path / "none.txt")
    assert "none.txt" in capsys.readouterr().out


def test_texts_in_another_encoding(nlp, tmp_path, capsys):
    (tmp_path / "texts.txt").write_bytes("南京".encode("gbk"))
    with pytest.raises(SystemExit):
        main(tmp_path / "model", tmp_path / "texts.txt")
    assert "texts.txt is not UTF-8" in capsys.readouterr().out
