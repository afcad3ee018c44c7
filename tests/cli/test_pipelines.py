import pytest
import spacy

from spacy_lexner.cli.pipelines import load_named, load_pipeline


def test_names(tmp_path):
    assert [name for name, _ in load_named(["blank:zh", "a=blank:zh", "b=c=blank:zh"])] == ["blank:zh", "a", "b=c"]
    (tmp_path / "size=1").mkdir()
    spacy.blank("zh").to_disk(tmp_path / "size=1" / "model-best")
    assert [name for name, _ in load_named([str(tmp_path / "size=1" / "model-best")])] == ["size=1"]


def test_no_pipeline(tmp_path):
    with pytest.raises(OSError, match="no_such_model"):
        load_pipeline("no_such_model")
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京"])
    nlp.to_disk(tmp_path)
    (tmp_path / "lex_matcher" / "cfg").write_text("{}", "utf8")
    with pytest.raises(ValueError, match=r"pipeline .* cannot be loaded \(KeyError: 'options'\)"):
        load_pipeline(str(tmp_path))
