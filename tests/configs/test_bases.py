"""The bases are complete when filled, valid, and trainable as they are."""

import re
from itertools import chain

import pytest
import spacy
from spacy.cli.init_config import fill_config
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.training import Example
from thinc.api import Config

from configs import BASES, CONFIGS, filled
from spacy_lexner.lexicon import Lexicon, LexiconEntry

TRAINED = [name for name in BASES if not name.startswith("pretrain")]
MATCHED = [name for name in TRAINED if "lex_matcher" in (CONFIGS / f"{name}.cfg").read_text("utf8")]


@pytest.mark.parametrize("name", BASES)
def test_filled_once_nothing_is_left_to_fill(name, tmp_path):
    first, second = tmp_path / "first.cfg", tmp_path / "second.cfg"
    pretraining = "[pretraining]" in (CONFIGS / f"{name}.cfg").read_text("utf8")
    fill_config(first, CONFIGS / f"{name}.cfg", pretraining=pretraining, silent=True)
    fill_config(second, first, silent=True)
    assert first.read_text("utf8") == second.read_text("utf8")
    assert Config().from_disk(first, interpolate=False) == filled(name)


@pytest.mark.parametrize("name", BASES)
def test_a_base_is_short(name):
    lines = (CONFIGS / f"{name}.cfg").read_text("utf8").splitlines()
    assert 30 <= len(lines) <= 60 and max(map(len, lines)) <= 140


@pytest.mark.parametrize("name", TRAINED)
def test_pipelines_are_sound(name):
    nlp = spacy.util.load_model_from_config(filled(name), validate=False)
    assert not any(nlp.analyze_pipes()["problems"].values())


@pytest.mark.parametrize("name", TRAINED)
def test_a_pipeline_can_be_trained_further(name):
    # spaCy creates the optimiser from its section alone, where a variable would not be resolved.
    nlp = spacy.blank("zh")
    nlp.config["training"]["optimizer"] = filled(name)["training"]["optimizer"]
    assert nlp.create_optimizer().learn_rate > 0


@pytest.mark.parametrize("name", MATCHED)
def test_words_are_found_before_they_are_read(name):
    config = filled(name)
    assert config["nlp"]["pipeline"][0] == "lex_matcher"
    assert config["training"]["annotating_components"] == ["lex_matcher"]


@pytest.mark.parametrize("name", ["lebert", "lebert_original", "elmo", "flat", "flat_bert", "flat_ensemble"])
def test_each_group_of_the_optimizer_has_parameters(name):
    config = filled(name)
    nlp = spacy.util.load_model_from_config(config, validate=False)
    if nlp.has_pipe("lex_matcher"):
        nlp.get_pipe("lex_matcher").add_words(["北京"])
    ner = nlp.get_pipe("lex_ner")
    ner.initialize(lambda: [Example.from_dict(nlp.make_doc("我在北京"), {"entities": [(2, 4, "LOC")]})], nlp=nlp)
    modules = [shim.module for node in ner.model.walk() for shim in node.shims]
    names = list(chain.from_iterable(dict(module.named_parameters()) for module in modules))
    for group in config["training"]["optimizer"]["groups"].values():
        assert any(re.search(group["pattern"], name) for name in names), group


@pytest.mark.parametrize("name", ["flat", "baseline"])
def test_a_base_trains_without_being_filled(name, tmp_path):
    nlp = spacy.blank("zh")
    gold = Example.from_dict(nlp.make_doc("我在北京"), {"entities": [(2, 4, "LOC")]}).reference
    DocBin(docs=[gold]).to_disk(tmp_path / "train.spacy")
    Lexicon.from_entries([LexiconEntry("北京")]).save(tmp_path / "lexicon")
    paths = {f"paths.{split}": str(tmp_path / "train.spacy") for split in ("train", "dev")}
    steps = {"training.max_steps": 2, "training.eval_frequency": 1}
    lexicon = {"paths.lexicon": str(tmp_path / "lexicon"), "paths.checkpoint": None}
    train(CONFIGS / f"{name}.cfg", tmp_path / "out", overrides={**paths, **lexicon, **steps})
    assert spacy.load(tmp_path / "out" / "model-last").pipe_names[-1].endswith("ner")
