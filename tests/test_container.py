"""The container's files agree with the code, as far as can be tested without containers."""

import re
from inspect import signature
from pathlib import Path

import yaml

from spacy_lexner.cli.model.serve import serve_cli
from spacy_lexner.serve.settings import Limits

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf8")


def test_the_last_stage_is_not_root_and_has_a_health_check():
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER lexner$", last, re.M) and re.search(r"^HEALTHCHECK .*\n.*/ready", last, re.M)
    assert last.index("USER lexner") < last.index("ENTRYPOINT")


def test_the_command_has_options_that_exist():
    [command] = re.findall(r"^CMD \[(.*)\]$", DOCKERFILE, re.M)
    options = {option.replace("-", "_") for option in re.findall(r'"--([\w-]+)"', command)}
    assert options and options <= set(signature(serve_cli).parameters)


def test_what_the_image_needs_is_copied():
    ignored = (ROOT / ".dockerignore").read_text("utf8").split()
    needed = ["setup.py", "README.md", "constraints.txt", "spacy_lexner", "configs", "pyproject.toml"]
    assert all((ROOT / name).exists() and name not in ignored for name in needed)


def test_compose():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text("utf8"))["services"]["lexner"]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["ports"] == ["127.0.0.1:8080:8080"]
    targets = {volume["target"] for volume in service["volumes"]}
    assert all(target in DOCKERFILE for target in targets)
    assert f"--uid {service['user']}" in DOCKERFILE
    assert int(service["stop_grace_period"].rstrip("s")) > Limits.body_seconds + Limits.seconds  # or it is killed
