import pytest
from spacy.cli import app
from spacy.util import registry
from typer.testing import CliRunner

from spacy_lexner.serve import run
from spacy_lexner.serve.dictionary.errors import StateError
from spacy_lexner.serve.settings import Batching, Limits, Settings


@pytest.fixture
def command(monkeypatch):
    """Runs the command without starting a service."""
    calls = []
    monkeypatch.setattr(run, "run_service", lambda *args: calls.append(args))
    registry.cli.get_all()

    def call(*args):
        result = CliRunner().invoke(app, ["lexner", "serve", "model", *map(str, args)])
        return result.exit_code, result.output, calls

    return call


def test_defaults_are_those_of_the_settings(command):
    code, _, calls = command()
    hosts = ("127.0.0.1", "::1", "localhost")
    assert code == 0 and calls == [(Settings("model", hosts=hosts), "127.0.0.1", 8080)]


def test_options(command, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef")
    options = ["--host", "0.0.0.0", "--port", 9, "--state", tmp_path, "--token-file", tmp_path / "token"]
    options += [
        "--max-texts",
        1,
        "--max-characters",
        2,
        "--max-seconds",
        3,
        "--max-wait-ms",
        4,
        "--max-batch-tokens",
        5,
    ]
    code, _, calls = command(*options, "--allowed-host", "ner.example", "--gpu-id", 0)
    [(settings, host, port)] = calls
    assert code == 0 and (host, port) == ("0.0.0.0", 9)
    assert settings.token == "0123456789abcdef" and settings.state == tmp_path and settings.gpu_id == 0
    assert settings.limits == Limits(texts=1, characters=2, seconds=3.0)
    assert settings.batching == Batching(5, 0.004) and "ner.example" in settings.hosts


@pytest.mark.parametrize(
    "option, value",
    [
        ("--port", 99999),  # the system would take the port 34463
        ("--max-texts", 0),
        ("--max-characters", 0),
        ("--max-seconds", 0),
        ("--max-wait-ms", -1),
        ("--max-batch-tokens", -1),
    ],
)
def test_numbers_out_of_range(command, option, value):
    code, output, calls = command(option, value)
    assert code == 2 and option in output and "should be" in output and not calls


def test_what_is_refused(command, tmp_path, monkeypatch):
    for option in ("--state", "--token-file"):
        code, output, calls = command(option, tmp_path)
        assert code == 1 and "give both --state and --token-file" in " ".join(output.split()) and not calls

    def fail(*args):
        raise StateError("another service uses it")

    monkeypatch.setattr(run, "run_service", fail)
    code, output, _ = command()
    assert code == 1 and "another service uses it" in output
