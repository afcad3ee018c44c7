import pytest
import spacy

from spacy_lexner.serve.inference.model import ServedModel, load_served


def test_what_a_model_can_do(model_folder):
    served = load_served(str(model_folder))
    assert served.labels == ("GPE", "LOC") and served.rule_labels == ()
    assert all(served.can.values()) and served.describe()["pipeline"] == ["lex_matcher", "lex_ner"]


def test_a_pipeline_of_other_components():
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "南京"}])
    served = ServedModel(nlp, "other")
    assert served.labels == ("GPE",) and served.matcher is None
    assert not any(served.can[name] for name in ("words", "alternatives", "uncertain", "explain"))


def test_labels_of_rules(model_folder):
    nlp = spacy.load(model_folder)
    nlp.get_pipe("lex_ner").rule_labels = ("BRAND", "LOC")
    assert ServedModel(nlp, "test").rule_labels == ("BRAND",)


def test_a_pipeline_that_cannot_be_used(tmp_path):
    with pytest.raises(OSError):
        load_served(str(tmp_path / "nothing"))
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    nlp.to_disk(tmp_path / "bare")
    with pytest.raises(ValueError, match=r"bare cannot be used .*no lexicon"):
        load_served(str(tmp_path / "bare"))
