"""Commands that are killed leave the old lexicon or the new one, and the next run cleans up."""

import random

import pytest
from kills import leftovers, run_killed, start, timed, wait
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.lexicon import Lexicon

N_KILLS = [4, pytest.param(100, marks=pytest.mark.slow)]
WORDS = [f"词{i}" for i in range(1000)]


@pytest.fixture
def files(tmp_path, folder):
    (tmp_path / "many.txt").write_text("\n".join(WORDS) + "\n")
    assert run("build", tmp_path / "many", tmp_path / "many.txt") == 0
    assert run("merge", tmp_path / "start", folder, tmp_path / "many") == 0
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(lexner, ["lexicon", *map(str, arguments)]).exit_code


def words_of(path):
    return set(Lexicon.open(path, verify=True))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("n_kills", N_KILLS)
@pytest.mark.parametrize("command", ["build", "add", "remove", "merge"])
def test_killed_commands(files, folder, command, n_kills):
    path = files / "changed"
    few = words_of(folder)
    arguments, old, new = {
        "build": (["build", path, files / "many.txt", "--force"], few, {*WORDS}),
        "add": (["add", path, "--file", files / "many.txt"], few, {*few, *WORDS}),
        "remove": (["remove", path, "--file", files / "many.txt"], {*few, *WORDS}, few),
        "merge": (["merge", path, folder, files / "many", "--force"], few, {*few, *WORDS}),
    }[command]
    origin = Lexicon.open(files / "start" if command == "remove" else folder)
    generator = random.Random(0)

    def change():
        assert run(*arguments) == 0

    origin.save(path)
    seconds = timed(change)
    for _ in range(n_kills):
        origin.save(path)
        assert not leftovers(path) and words_of(path) == old
        done = run_killed(change, 1.2 * seconds, generator)
        assert words_of(path) in ([new] if done else [old, new])


def test_two_commands_at_once_lose_nothing(folder):
    children = [start(lambda i=i: [run("add", folder, f"新{i}{j}") for j in range(3)]) for i in "甲乙"]
    assert [wait(child) for child in children] == [0, 0]
    assert {f"新{i}{j}" for i in "甲乙" for j in range(3)} <= words_of(folder)


def test_of_two_builds_of_one_folder_one_is_refused(files):
    arguments = ("build", files / "new", files / "many.txt")
    children = [start(lambda: require_success(run(*arguments))) for _ in range(2)]
    assert sorted(map(wait, children)) == [0, 1]
    assert words_of(files / "new") == {*WORDS}


def require_success(code):
    assert code == 0
