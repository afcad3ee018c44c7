"""The benchmark runs, since what it calls is not part of the public API."""

import json
import runpy
import sys
from pathlib import Path

PATH = Path(__file__).parents[2] / "benchmarks" / "flat_batches.py"


def test_preparation_is_a_share_of_the_forward_pass(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(PATH), "--length", "8", "--repeats", "1"])
    runpy.run_path(str(PATH), run_name="__main__")
    assert 0 < json.loads(capsys.readouterr().out.splitlines()[-1])["prepare_share"] < 1
