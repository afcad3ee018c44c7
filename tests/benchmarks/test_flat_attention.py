"""The benchmark compares equals: the formula for each pair, with distinct positions, and ours give the same results."""

import importlib.util
from argparse import Namespace
from pathlib import Path

import pytest
from tolerance import assert_close, moved

PATH = Path(__file__).parents[2] / "benchmarks" / "flat_attention.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("flat_attention", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("fusion", ["ff", "ff_two"])
def test_all_that_is_timed_runs_and_is_equal(benchmark, fusion):
    args = Namespace(batch=2, length=12, original=None)
    names = ("naive", "unique", "ours", "cached", "floor")
    runs = benchmark.passes(args, fusion, names)
    n_terms = 4 * benchmark.WIDTH  # the longest sum: four encodings side by side
    mask = benchmark.random_lattices(args.batch, args.length)[2]
    for which in (0, 1):
        results = {name: run[which]()[mask] for name, run in runs.items()}
        for name in ("unique", "ours", "cached"):
            assert_close(results[name], results["naive"], n_terms)
        assert moved(results["floor"], results["naive"], n_terms).any()
