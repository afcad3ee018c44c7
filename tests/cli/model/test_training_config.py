import re

import pytest

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


@pytest.mark.parametrize(
    "name, hint",
    [
        ("trainig.max_steps", "there is no trainig. Did you mean training?"),
        ("training.max_step", "there is no training.max_step. Did you mean training.max_steps?"),
        ("paths.lexcon", "there is no paths.lexcon. Did you mean paths.lexicon?"),
        ("components.lex_nr.model", "there is no components.lex_nr. Did you mean components.lex_ner?"),
        ("training.seed.x", "there is no training.seed.x."),
        ("lexicon", "there is no lexicon."),
    ],
)
def test_settings_that_do_not_exist_are_refused(name, hint, tmp_path):
    with pytest.raises(ValueError, match=f"The config has no setting {re.escape(name)}: {re.escape(hint)}"):
        training_config("flat", {"paths.lexicon": "mine", name: 1}, tmp_path)


def test_settings_that_only_functions_know(tmp_path):
    values = {
        "paths.lexicon": "mine",
        "initialize.components.lex_ner": {"labels": ["A"]},
        "components.lex_ner.model.guard": {"@misc": "spacy-lexner.NegativeSampling.v1", "share": 1.0},
        "training.optimizer.groups.all": {"pattern": "x", "learn_rate_factor": 0.5},
    }
    config = training_config("flat", values, tmp_path)
    assert config["initialize"]["components"]["lex_ner"]["labels"] == ["A"]
    assert config["components"]["lex_ner"]["model"]["guard"]["share"] == 1.0
    assert config["training"]["optimizer"]["groups"]["all"]["learn_rate_factor"] == 0.5
    with pytest.raises(ValueError, match="unexpected argument: 'widht'"):
        training_config("flat", {"paths.lexicon": "mine", "components.lex_ner.model.tok2vec.widht": 9}, tmp_path)
