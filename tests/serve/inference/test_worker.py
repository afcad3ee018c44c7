import asyncio
import threading

import pytest

from spacy_lexner.serve.inference.worker import Worker, cut
from spacy_lexner.serve.problem import Problem


class Recorder:
    """A task that returns texts in capitals, and records which ones it got together."""

    def __init__(self):
        self.parts = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, texts):
        self.parts.append(list(texts))
        assert self.go.wait(30)
        if "bug" in texts:
            raise RuntimeError("a bug")
        return [text.upper() for text in texts]


@pytest.mark.parametrize(
    ("lengths", "max_tokens", "parts"),
    [
        ([3, 3, 3, 3], 6, [[3, 3], [3, 3]]),
        ([2, 50, 2, 2], 10, [[2], [50], [2, 2]]),
        ([4, 6, 4], 12, [[4, 6], [4]]),  # three would be padded to 18
        ([1, 1, 1], 0, [[1], [1], [1]]),
        ([0, 0], 8, [[0, 0]]),
        ([], 8, []),
    ],
)
def test_parts_are_bounded_by_their_padded_size(lengths, max_tokens, parts):
    assert [[len(text) for text in part] for part in cut(["x" * n for n in lengths], max_tokens)] == parts


def run(main, **options):
    worker = Worker(2, 100, **options)
    try:
        return asyncio.run(main(worker))
    finally:
        worker.stop()


async def started(worker, task, *texts):
    """A request whose first part is being processed."""
    asked = asyncio.create_task(worker.run(task, list(texts)))
    while not task.parts:
        await asyncio.sleep(0.001)
    return asked


def test_results_are_in_order():
    task = Recorder()
    assert run(lambda worker: worker.run(task, list("abcde"))) == list("ABCDE")
    assert task.parts == [["a", "b"], ["c", "d"], ["e"]]


def test_parts_of_requests_take_turns():
    task = Recorder()
    task.go.clear()

    async def main(worker):
        long = await started(worker, task, *"abcdef")
        short = asyncio.create_task(worker.run(task, ["x"]))
        await asyncio.sleep(0)
        task.go.set()
        return await asyncio.gather(long, short)

    assert run(main) == [list("ABCDEF"), ["X"]]
    assert task.parts.index(["x"]) == 1


def test_an_error_of_a_request_reaches_no_other():
    task = Recorder()

    async def main(worker):
        with pytest.raises(RuntimeError, match="a bug"):
            await worker.run(task, ["bug"])
        return await worker.run(task, ["fine"]), worker.n_waiting

    assert run(main) == (["FINE"], 0)


def test_more_texts_than_may_wait_are_refused():
    task = Recorder()
    task.go.clear()

    async def main(worker):
        first = await started(worker, task, *["x"] * 60)
        with pytest.raises(Problem, match="60 requests or texts are waiting; at most 100 may") as refused:
            await worker.run(task, ["x"] * 60)
        assert worker.n_waiting == 60 and refused.value.status == 429
        task.go.set()
        return await first

    assert run(main) == ["X"] * 60


def test_texts_of_a_request_that_is_given_up_are_not_processed():
    task = Recorder()
    task.go.clear()

    async def main(worker):
        first = await started(worker, task, "first")
        with pytest.raises((asyncio.TimeoutError, TimeoutError)):
            await asyncio.wait_for(worker.run(task, ["given up"]), 0.001)
        task.go.set()
        await first
        return await worker.run(task, ["last"])

    assert run(main) == ["LAST"]
    assert task.parts == [["first"], ["last"]]


def test_what_is_told_of_parts():
    threads, seen = [], []
    task = Recorder()
    on = {"on_start": lambda: threads.append(threading.get_ident()), "on_batch": seen.append}
    assert run(lambda worker: worker.run(task, ["a", "b", "ccc"]), **on) == ["A", "B", "CCC"]
    assert [(batch.texts, batch.characters) for batch in seen] == [(2, 2), (1, 3)]
    assert len(threads) == 1 and threads != [threading.get_ident()]
