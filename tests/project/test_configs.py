"""The configs are complete: `spacy init fill-config` has nothing to add or to change."""

import re

import pytest
import spacy
from spacy.cli.init_config import fill_config
from spacy.training import Example
from thinc.api import Config

CONFIGS = [
    "lebert",
    "ernie",
    "typing",
    "elmo",
    "elmo_ner",
    "flat",
    "flat_original",
    "flat_bert",
    "flat_ensemble",
    "baseline",
    "segmenter",
    "segmenter_flat",
    "joint",
]


@pytest.mark.parametrize("name", CONFIGS)
def test_filled(project_dir, tmp_path, name):
    path = project_dir.parent / "configs" / f"{name}.cfg"
    fill_config(tmp_path / "filled.cfg", path, silent=True)
    filled = Config().from_disk(tmp_path / "filled.cfg", interpolate=False)
    assert filled == Config().from_disk(path, interpolate=False)


def test_lebert_reads_the_lexicon_before_it_trains(project_dir):
    config = Config().from_disk(project_dir.parent / "configs" / "lebert.cfg", interpolate=False)
    assert config["nlp"]["pipeline"] == ["lex_matcher", "lex_ner"]
    assert config["training"]["annotating_components"] == ["lex_matcher"]


@pytest.mark.parametrize("name", CONFIGS)
def test_pipelines_are_sound(project_dir, name):
    path = project_dir.parent / "configs" / f"{name}.cfg"
    config = Config().from_disk(path, overrides={"paths.lexicon": "any"})
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    assert not any(nlp.analyze_pipes()["problems"].values())


@pytest.mark.parametrize("name", CONFIGS)
def test_a_pipeline_can_be_trained_further(project_dir, name):
    # spaCy makes the optimiser of its section alone: a variable in there would stay as it is.
    config = Config().from_disk(project_dir.parent / "configs" / f"{name}.cfg", interpolate=False)
    nlp = spacy.blank("zh")
    nlp.config["training"]["optimizer"] = config["training"]["optimizer"]
    assert nlp.create_optimizer().learn_rate > 0


@pytest.mark.parametrize("name", ["lebert", "flat", "flat_bert", "flat_ensemble"])
def test_each_group_of_the_optimizer_has_parameters(project_dir, name):
    path = project_dir.parent / "configs" / f"{name}.cfg"
    config = Config().from_disk(path, overrides={"paths.lexicon": "any"})
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.get_pipe("lex_matcher").add_words(["北京"])
    ner = nlp.get_pipe("lex_ner")
    ner.initialize(lambda: [Example.from_dict(nlp.make_doc("我在北京"), {"entities": [(2, 4, "LOC")]})], nlp=nlp)
    modules = [shim.module for node in ner.model.walk() for shim in node.shims]
    names = [name for module in modules for name, _ in module.named_parameters()]
    for group in config["training"]["optimizer"]["groups"].values():
        assert any(re.search(group["pattern"], name) for name in names), group
