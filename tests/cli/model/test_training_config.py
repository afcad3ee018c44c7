from spacy_lexner.cli.model.training_config import read_values, training_config
from spacy_lexner.lexicon import Lexicon


def test_values():
    assert read_values(["a.b=1", "c=word", "d=[1]", "e=x=y"]) == {"a.b": 1, "c": "word", "d": [1], "e": "x=y"}
    assert read_values(["f=0.3"]) == {"f": 0.3}  # srsly reads another number


def test_flat_without_a_lexicon_gets_one_without_words(tmp_path):
    config = training_config("flat", {"training.seed": 7}, tmp_path)
    assert config["training"]["seed"] == 7 and len(Lexicon.open(config["paths"]["lexicon"])) == 0
    other = training_config("flat", {"paths.lexicon": "mine"}, tmp_path / "other")
    assert other["paths"]["lexicon"] == "mine" and not (tmp_path / "other").exists()
