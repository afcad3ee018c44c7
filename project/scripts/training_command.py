"""The command that repeats a training, read from the trained pipeline: its config, compared with the base, and its
lexicon."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Tuple

import srsly
from paths import CONFIGS, PROJECT
from pipeline_facts import Training
from spacy.language import Language
from thinc.api import Config
from weasel.cli.main import PROJECT_LOCK
from weasel.util import get_checksum

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.pipeline.lexicon_pipe import find_lexicon

OWN_LEXICON = "lex_matcher/lexicon"  # in a pipeline's folder
ALWAYS = ("dataset", "config", "seed")  # variables to give even if they have their defaults
# Settings that have variables of their own.
SET = ("paths.train", "paths.dev", "paths.lexicon", "paths.checkpoint", "system.seed")


def find_variables(nlp: Language, training: Training, project: Path, package: str) -> Dict[str, Any]:
    """Find the variables of the workflow `train` that give the same training again.

    nlp (Language): The trained pipeline.
    training (Training): Its data set and its config.
    project (Path): The project's folder.
    package (str): A folder where the pipeline stays, relative to the project's. Its lexicon is named if that of the
        training is gone, or was built from unknown files.
    RETURNS (Dict[str, Any]): The variables, without those that have their defaults.
    """
    base = complete(read_base(str(CONFIGS / f"{training.config}.cfg")))
    given = {
        **training._asdict(),
        "seed": nlp.config["system"]["seed"],
        "checkpoint": nlp.config["paths"].get("checkpoint"),
        **find_lexicon_variables(nlp, project, package),
        "options": write_options(base, nlp.config),
    }
    defaults = read_defaults()
    return {name: value for name, value in given.items() if name in ALWAYS or value != defaults[name]}


def read_defaults() -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The variables of the project, with their defaults."""
    return srsly.read_yaml(PROJECT / "project.yml")["vars"]


def find_lexicon_variables(nlp: Language, project: Path, package: str) -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The variables that give a training the lexicon of a pipeline, if it has any."""
    folder, lexicon = nlp.config["paths"].get("lexicon"), find_lexicon(nlp)
    if lexicon is None:
        return {}
    own = {"lexicon_folder": f"{package}/{OWN_LEXICON}"}
    try:
        if folder is None or Lexicon.open(project / folder).version != lexicon.version:
            return own
    except LexiconError:
        return own
    main = read_defaults()["lexicon_folder"]
    if Path(folder) != Path(main):  # the workflow only reads it
        return {"lexicon_folder": folder}
    return read_sources(project, main) or own


def read_sources(project: Path, folder: str) -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The variables from which the command `lexicon` built a folder. Empty if it has changed
    since, or was built by hand."""
    lock = project / PROJECT_LOCK
    built = srsly.read_yaml(lock).get("lexicon") if lock.is_file() else None
    if built is None or {"path": folder, "md5": get_checksum(project / folder)} not in built["outs"]:
        return {}
    words = next(words for words in map(shlex.split, built["script"]) if folder in words)
    return {name: words[words.index(option) + 1] for name, option in (("lexicon", "--words"), ("vectors", "--vectors"))}


def write_options(base: Config, config: Config) -> str:
    """RETURNS (str): What `vars.options` has to be, so that a completed base becomes this config."""
    base = Config().from_str(base.to_str(), interpolate=False)  # with lists in place of tuples, as in a saved config
    changes = find_changes(base, config, config.interpolate())  # this config's variables are not the project's
    return "".join(f" --{name} {quote(value)}" for name, value in changes if name not in SET)


def find_changes(
    base: Mapping[str, Any], config: Mapping[str, Any], values: Mapping[str, Any], section: Tuple[str, ...] = ()
) -> Iterator[Tuple[str, Any]]:
    """Compare two configs.

    base (Mapping[str, Any]): A section of the first.
    config (Mapping[str, Any]): The same section of the second.
    values (Mapping[str, Any]): The same, variables resolved.
    section (Tuple[str, ...]): Its name.
    YIELDS (Tuple[str, Any]): The dotted name and the second's value of each setting that differs. A section that lacks
        a setting of the first, which no option can remove, is replaced as a whole.
    """
    for key, value in config.items():
        before, name = base.get(key), (*section, key)
        if isinstance(before, dict) and isinstance(value, dict) and (not section or before.keys() <= value.keys()):
            yield from find_changes(before, value, values[key], name)
        elif value != before:
            yield ".".join(name), values[key]


def quote(value: Any) -> str:
    """RETURNS (str): A value as spaCy reads it from a command line, for weasel, which puts it into a JSON string and
    splits it like a shell."""
    return json.dumps(shlex.quote(write_value(value)), ensure_ascii=False)[1:-1]


def write_value(value: Any) -> str:
    """RETURNS (str): A value as spaCy reads it from a command line: JSON, or a string that is none. Its numbers are not
    exact, so 0.30000000000000004 may be what was written as 0.3."""
    if isinstance(value, str) and read_value(value) == value:
        return value
    short = f"{value:.15g}" if isinstance(value, float) else ""
    return short if repr(read_value(short)) == repr(value) else json.dumps(value, ensure_ascii=False)


def read_value(text: str) -> Any:
    """RETURNS (Any): What spaCy makes of a value on a command line."""
    try:
        return srsly.json_loads(text)
    except ValueError:
        return text


def write_command(variables: Mapping[str, Any]) -> str:
    """RETURNS (str): The command for a shell."""
    given = (f"--vars.{name} {shlex.quote(str(value))}" for name, value in variables.items())
    return " ".join(["python -m spacy project run train project", *given])
