"""What each base trains, with every default: `fixtures/configs/settings.json`. If a change is intended, regenerate it:
`PYTHONPATH=tests/helpers python tests/configs/test_settings.py`."""

import json
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import pytest
from spacy.util import registry
from thinc.api import Config

from configs import BASES, filled

FILE = Path(__file__).parents[1] / "fixtures" / "configs" / "settings.json"
SECTIONS = ("nlp", "components", "training", "pretraining", "corpora", "initialize")
NO_MATTER = ("training.logger", "pretraining.objective.progress_bar", "pretraining.objective.log_")


def test_nothing_that_matters_has_changed():
    recorded = json.loads(FILE.read_text("utf8"))
    present = collect()
    assert {key: present.get(key) for key in recorded} == recorded
    assert not present.keys() - recorded.keys()


@pytest.mark.parametrize("name", BASES)
def test_every_base_is_recorded(name):
    recorded = json.loads(FILE.read_text("utf8"))
    assert any(name in names.split() for values in recorded.values() for names in values.values())


def collect() -> Dict[str, Dict[str, str]]:
    """RETURNS (Dict[str, Dict[str, str]]): For each setting, its values as JSON, each with the bases that have it."""
    found: Dict[str, Dict[str, str]] = {}
    for name in BASES:
        for key, value in resolved(filled(name)):
            values = found.setdefault(key, {})
            text = json.dumps(value)
            values[text] = f"{values[text]} {name}" if text in values else name
    return found


def resolved(config: Config) -> Iterator[Tuple[str, Any]]:
    """YIELDS (Tuple[str, Any]): The settings of a completed config, those of registered functions too."""
    config = config.interpolate()
    objective = config["pretraining"].get("objective", {}).get("@architectures", "")
    if not objective.startswith("spacy-lexner"):  # the rest of the section is spaCy's, and unused
        config["pretraining"] = {k: v for k, v in config["pretraining"].items() if k in ("component", "layer")}
        config["corpora"].pop("pretrain", None)
    for section in SECTIONS:
        complete = registry.fill({section: config[section]}, validate=False)
        yield from ((key, value) for key, value in walk(complete) if not key.startswith(NO_MATTER))


def walk(block: Dict[str, Any], prefix: str = "") -> Iterator[Tuple[str, Any]]:
    for key, value in block.items():
        if isinstance(value, dict) and value:
            yield from walk(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    lines = (f"{json.dumps(key)}: {json.dumps(values)}" for key, values in sorted(collect().items()))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")
