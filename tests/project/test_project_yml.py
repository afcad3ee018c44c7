"""The project files: valid for weasel, complete, with every workflow's inputs and outputs declared."""

import re
import shlex
import shutil

import pytest
import srsly
from weasel.util import load_project_config

TRAINING = {"all", "data", "train"}
PRETRAINING = {"vectors", "pretrain", "pretrain-ernie", "pretrain-elmo", "graph", "knowledge", "typing"}
FOLDERS = [".", "pretraining", "reproduce"]
ELSEWHERE = {"reproduce"}  # commands that run a workflow of another project file
ALONE = {"package", "release", *ELSEWHERE}  # those that are no part of a workflow
ALWAYS = {"demo-predict", "check-text", *ELSEWHERE}  # commands that only show or check something and write nothing here
GIVEN = {  # files that the user has, or has made with another workflow
    "../assets/text": ("vectors", "pretrain", "pretrain-ernie", "pretrain-elmo", "graph"),
    "../corpus/knowledge/triples.tsv": ("knowledge",),
    "../lexicon/knowledge": ("pretrain-ernie", "typing"),
    "../corpus/weibo": ("typing",),
    "../assets/lexicon/jieba_dict.txt": ("graph",),  # comes with its folder
}


@pytest.fixture
def load(project_dir, tmp_path):
    """Loads a project file from a copy: loading makes the folders that the file names."""
    for folder in FOLDERS[1:]:
        (tmp_path / folder).mkdir()

    def load(folder, **overrides):
        shutil.copy(project_dir / folder / "project.yml", tmp_path / folder)
        return load_project_config(tmp_path / folder, overrides=overrides)

    return load


@pytest.mark.parametrize("folder, workflows", [*zip(FOLDERS, (TRAINING, PRETRAINING, {"reproduce"}))])
def test_workflows(load, folder, workflows):
    config = load(folder)
    names = {command["name"] for command in config["commands"]}
    assert set(config["workflows"]) == workflows
    steps = {name for steps in config["workflows"].values() for name in steps}
    assert steps == (names - ALONE if folder == "." else names)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_file_fits_on_two_screens(project_dir, folder):
    lines = (project_dir / folder / "project.yml").read_text("utf8").splitlines()
    assert len(lines) <= 120


@pytest.mark.parametrize("workflow", sorted(TRAINING | PRETRAINING | {"reproduce"}))
def test_dependencies_exist_or_are_made_before(load, project_dir, workflow):
    folder = "." if workflow in TRAINING else "pretraining" if workflow in PRETRAINING else "reproduce"
    config = load(folder)
    commands = {command["name"]: command for command in config["commands"]}
    made = {path for path, workflows in GIVEN.items() if workflow in workflows}
    for name in config["workflows"][workflow]:
        for path in commands[name].get("deps", []):
            places = {path, path.rpartition("/")[0]}
            assert places & made or (project_dir / folder / path).exists(), f"{name} needs {path}"
        made |= {*commands[name].get("outputs", []), *commands[name].get("outputs_no_cache", [])}


@pytest.mark.parametrize(
    "folder, key, value",
    [
        (".", "dataset", "msra"),
        (".", "train", "my_train.conll"),
        (".", "dev", "my_dev.conll"),
        (".", "test", "my_test.conll"),
        (".", "config", "baseline"),
        (".", "checkpoint", "some-bert"),
        (".", "lexicon", "words.txt"),
        (".", "vectors", "words.vec"),
        (".", "data_dir", "somewhere"),
        (".", "gpu_id", 77),
        (".", "seed", 33),
        (".", "lexicon_folder", "lexicon/knowledge"),
        (".", "options", "--training.optimizer.learn_rate.total_steps 5"),
        (".", "seeds", 44),
        (".", "release", "posts=weibo/flat"),
        (".", "version", "7.8.9"),
        (".", "results", "metrics/some.jsonl"),
        (".", "ontonotes", "ontonotes-release-4.0"),
        ("reproduce", "checkpoint", "some-bert"),
        ("reproduce", "datasets", "weibo"),
        ("reproduce", "ontonotes", "ontonotes-release-4.0"),
        ("reproduce", "seeds", 44),
        ("reproduce", "options", "--training.max_steps 5"),
        ("reproduce", "words", 1234),
        ("reproduce", "data_dir", "somewhere"),
        ("reproduce", "gpu_id", 77),
        ("pretraining", "text", "raw.txt"),
        ("pretraining", "tokenizer", "blank:zh"),
        ("pretraining", "dim", 77),
        ("pretraining", "min_count", 88),
        ("pretraining", "epochs", 99),
        ("pretraining", "workers", 66),
        ("pretraining", "size", "base"),
        ("pretraining", "masking", "ngram"),
        ("pretraining", "steps", 55),
        ("pretraining", "suffix", "_other"),
        ("pretraining", "lexicon_folder", "../lexicon/other"),
        ("pretraining", "character_vectors", "../vectors/chars.vec"),
        ("pretraining", "elmo_words", "jieba"),
        ("pretraining", "softmax", "adaptive"),
        ("pretraining", "protected", "weibo"),
        ("pretraining", "triples", "mine.tsv"),
        ("pretraining", "names", "names.tsv"),
        ("pretraining", "dataset", "resume"),
        ("pretraining", "checkpoint", "../checkpoints/ernie-piece"),
    ],
)
def test_variables_reach_the_commands(load, folder, key, value):
    config = load(folder, **{f"vars.{key}": value})
    scripts = [line for command in config["commands"] for line in command["script"]]
    assert any(str(value) in line for line in scripts)


