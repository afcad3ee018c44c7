import json
import random

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example

from spacy_lexner.training.batch_stream import BatchStream, Place

NLP = spacy.blank("zh")
EXAMPLES = [Example.from_dict(NLP.make_doc(text), {"entities": []}) for text in "甲乙丙丁戊己庚辛"]


def batches(examples=EXAMPLES, draws=("python",)):
    """Two at a time, in random order; numpy and torch are used only sometimes."""
    for epoch in range(20):
        order = list(examples)
        random.shuffle(order)
        for i in range(0, len(order), 2):
            batch = order[i : i + 2]
            if "numpy" in draws and epoch % 3 == 0:
                batch = batch[: int(np.random.randint(1, 3))]
            if "torch" in draws and epoch % 4 == 1:
                batch = batch[: int(torch.randint(1, 3, ()))]
            yield epoch, batch


def texts(stream, n, update=lambda: None):
    found = []
    for _ in range(n):
        epoch, batch = next(stream)
        found.append((epoch, [example.text for example in batch]))
        update()
    return found


def draw_from_all():
    random.random(), np.random.random(), torch.rand(1)


@pytest.mark.parametrize("draws", [("python",), ("numpy",), ("python", "numpy", "torch")])
@pytest.mark.parametrize("update", [lambda: None, draw_from_all, lambda: np.random.random()])
@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_a_stream_is_read_again_whatever_updates_draw(draws, update, n):
    stream = BatchStream(batches(draws=draws))
    texts(stream, n, update)
    place = Place(**json.loads(json.dumps(stream.place._asdict())))
    state = random.getstate(), np.random.get_state(), torch.get_rng_state()
    expected = texts(stream, 20, update)
    again = BatchStream(batches(draws=draws))
    draw_from_all()
    again.go_to(place)
    random.setstate(state[0]), np.random.set_state(state[1]), torch.set_rng_state(state[2])
    assert texts(again, 20, update) == expected and again.place == stream.place


def test_states_are_noted_only_where_they_are_needed():
    stream = BatchStream(batches())
    texts(stream, 40, lambda: np.random.random())
    assert [(n_read, name) for n_read, name, _ in stream.place.draws] == [(0, "python")]


@pytest.mark.parametrize("examples", [EXAMPLES[::-1], EXAMPLES[:-1], EXAMPLES[:2]])
def test_other_texts_are_refused(examples):
    stream = BatchStream(batches())
    texts(stream, 70)
    with pytest.raises(ValueError, match="differ from those of the interrupted training"):
        BatchStream(batches(examples)).go_to(stream.place)
