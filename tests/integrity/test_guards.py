"""The tests in docs/reliability.md can fail: each one here does fail without the guard that it tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUARDS = [  # case, file in the package, the code there, its replacement, the test that must fail
    (
        13,
        "scale/pipe.py",
        "if not isinstance(text, (str, Doc)):",
        "if False:",
        "scale/test_pipe.py::test_what_is_no_text_is_named",
    ),
    (
        23,
        "lexicon/lines.py",
        "if len(data) > most:",
        "if False:",
        "lexicon/test_lines.py::test_a_line_of_a_megabyte",
    ),
    (
        29,
        "pipeline/linked_pipe.py",
        "width not in (None, lexicon.dim)",
        "False",
        "pipeline/test_linked_pipe.py::test_another_width_than_in_training_is_refused",
    ),
    (
        30,
        "lexicon/array_file.py",
        "min(MAX_HEADER, len(data) - 8)",
        "len(data) - 8",
        "lexicon/test_array_file.py::test_large_header_is_refused",
    ),
    (
        32,
        "checkpoints/state_dict.py",
        "if problem is not None:",
        "if False:",
        "checkpoints/test_state_dict.py::test_fills_a_module_or_says_what_does_not_fit",
    ),
    (
        33,
        "encoders/shared/shim.py",
        "if not torch.isfinite(norm):",
        "if False:",
        "encoders/shared/test_shim.py::test_gradients_that_are_not_finite_change_nothing",
    ),
    (
        34,
        "integrity/seal.py",
        'if hashlib.sha256(data).hexdigest() != entry["sha256"]:',
        "if False:",
        "integrity/test_pipelines.py::test_a_changed_file_is_named",
    ),
    (
        35,
        "integrity/seal.py",
        "if not path.resolve().is_relative_to(folder.resolve()):",
        "if False:",
        "integrity/test_seal.py::test_a_link_out_of_the_folder_is_refused",
    ),
    (36, "lexicon/limits.py", "if self._count > self._most:", "if False:", "lexicon/test_limits.py::test_a_bomb_ends"),
    (
        40,
        "integrity/folders.py",
        "        yield temporary\n",
        "        shutil.rmtree(target, True)\n        yield temporary\n",
        "integrity/test_folders.py::test_a_failure_leaves_the_old_folder",
    ),
    (
        42,
        "pipeline/doc_stream.py",
        "except Exception:",
        "except ValueError:",
        "pipeline/test_sequence_tagger.py::test_a_batch_too_large_is_done_in_single_documents",
    ),
    (
        45,
        "scale/pipe.py",
        "except BrokenProcessPool:",
        "except ZeroDivisionError:",
        "scale/test_pipe.py::test_a_killed_worker_is_an_error",
    ),
]


@pytest.mark.parametrize(("file", "guard"), [row[1:3] for row in GUARDS])
def test_guards_are_in_the_code(file, guard):
    assert guard in (ROOT / "spacy_lexner" / file).read_text("utf8")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("case", "file", "guard", "nothing", "test"), GUARDS, ids=[f"{row[0]}" for row in GUARDS])
def test_without_its_guard_a_test_fails(tmp_path, case, file, guard, nothing, test):
    page = (ROOT / "docs" / "reliability.md").read_text("utf8")
    [row] = [line for line in page.splitlines() if line.startswith(f"| {case} |")]
    assert f"tests/{test}`" in row
    for name in ("spacy_lexner", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert run(tmp_path, test) == pytest.ExitCode.OK
    path = tmp_path / "spacy_lexner" / file
    code = path.read_text("utf8")
    path.write_text(code.replace(guard, nothing), "utf8")
    assert run(tmp_path, test) == pytest.ExitCode.TESTS_FAILED


def run(folder, test):
    """RETURNS (int): The exit code of pytest, for a test with the package in a folder."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=120", f"tests/{test}"]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, stdout=subprocess.DEVNULL
    ).returncode
