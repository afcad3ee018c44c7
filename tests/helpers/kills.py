"""Work in another process, which is killed at a random moment."""

import os
import random
import signal
import threading
import time
import traceback
from pathlib import Path
from typing import Callable, Iterator, Set, Tuple

import srsly
from tqdm import tqdm

from spacy_lexner.lexicon.storage import MANIFEST
from spacy_lexner.lexicon.writing import LOCK


def start(work: Callable[[], object]) -> int:
    """Do some work in a forked process. RETURNS (int): The process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        # Its own lock for progress bars: tqdm's is a semaphore shared by parent and children, and would stay locked for
        # all of them if a child is killed while holding it.
        tqdm.set_lock(threading.RLock())
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def wait(child: int) -> int:
    """RETURNS (int): The exit code of a process; the negative signal number if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_killed(work: Callable[[], object], within: float, generator: random.Random) -> bool:
    """Do some work in another process, and kill it after a random time. RETURNS (bool): Whether it finished first."""
    child = start(work)
    end = time.monotonic() + generator.uniform(0, within)
    while time.monotonic() < end and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    code = wait(child)
    assert code in (0, -signal.SIGKILL), "it failed by itself"
    return code == 0


def timed(work: Callable[[], object]) -> float:
    """RETURNS (float): Seconds that some work takes in another process."""
    begin = time.perf_counter()
    assert wait(start(work)) == 0
    return time.perf_counter() - begin


def kill_again_and_again(make: Callable[[str], Callable[[], object]], n_kills: int) -> Iterator[Tuple[str, bool]]:
    """Kill resumable work again and again until it is done, then start over in a new folder.

    make (Callable[[str], Callable[[], object]]): Returns the work for a folder of this name. In "whole" it is not
        killed.
    n_kills (int): The minimum number of kills.
    YIELDS (Tuple[str, bool]): After each kill, and when the work is done: the folder, and whether it is done, which is
        about one time in six: the time before a kill adapts to the machine, whose load varies.
    """
    within, generator = timed(make("whole")), random.Random(0)
    number, done = 0, False
    while n_kills > 0 or not done:
        done = run_killed(make(str(number)), within, generator)
        yield str(number), done
        within *= 0.9 if done else 1.02
        number, n_kills = number + done, n_kills - (not done)


def leftovers(folder: Path) -> Set[str]:
    """RETURNS (Set[str]): Files in a lexicon's folder that are not part of the lexicon."""
    parts = srsly.read_json(folder / MANIFEST)["parts"].values()
    return {file.name for file in folder.iterdir()} - {MANIFEST, LOCK, *(part["file"] for part in parts)}
