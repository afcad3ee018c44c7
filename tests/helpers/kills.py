"""Work in another process that is killed at a random moment."""

import os
import random
import signal
import time
from pathlib import Path
from typing import Callable, Set

import srsly

from spacy_lexner.lexicon.storage import MANIFEST
from spacy_lexner.lexicon.writing import LOCK


def start(work: Callable[[], object]) -> int:
    """Do some work in a forked process. RETURNS (int): The process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def wait(child: int) -> int:
    """RETURNS (int): The exit code of a process; minus the signal's number if one ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_killed(work: Callable[[], object], within: float, generator: random.Random) -> bool:
    """Do some work in another process, and kill it after a random time. RETURNS (bool): Whether it was done by then."""
    child = start(work)
    end = time.monotonic() + generator.uniform(0, within)
    while time.monotonic() < end and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return wait(child) == 0


class Killer:
    """Kills work at random moments of the time that it takes, which it learns anew: machines are busier at times."""

    def __init__(self, work: Callable[[], object]) -> None:
        """work (Callable[[], object]): What is not to be killed: it takes as long as what is."""
        self._within, self._generator = timed(work), random.Random(0)

    def run(self, work: Callable[[], object]) -> bool:
        """RETURNS (bool): Whether the work was done before it was killed, which happens about once in six times."""
        done = run_killed(work, self._within, self._generator)
        self._within *= 0.9 if done else 1.02
        return done


def timed(work: Callable[[], object]) -> float:
    """RETURNS (float): Seconds that some work takes in another process."""
    begin = time.perf_counter()
    assert wait(start(work)) == 0
    return time.perf_counter() - begin


def leftovers(folder: Path) -> Set[str]:
    """RETURNS (Set[str]): Files in a lexicon's folder that are no part of the lexicon."""
    parts = srsly.read_json(folder / MANIFEST)["parts"].values()
    return {file.name for file in folder.iterdir()} - {MANIFEST, LOCK, *(part["file"] for part in parts)}
