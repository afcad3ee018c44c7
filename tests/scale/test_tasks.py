from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.scale.annotator import Result
from spacy_lexner.scale.tasks import Batch


def annotate(texts):
    return [Result({"company": tuple(texts), "text": text}) for text in texts]


def work(batch, kills, transient=0):
    """Do the tasks of a batch. `kills` says whether texts kill their worker; the first `transient` workers are
    killed by something else, half way. RETURNS (int): The number of tasks."""
    task, n = batch.start(), 0
    while task is not None:
        n += 1
        parts = [[text] for text in task.texts] if task.one_by_one else [task.texts]
        done = []
        for i, part in enumerate(parts):
            if kills(part) or (transient and i == len(parts) // 2):
                transient -= not kills(part)
                task = batch.lose(task, done, "died")
                break
            done += annotate(part)
        else:
            task = batch.succeed(task, done)
    return n


@given(st.lists(st.booleans(), min_size=1, max_size=20), st.integers(0, 1))
def test_poison_is_found_and_the_rest_is_annotated_together(poison, transient):
    texts = [f"{i}" for i in range(len(poison))]
    deadly = {text for text, is_poison in zip(texts, poison) if is_poison}
    batch = Batch(0, range(len(texts)), texts)
    n = work(batch, lambda part: bool(deadly & set(part)), transient)
    assert batch.finished and n <= 3 + 2 * len(deadly) + 2 * transient
    healthy = tuple(text for text in texts if text not in deadly)
    for index, text in enumerate(texts):
        expected = Result(None, "died") if text in deadly else Result({"company": healthy, "text": text})
        assert batch.results[index] == expected


def test_texts_that_die_only_together_are_annotated_one_by_one():
    batch = Batch(0, range(2), ["a", "b"])
    work(batch, lambda part: len(part) == 2)
    assert [batch.results[i].row["company"] for i in (0, 1)] == [("a",), ("b",)]
