"""`project.yml`: valid for weasel, complete, and every workflow plain from its start to its end."""

import shutil

import pytest
import srsly
from weasel.util import load_project_config

WORKFLOWS = {"all", "data", "train", "vectors", "pretrain", "pretrain-ernie", "pretrain-elmo", "graph", "knowledge"}
ALWAYS = {"demo-predict", "check-text"}  # what shows or checks something and writes nothing
LATER = ("assets/lexicon", "assets/lexicon/jieba_dict.txt")  # what a command brings along besides its outputs
GIVEN = {  # what whoever runs the workflow has, or has made by another one
    "assets/text": ("vectors", "pretrain", "pretrain-ernie", "pretrain-elmo", "graph"),
    "corpus/knowledge/triples.tsv": ("knowledge",),
    "lexicon/knowledge": ("pretrain-ernie",),
}


@pytest.fixture
def config(project_dir, tmp_path):
    shutil.copy(project_dir / "project.yml", tmp_path)  # loading makes the folders that the file names
    return load_project_config(tmp_path)


def test_workflows(config):
    assert set(config["workflows"]) >= WORKFLOWS
    assert set(config["vars"]) >= {
        "dataset",
        "config",
        "checkpoint",
        "lexicon",
        "vectors",
        "lexicon_folder",
        "options",
        "text",
        "tokenizer",
        "size",
        "masking",
        "steps",
        "protected",
        "triples",
        "seed",
        "gpu_id",
        "data_dir",
    }


@pytest.mark.parametrize("workflow", sorted(WORKFLOWS))
def test_dependencies_exist_or_are_made_before(config, project_dir, workflow):
    commands = {command["name"]: command for command in config["commands"]}
    made = {*LATER, *(path for path, workflows in GIVEN.items() if workflow in workflows)}
    for name in config["workflows"][workflow]:
        for path in commands[name].get("deps", []):
            assert path in made or (project_dir / path).exists(), f"{name} needs {path}"
        made |= {*commands[name].get("outputs", []), *commands[name].get("outputs_no_cache", [])}


@pytest.mark.parametrize(
    "key, value",
    [
        ("dataset", "msra"),
        ("config", "baseline"),
        ("gpu_id", 0),
        ("seed", 3),
        ("lexicon_folder", "lexicon/knowledge"),
        ("options", "--training.optimizer.learn_rate.total_steps 5"),
        ("text", "raw.txt"),
        ("tokenizer", "blank:zh"),
        ("dim", 77),
        ("min_count", 88),
        ("epochs", 99),
        ("workers", 66),
        ("size", "base"),
        ("masking", "ngram"),
        ("steps", 55),
        ("protected", "weibo"),
        ("triples", "mine.tsv"),
    ],
)
def test_variables_reach_the_commands(project_dir, tmp_path, key, value):
    shutil.copy(project_dir / "project.yml", tmp_path)
    config = load_project_config(tmp_path, overrides={f"vars.{key}": value})
    scripts = [line for command in config["commands"] for line in command["script"]]
    assert any(str(value) in line for line in scripts)


def test_every_command_is_explained_and_skipped_when_nothing_changed(config):
    for command in config["commands"]:
        assert command["help"]
        assert command["name"] in ALWAYS or command.get("outputs") or command.get("outputs_no_cache")


def test_assets_are_those_of_the_manifest(config, data_dir):
    manifest = {entry["file"]: entry for entry in srsly.read_json(data_dir / "originals" / "manifest.json")}
    for asset in config["assets"]:
        _, group, name = asset["dest"].split("/")
        if group != "lexicon":
            entry = manifest[f"{group}/{name}"]
            assert (asset["url"], asset["checksum"]) == (entry["url"], entry["md5"])


@pytest.mark.parametrize("name", ["lebert", "baseline"])
def test_configs_that_the_commands_name(config, project_dir, name):
    assert (project_dir / ".." / "configs" / f"{name}.cfg").is_file()


@pytest.mark.parametrize("workflow", ["pretrain", "pretrain-ernie", "pretrain-elmo"])
def test_nothing_is_pretrained_before_the_text_was_compared_with_all_sets(config, workflow):
    steps = config["workflows"][workflow]
    assert steps[:2] == ["protect", "check-text"] and steps[2].startswith("pretrain")
    scripts = {command["name"]: " ".join(command["script"]) for command in config["commands"]}
    for name in ("weibo", "resume", "cluener", "msra"):
        assert name in scripts["protect"] and name in scripts["check-text"]
