import asyncio
import threading
from collections import deque
from types import SimpleNamespace

import pytest

from spacy_lexner.serve.inference.tasks import TextError
from spacy_lexner.serve.inference.worker import Job, TooManyWaiting, Worker, choose_batch
from spacy_lexner.serve.settings import Batching


class Recorder:
    """A task that gives texts back in capitals, and notes which ones it got together."""

    def __init__(self, key="a"):
        self.key, self.batches = key, []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, texts):
        self.batches.append(list(texts))
        assert self.go.wait(30)
        if "bug" in texts:
            raise RuntimeError("a bug")
        return [TextError("bad") if text == "bad" else text.upper() for text in texts]


def jobs(*lengths, key="a"):
    future = SimpleNamespace(cancelled=lambda: False)
    return [Job(SimpleNamespace(key=key), "x" * length, future) for length in lengths]


def lengths(chosen):
    return [job.length for job in chosen]


@pytest.mark.parametrize(
    ("waiting", "max_tokens", "batches"),
    [
        ([3, 3, 3, 3], 6, [[3, 3], [3, 3]]),
        ([2, 50, 2, 2], 10, [[2, 2, 2], [50]]),  # a long text waits one batch, and the short ones not for it
        ([50, 2, 2], 10, [[50], [2, 2]]),
        ([4, 6, 4], 12, [[4, 6], [4]]),  # three would be padded to 18
        ([1, 1, 1], 0, [[1], [1], [1]]),
    ],
)
def test_batches_are_bounded_by_their_padded_size(waiting, max_tokens, batches):
    queue = deque(jobs(*waiting))
    assert [lengths(choose_batch(queue, max_tokens)) for _ in batches] == batches
    assert not queue


def test_different_tasks_are_not_mixed():
    first, second = jobs(1, 2), jobs(3, key="b")
    queue = deque([first[0], *second, first[1]])
    assert [lengths(choose_batch(queue, 100)) for _ in range(2)] == [[1, 2], [3]]


def test_cancelled_texts_are_left_out():
    queue = deque(jobs(1, 2, 3))
    for i in (0, 2):
        queue[i].result = SimpleNamespace(cancelled=lambda: True)
    assert lengths(choose_batch(queue, 100)) == [2] and not queue and choose_batch(queue, 100) == []


def run(main, **options):
    worker = Worker(Batching(**{"max_tokens": 1000, "max_wait": 0.0, **options}), 100)
    try:
        return asyncio.run(main(worker))
    finally:
        worker.stop()


def test_results_are_in_order():
    task = Recorder()
    assert run(lambda worker: worker.run(task, ["a", "bad", "c"]))[::2] == ["A", "C"]
    assert task.batches == [["a", "bad", "c"]]


def test_texts_of_waiting_requests_go_together():
    task = Recorder()
    task.go.clear()

    async def main(worker):
        first = asyncio.create_task(worker.run(task, ["first"]))
        while not task.batches:
            await asyncio.sleep(0.001)
        rest = [asyncio.create_task(worker.run(task, [f"{i}", "x"])) for i in range(3)]
        await asyncio.sleep(0)
        task.go.set()
        return await asyncio.gather(first, *rest)

    assert run(main) == [["FIRST"], *([f"{i}", "X"] for i in range(3))]
    assert task.batches == [["first"], ["0", "x", "1", "x", "2", "x"]]


def test_a_free_worker_waits_for_as_many_as_came_last_time():
    """Two requests come one after the other; the second batch waits for both, which the first one could not know of."""
    task = Recorder()

    async def main(worker):
        await worker.run(task, ["a", "b"])
        first = asyncio.create_task(worker.run(task, ["c"]))
        await asyncio.sleep(0.01)
        return await asyncio.gather(first, worker.run(task, ["d"]))

    assert run(main, max_wait=20.0) == [["C"], ["D"]]
    assert task.batches == [["a", "b"], ["c", "d"]]


def test_an_error_of_a_batch_reaches_its_requests_and_no_other(caplog):
    task = Recorder()

    async def main(worker):
        failed = await worker.run(task, ["bug"])
        return failed, await worker.run(task, ["fine"])

    [[error], fine] = run(main)
    assert isinstance(error, RuntimeError) and fine == ["FINE"] and "a bug" in caplog.text


def test_more_texts_than_may_wait_are_refused():
    task = Recorder()
    task.go.clear()

    async def main(worker):
        first = asyncio.create_task(worker.run(task, ["first"]))
        while not task.batches:
            await asyncio.sleep(0.001)
        second = asyncio.create_task(worker.run(task, ["x"] * 60))
        await asyncio.sleep(0)
        with pytest.raises(TooManyWaiting, match="60 texts wait, of at most 100"):
            await worker.run(task, ["x"] * 60)
        assert worker.n_waiting == 60
        task.go.set()
        return await asyncio.gather(first, second)

    assert run(main) == [["FIRST"], ["X"] * 60]


def test_texts_of_a_request_that_is_given_up_are_not_processed():
    task = Recorder()
    task.go.clear()

    async def main(worker):
        first = asyncio.create_task(worker.run(task, ["first"]))
        while not task.batches:
            await asyncio.sleep(0.001)
        with pytest.raises((asyncio.TimeoutError, TimeoutError)):
            await asyncio.wait_for(worker.run(task, ["given up"]), 0.001)
        task.go.set()
        await first
        return await worker.run(task, ["last"])

    assert run(main) == ["LAST"]
    assert task.batches == [["first"], ["last"]]


def test_what_waits_is_finished_before_the_end():
    task, started, seen = Recorder(), [], []
    worker = Worker(Batching(0, 0.0), 100, on_start=lambda: started.append(threading.get_ident()), on_batch=seen.append)

    async def main():
        asked = asyncio.create_task(worker.run(task, ["a", "bb"]))
        await asyncio.sleep(0)
        await asyncio.to_thread(worker.stop)
        return await asked

    assert asyncio.run(main()) == ["A", "BB"] and not worker.alive
    assert [(batch.texts, batch.characters) for batch in seen] == [(1, 1), (1, 2)]
    assert started != [threading.get_ident()]
