import os
import random

import pytest
from kills import run_killed, timed

from spacy_lexner.pretraining.parallel import pretrain_together
from spacy_lexner.pretraining.whole_files import WholeFiles

N_KILLS = [2, pytest.param(100, marks=pytest.mark.slow)]


def test_a_file_is_whole_or_as_it_was(tmp_path):
    folder = WholeFiles(tmp_path / "new")
    with (folder / "model0.bin").open("wb") as file:
        file.write(b"old")
    with pytest.raises(ValueError, match="in between"), (folder / "model0.bin").open("wb") as file:
        file.write(b"ne")
        raise ValueError("in between")
    with (folder / "log.jsonl").open("a") as file:
        file.write("{}")
    assert {path.name: path.read_bytes() for path in folder.folder.iterdir()} == {
        "model0.bin": b"old",
        "log.jsonl": b"{}",
    }


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("n_kills", N_KILLS)
def test_killed_while_pretraining(pretraining_config, tmp_path, n_kills):
    """Every remaining file is as in a run that was not killed, and the next run continues as if in a new folder."""

    def work(folder):
        return lambda: pretrain_together(pretraining_config(), folder)

    pretrain_together(pretraining_config({"pretraining.max_epochs": 1}), tmp_path / "imports")  # imports before forking
    seconds = timed(work(tmp_path / "whole"))
    expected = {path.name: path.read_bytes() for path in (tmp_path / "whole").glob("*.bin")}
    generator = random.Random(0)
    target = tmp_path / "killed"
    for _ in range(n_kills):
        run_killed(work(target), 1.1 * seconds, generator)
        for path in target.glob("*.bin") if target.exists() else ():
            assert path.read_bytes() == expected[path.name], path.name
    assert timed(work(target))
    assert {path.name: path.read_bytes() for path in target.glob("*.bin")} == expected
    assert not [path for path in target.iterdir() if path.name.startswith(".")]
