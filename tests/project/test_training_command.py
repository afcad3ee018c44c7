"""The command on a card: run by weasel, it gives the trained pipeline's config and lexicon again."""

import shlex
import shutil

import pytest
from pipeline_facts import Training
from spacy.cli._util import parse_config_overrides
from spacy.util import load_config, load_model_from_config
from training_command import find_variables, write_command, write_value
from weasel.cli.run import update_lockfile
from weasel.util import load_project_config
from weasel.util.config import parse_config_overrides as parse_variables

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.lexicon import Lexicon, LexiconEntry

PACKAGE = "packages/zh_lexner_mine_flat-0.1.0"
TRAIN = "python -m spacy project run train project "
ENCODER = (
    r"{\"@architectures\":\"spacy.HashEmbedCNN.v2\",\"width\":16,\"depth\":1,\"embed_size\":100,\"window_size\":1,"
    r"\"maxout_pieces\":2,\"subword_features\":false,\"pretrained_vectors\":null}"
)


@pytest.fixture
def project(project_dir, tmp_path):
    shutil.copy(project_dir / "project.yml", tmp_path)
    for name, word in (("main", "北京"), ("mine", "南京市")):
        save_lexicon(tmp_path / "lexicon" / name, word)
    return tmp_path


def save_lexicon(folder, word):
    Lexicon.from_entries([LexiconEntry(word)]).save(folder)


def command_of(project, name, variables):
    config = load_project_config(project, overrides=parse_variables(variables))
    return next(command for command in config["commands"] if command["name"] == name)


def train(project, base, variables):
    """The pipeline that `fit` would train."""
    words = shlex.split(command_of(project, "fit", variables)["script"][0])
    complete(read_base(base)).to_disk(project / "base.cfg")
    overrides = parse_config_overrides(words[words.index("--paths.train") :], env_var=None)
    nlp = load_model_from_config(load_config(project / "base.cfg", overrides=overrides), auto_fill=True)
    if "lex_matcher" in nlp.pipe_names:
        nlp.get_pipe("lex_matcher").set_lexicon(Lexicon.open(project / nlp.config["paths"]["lexicon"]))
    return nlp


@pytest.mark.parametrize(
    "base, variables",
    [
        *((base, {}) for base in ("flat", "lebert", "segmenter", "spans_flat", "soft_lexicon")),
        ("flat", {"seed": 3, "options": " --training.optimizer.learn_rate.initial_rate 0.0003 --training.seed 5"}),
        ("flat", {"options": " --paths.character_vectors '../my vectors/chars.vec' --nlp.lang=en"}),
        ("flat", {"options": f" --components.lex_ner.model.tok2vec '{ENCODER}' --training.max_steps 7"}),
        ("flat", {"options": " --training.frozen_components '[\\\"lex_ner\\\"]' --training.score_weights.ents_p 0.3"}),
        ("lebert", {"checkpoint": "../my bert", "options": " --training.optimizer.learn_rate.total_steps 4"}),
    ],
)
def test_the_same_config(project, base, variables):
    given = {"dataset": "mine", "config": base, "lexicon_folder": "lexicon/mine", **variables}
    nlp = train(project, base, [part for name, value in given.items() for part in (f"--vars.{name}", str(value))])
    found = find_variables(nlp, Training("mine", base), project, PACKAGE)
    assert found.keys() == given.keys() | {"seed"}
    assert write_command(found).startswith(TRAIN)
    again = train(project, base, shlex.split(write_command(found).removeprefix(TRAIN)))
    assert again.config == nlp.config


def test_nothing_but_what_differs_from_the_defaults(project):
    variables = ["--vars.config", "baseline"]
    nlp = train(project, "baseline", variables)
    command = write_command(find_variables(nlp, Training("weibo", "baseline"), project, PACKAGE))
    assert command == f"{TRAIN}--vars.dataset weibo --vars.config baseline --vars.seed 0"


@pytest.fixture
def built(project):
    """A pipeline with a lexicon that the workflow built from two files."""
    files = ["--vars.lexicon", "B.txt C.txt", "--vars.vectors", "words.vec"]
    for output in ("main", "empty"):
        (project / "lexicon" / output).mkdir(exist_ok=True)
    update_lockfile(project, command_of(project, "lexicon", files))
    return train(project, "flat", files)


def lexicon_of(nlp, project):
    found = find_variables(nlp, Training("weibo", "flat"), project, PACKAGE)
    return {name: value for name, value in found.items() if name in ("lexicon", "vectors", "lexicon_folder")}


def test_files_of_the_lexicon(built, project):
    assert lexicon_of(built, project) == {"lexicon": "B.txt C.txt", "vectors": "words.vec"}
    command = write_command(find_variables(built, Training("weibo", "flat"), project, PACKAGE))
    assert "--vars.lexicon 'B.txt C.txt' --vars.vectors words.vec" in command


OWN = {"lexicon_folder": f"{PACKAGE}/lex_matcher/lexicon"}


def test_a_lexicon_built_anew_for_another_training(built, project):
    shutil.rmtree(project / "lexicon" / "main")
    assert lexicon_of(built, project) == OWN
    save_lexicon(project / "lexicon" / "main", "上海")
    assert lexicon_of(built, project) == OWN


def test_a_lexicon_built_by_hand(built, project):
    (project / "lexicon" / "main" / "note.txt").write_text("changed since", "utf8")
    assert lexicon_of(built, project) == OWN
    (project / "project.lock").unlink()
    assert lexicon_of(built, project) == OWN


@pytest.mark.parametrize(
    "value", ["a b", "5", "null", "", "[1", 0.3, 1e-08, 100.0, 5, True, None, [1, "a"], {"a": "b c"}]
)
def test_values_are_read_as_they_were(value):
    read = parse_config_overrides(["--a.b", write_value(value)], env_var=None)["a.b"]
    assert read == pytest.approx(value, rel=1e-15) if isinstance(value, float) else read == value
    assert type(read) is type(value)


def test_numbers_are_written_short():
    assert write_value(parse_config_overrides(["--a.b", "0.0003"], env_var=None)["a.b"]) == "0.0003"
