import asyncio
from collections import deque

import pytest

from spacy_lexner.serve.front.batcher import Answer, Batcher, Job, choose_batch
from spacy_lexner.serve.http.schemas import AnnotateBody
from spacy_lexner.serve.problem import Problem
from spacy_lexner.serve.settings import Batching
from spacy_lexner.serve.wanted import Wanted


class GivenUp:
    def done(self):
        return True


class Waiting:
    def done(self):
        return False


def jobs(*lengths, wanted=Wanted(), texts=1):  # noqa: B008 (frozen)
    return [Job(["x" * length] * texts, True, wanted, Waiting()) for length in lengths]


def lengths(chosen):
    return [job.longest for job in chosen]


@pytest.mark.parametrize(
    ("waiting", "max_tokens", "batches"),
    [
        ([3, 3, 3, 3], 6, [[3, 3], [3, 3]]),
        ([2, 50, 2, 2], 10, [[2, 2, 2], [50]]),  # a long text waits for one batch, short ones do not
        ([50, 2, 2], 10, [[50], [2, 2]]),
        ([4, 6, 4], 12, [[4, 6], [4]]),  # three would be padded to 18
    ],
)
def test_batches_are_bounded_by_their_padded_size(waiting, max_tokens, batches):
    queue = deque(jobs(*waiting))
    assert [lengths(choose_batch(queue, max_tokens)) for _ in batches] == batches
    assert not queue


def test_all_texts_of_a_request_count():
    queue = deque([*jobs(2, texts=3), *jobs(2, texts=3)])
    assert len(choose_batch(queue, 11)) == 1 and len(queue) == 1


def test_requests_that_want_other_things_are_not_mixed():
    first, second = jobs(1, 2), jobs(3, wanted=Wanted(words=True))
    queue = deque([first[0], *second, first[1]])
    assert [lengths(choose_batch(queue, 100)) for _ in range(2)] == [[1, 2], [3]]


def test_requests_that_were_given_up_are_left_out():
    queue = deque(jobs(1, 2, 3))
    for i in (0, 2):
        queue[i].answer = GivenUp()
    assert lengths(choose_batch(queue, 100)) == [2] and not queue and choose_batch(queue, 100) == []


class Model:
    """Answers requests with their texts, and records which ones came together."""

    def __init__(self):
        self.batches = []
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, batch):
        self.batches.append(["".join(job.texts) for job in batch])
        await self.go.wait()
        if "bug" in self.batches[-1]:
            raise RuntimeError("a bug")
        return [Answer(200, [], text.encode()) for text in self.batches[-1]]


def run(main, **options):
    async def start():
        model = Model()
        return await main(model, Batcher(model, Batching(**{"max_tokens": 1000, "max_wait": 0.0, **options}), 3))

    return asyncio.run(start())


def ask(batcher, text, **options):
    return asyncio.create_task(batcher.run(AnnotateBody(text=text, **options)))


async def contents(*asked):
    return [answer.content.decode() for answer in await asyncio.gather(*asked)]


def test_requests_that_wait_go_together():
    async def main(model, batcher):
        model.go.clear()
        first = ask(batcher, "first")
        await asyncio.sleep(0.01)
        rest = [ask(batcher, text) for text in "abc"]
        await asyncio.sleep(0)
        assert batcher.n_waiting == 3
        with pytest.raises(Problem, match="3 requests or texts are waiting; at most 3 may"):
            await ask(batcher, "too many")
        model.go.set()
        return await contents(first, *rest), model.batches

    assert run(main) == (["first", "a", "b", "c"], [["first"], ["a", "b", "c"]])


def test_a_free_model_waits_for_as_many_as_came_last_time():
    async def main(model, batcher):
        await asyncio.gather(ask(batcher, "a"), ask(batcher, "b"))  # two come together, and neither waits
        model.go.clear()
        c = ask(batcher, "c")
        await asyncio.sleep(0.01)
        both = [ask(batcher, "d"), ask(batcher, "e")]
        await asyncio.sleep(0)
        model.go.set()
        await asyncio.gather(c, *both)
        f = ask(batcher, "f")
        await asyncio.sleep(0.01)  # the one that came alone waits for a second one
        return await contents(f, ask(batcher, "g")), model.batches[-1]

    assert run(main, max_wait=20.0) == (["f", "g"], ["f", "g"])


def test_nobody_waits_for_ever():
    async def main(model, batcher):
        batcher._expected = 9
        return await contents(ask(batcher, "a"))

    assert run(main, max_wait=0.001) == ["a"]


def test_an_error_of_a_batch_reaches_its_requests_and_no_other():
    async def main(model, batcher):
        with pytest.raises(RuntimeError, match="a bug"):
            await ask(batcher, "bug")
        return await contents(ask(batcher, "fine"))

    assert run(main) == ["fine"]


def test_who_gives_up_is_not_answered():
    async def main(model, batcher):
        model.go.clear()
        first, second = ask(batcher, "first"), ask(batcher, "second")
        await asyncio.sleep(0.01)
        first.cancel(), second.cancel()
        await asyncio.sleep(0)
        model.go.set()
        return await contents(ask(batcher, "last")), model.batches

    assert run(main) == (["last"], [["first"], ["last"]])


def test_which_requests_go_with_others():
    async def main(model, batcher):
        return [
            batcher.takes(AnnotateBody(**body))
            for body in (
                {"text": "x" * 10},
                {"texts": ["x" * 5, "x"], "words": True},
                {"text": "x" * 11},
                {"texts": ["x" * 5] * 3},
                {"text": "x", "explain": "attention"},
            )
        ]

    assert run(main, max_tokens=10) == [True, True, False, False, False]
    assert not any(run(main, max_tokens=0))
