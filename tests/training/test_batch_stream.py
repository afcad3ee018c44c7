import json
import random

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_lexner.training.batch_stream import BatchStream, Place, fixed_draws
from spacy_lexner.training.digests import DocDigest

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
    assert again.go_to(place)
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
    assert not BatchStream(batches(examples)).go_to(stream.place)


def example(words="南京市 长江", tag="NR", label="GPE"):
    words = words.split()
    doc = Doc(NLP.vocab, words=words, spaces=[False] * len(words), tags=[tag] * len(words))
    doc.spans["sc"] = [Span(doc, 0, 1, label)]
    return Example(NLP.make_doc(doc.text), doc)


@pytest.mark.parametrize("other", [{"words": "南京 市长江"}, {"tag": "VV"}, {"label": "PER"}])
def test_other_annotation_is_refused(other):
    stream = BatchStream(batches([example()]))
    texts(stream, 2)
    assert BatchStream(batches([example()])).go_to(stream.place)
    assert not BatchStream(batches([example(**other)])).go_to(stream.place)


def test_a_place_of_an_older_checkpoint():
    stream, read = BatchStream(batches()), []
    for _ in range(7):
        read += next(stream)[1]
    digest = DocDigest(entities_only=True).update(each.reference for each in read).hexdigest()
    n_read, draws, *_ = stream.place
    old = Place(n_read, draws, digest)
    again = BatchStream(batches())
    assert again.go_to(old) and again.place == stream.place
    assert not BatchStream(batches(EXAMPLES[::-1])).go_to(old)


def test_fixed_draws_are_the_same_and_leave_no_trace():
    def draw():
        return random.random(), np.random.random(), torch.rand(1).item()

    draw_from_all()
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    expected = draw()
    random.setstate(states[0]), np.random.set_state(states[1]), torch.set_rng_state(states[2])
    with fixed_draws():
        drawn = draw()
    assert draw() == expected
    with fixed_draws():
        assert draw() == drawn
