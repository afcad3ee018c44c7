import os
import signal
import threading

import pytest
import torch

from spacy_lexner.encoders.elmo.side_by_side import both, second_core


def idents():
    with second_core(True) as executor:
        return both(threading.get_ident, threading.get_ident, executor)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_two_calls_at_once(two_threads):
    """Each waits for the other one: one after the other would never end."""
    meeting, seen = threading.Barrier(2, timeout=30), {}

    def call(name):
        meeting.wait()
        seen[name] = (threading.get_ident(), torch.get_num_threads(), torch.is_grad_enabled())
        return name

    with torch.no_grad(), second_core(True) as executor:
        assert both(lambda: call("one"), lambda: call("other"), executor) == ("one", "other")
    assert seen["one"][0] == threading.get_ident() != seen["other"][0]
    assert [each[1:] for each in seen.values()] == [(1, False)] * 2
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("n_threads, wanted", [(1, True), (2, False)])
def test_no_second_core(two_threads, n_threads, wanted):
    torch.set_num_threads(n_threads)
    seen = []
    with second_core(wanted) as executor:
        assert executor is None and torch.get_num_threads() == n_threads
        both(lambda: seen.append("one"), lambda: seen.append("other"), executor)
    assert seen == ["one", "other"]


@pytest.mark.parametrize("fails", ["one", "other"])
def test_an_error_is_raised_when_both_have_ended(two_threads, fails):
    ended, (_, second) = [], idents()

    def call(name):
        ended.append(name)
        if name == fails:
            raise ValueError(name)

    with pytest.raises(ValueError, match=fails), second_core(True) as executor:
        both(lambda: call("one"), lambda: call("other"), executor)
    assert sorted(ended) == ["one", "other"]
    assert torch.get_num_threads() == 2
    assert set(idents()) == {threading.get_ident(), second}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_has_a_thread_of_its_own(two_threads):
    idents()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # the parent's thread would never answer
        os._exit(len(set(idents())))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
