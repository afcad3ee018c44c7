"""Tasks in a stream that loses some of them, without a cluster."""

import itertools
from types import SimpleNamespace

import pytest

from spacy_lexner.scale import flight
from spacy_lexner.scale.cluster_stream import Answer, StreamError
from spacy_lexner.scale.flight import REASON, Flight
from spacy_lexner.scale.processes import WorkerError
from spacy_lexner.scale.results import Result
from spacy_lexner.scale.tasks import Batch


class FakeStream:
    """A stream with its own clock. `lose` says what happens to texts: "", "started" or "dropped"."""

    def __init__(self, monkeypatch, lose=lambda texts: "", answer=lambda texts: (texts, None)):
        self.now, self.lose, self.answer, self.sent, self.waiting = 0.0, lose, answer, [], []
        monkeypatch.setattr(flight, "time", SimpleNamespace(monotonic=lambda: self.now))

    def offer(self, key, texts, seconds):
        self.sent.append(texts)
        self.waiting.append((key, texts))
        return True

    def answers(self, seconds):
        self.now += seconds
        waiting, self.waiting = self.waiting, []
        for key, texts in waiting:
            lost = self.lose(texts)
            if lost != "dropped":
                yield Answer(key, None, None, self.now)
            if not lost:
                results, error = self.answer(texts)
                yield Answer(key, [Result({"text": text}) for text in results], error, self.now)


def run(stream, batches):
    return list(Flight(stream).run(batch.start() for batch in batches))


def reasons(batch):
    return [batch.results[index].reason for index in range(len(batch.texts))]


def test_texts_come_back_in_their_places(monkeypatch):
    batches = [Batch(0, [0, 1], ["a", "b"]), Batch(0, [2], ["c"])]
    assert run(FakeStream(monkeypatch), batches) == batches
    assert [batch.results[0].row["text"] for batch in batches] == ["a", "c"]


def test_a_text_that_ends_its_actor_is_found_and_the_rest_is_annotated_together(monkeypatch):
    stream = FakeStream(monkeypatch, lambda texts: "started" if "x" in texts else "")
    [batch] = run(stream, [Batch(0, range(4), list("abxd"))])
    assert reasons(batch) == ["", "", REASON, ""]
    assert stream.sent == [list("abxd"), ["a"], ["b"], ["x"], ["x"], ["d"], list("abd")]


def test_a_batch_that_no_actor_had_is_sent_again_and_has_no_fault(monkeypatch):
    lost = itertools.count()
    stream = FakeStream(monkeypatch, lambda texts: "dropped" if texts == ["x", "y"] and next(lost) < 3 else "")
    [_, batch] = run(stream, [Batch(0, [0], ["a"]), Batch(0, [1, 2], ["x", "y"])])
    assert reasons(batch) == ["", ""]
    assert stream.sent == [["a"], *[["x", "y"]] * 4]


def test_a_silent_cluster_is_an_error_after_a_while(monkeypatch):
    """A cluster that never gets an actor, and one that has lost its actors."""
    never = FakeStream(monkeypatch, lambda texts: "dropped")
    with pytest.raises(WorkerError, match=r"started no worker in 600 seconds.*ray status"):
        run(never, [Batch(0, [0], ["a"])])
    gone = FakeStream(monkeypatch, lambda texts: "" if texts == ["a"] else "dropped")
    with pytest.raises(StreamError, match="no sign of life in 600 seconds"):
        run(gone, [Batch(0, [0], ["a"]), Batch(0, [1], ["b"])])
    assert 600 < never.now < 610 and 600 < gone.now < 610


def test_a_source_that_rests_is_no_silence(monkeypatch):
    stream = FakeStream(monkeypatch)

    def batches():
        for text in "abc":
            yield Batch(0, [0], [text])
            stream.now += 10_000

    assert len(run(stream, batches())) == 3
    assert stream.sent == [["a"], ["b"], ["c"]]


def test_what_is_wrong_with_a_node_ends_the_run(monkeypatch):
    stream = FakeStream(monkeypatch, answer=lambda texts: ([], "WorkerError: no pipeline"))
    with pytest.raises(WorkerError, match="A node cannot do the work: WorkerError: no pipeline"):
        run(stream, [Batch(0, [0], ["a"])])
