"""In separate processes, so that forking torch's threads does not affect other tests."""

import os
import subprocess
import sys

import pytest

from spacy_lexner.encoders.shared import shim
from spacy_lexner.tagging import heads

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
TEXT = "南京市长江大桥很长" * 100  # enough for two threads
PREPARE = """
import multiprocessing, spacy, torch
assert torch.get_num_threads() == 2
context = multiprocessing.get_context("fork")
multiprocessing.set_start_method("fork", force=True)
torch.randn(2_000_000).exp().sum()  # the threads are there
"""
STREAM = """
from spacy.training import Example
spacy.util.fix_random_seed(0)
nlp = spacy.blank("zh")
nlp.add_pipe("lex_matcher").add_words(["南京市"])
nlp.add_pipe("lex_ner")
nlp.initialize(lambda: [Example.from_dict(nlp.make_doc(TEXT), {"entities": [(0, 3, "GPE")]})])
expected = [len(doc.ents) for doc in nlp.pipe([TEXT] * 2)]
print(expected == [len(doc.ents) for doc in nlp.pipe([TEXT] * 2, n_process=2, batch_size=1)])
"""


def run(code: str) -> str:
    """RETURNS (str): The output of a process that has used two threads."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARE + code],
        env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_forked_processes_have_one_thread():
    assert shim.forks is heads.forks  # encoders and taggers see to it
    code = "import spacy_lexner.encoders.shared.forks\nwith context.Pool(1) as pool:\n"
    code += "    print(pool.apply(torch.get_num_threads), torch.get_num_threads())"
    assert run(code) == "1 2"


def test_workers_of_a_parent_that_has_computed_with_two_threads():
    assert run(f"TEXT = {TEXT!r}\n" + STREAM) == "True"