PATHS = "text lexicon lexicon_folder tokenizer character_vectors suffix triples names checkpoint data_dir"


@pytest.mark.parametrize("key", PATHS.split())
def test_pretraining_with_paths_that_have_spaces(load, key):
    commands = load("pretraining", **{f"vars.{key}": "a b/c"})["commands"]
    lines = [line for command in commands for line in command["script"] if "a b/c" in line]
    assert lines
    for line in lines:
        assert sum("a b/c" in word for word in shlex.split(line)) == line.count("a b/c")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_command_is_explained_and_skipped_when_nothing_changed(load, folder):
    for command in load(folder)["commands"]:
        assert command["help"]
        assert command["name"] in ALWAYS or command.get("outputs") or command.get("outputs_no_cache")


def test_a_command_hands_all_its_variables_to_the_project_file_that_it_runs(load):
    for command in load(".")["commands"]:
        if command["name"] in ELSEWHERE:
            handed = set(re.findall(r"--vars\.(\w+)", command["script"][0]))
            assert handed <= set(load(command["script"][0].split()[6])["vars"])


def test_assets_are_those_of_the_manifest(load, data_dir):
    manifest = {entry["file"]: entry for entry in srsly.read_json(data_dir / "originals" / "manifest.json")}
    for asset in load(".")["assets"]:
        _, group, name = asset["dest"].split("/")
        if group not in ("lexicon", "nested", "bc5cdr"):  # of which there are no copies
            entry = manifest[f"{group}/{name}"]
            assert (asset["url"], asset["checksum"]) == (entry["url"], entry["md5"])


@pytest.mark.parametrize("workflow", ["pretrain", "pretrain-ernie", "pretrain-elmo"])
def test_nothing_is_pretrained_before_the_text_was_compared_with_all_sets(load, workflow):
    config = load("pretraining")
    steps = config["workflows"][workflow]
    assert steps[:2] == ["protect", "check-text"] and steps[2].startswith("pretrain")
    scripts = {command["name"]: " ".join(command["script"]) for command in config["commands"]}
    for name in ("weibo", "resume", "cluener", "msra"):
        assert name in scripts["protect"] and name in scripts["check-text"]


@pytest.mark.parametrize(
    "folder, command, variables",
    [(".", "lexicon", "lexicon vectors"), (".", "fit", "checkpoint"), ("pretraining", "lexicon", "lexicon")],
)
def test_a_command_is_repeated_if_a_file_that_a_variable_names_has_changed(load, folder, command, variables):
    """Such files cannot be declared, since a variable may name none or several: `fetch` notes their content."""
    names = {key: f"some-{key}" for key in variables.split()}
    commands = load(folder, **{f"vars.{key}": value for key, value in names.items()})["commands"]
    [notes] = [each for each in commands if any(out.endswith("assets/inputs.json") for out in each.get("outputs", ()))]
    assert notes["no_skip"] and set(names.values()) <= set(re.findall("--also '(.*?)'", notes["script"][0])[0].split())
    deps = next(each["deps"] for each in commands if each["name"] == command)
    assert set(deps) & set(notes["outputs"])


@pytest.mark.parametrize("command", ["pretrain-bert", "pretrain-ernie-encoder", "pretrain-bilm"])
def test_whether_anything_is_left_to_pretrain_is_left_to_the_script(load, command):
    """It compares all files that its config names, such as vectors and words; the project file cannot name them all."""
    assert next(each for each in load("pretraining")["commands"] if each["name"] == command)["no_skip"]
