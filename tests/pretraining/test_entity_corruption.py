import json
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from spacy_lexner.pretraining.ernie import NO_ENTITY, EntityCorruption, corrupt_entities

NOTHING = EntityCorruption(0.0, 0.0)


def test_the_recorded_batch_comes_out_exactly(fixtures_dir):
    golden = load_file(fixtures_dir / "ernie" / "tensors.safetensors")
    entities, aligned = golden["entity_idx"], golden["entity_idx"] >= 0
    corrupted = corrupt_entities(entities[aligned], EntityCorruption(), Random(0))
    shown = np.full(entities.shape, -1)
    shown[aligned] = np.concatenate([[-1], corrupted.candidates])[corrupted.inputs]
    assert (golden["entity_table_with_zero_row0"][shown + 1] == golden["collate_seed0.input_ent"]).all()
    mask = shown >= 0
    mask[:, 0] = True
    assert (mask == golden["collate_seed0.ent_mask"]).all()
    assert (corrupted.labels == golden["pre.ent_labels"][aligned]).all()
    assert [-1, *corrupted.candidates.tolist()] == golden["pre.uniq_entity_idx"].tolist()


def test_shares_are_those_of_the_original(fixtures_dir):
    expected = json.loads((fixtures_dir / "ernie" / "meta.json").read_text("utf8"))["dEA_statistics"]
    rng = Random(3)
    shown, labels = [], []
    for _ in range(400):
        entities = np.array([rng.randint(0, 10**6) for _ in range(50)])
        corrupted = corrupt_entities(entities, EntityCorruption(), rng)
        shown.append(corrupted.inputs)
        labels.append(corrupted.labels)
    shown, labels = np.concatenate(shown), np.concatenate(labels)
    removed, kept = shown == NO_ENTITY, shown == labels
    assert kept.mean() == pytest.approx(expected["kept"], abs=expected["tolerance_abs"])
    assert removed.mean() == pytest.approx(expected["removed"], abs=expected["tolerance_abs"])
    assert (~kept & ~removed).mean() == pytest.approx(
        expected["replaced_by_a_different_entity"], abs=expected["tolerance_abs"]
    )


@given(
    entities=st.lists(st.integers(-(2**62), 2**62), max_size=30),
    replace=st.sampled_from([0.0, 0.05, 0.5]),
    remove=st.sampled_from([0.0, 0.15, 0.5]),
    seed=st.integers(0, 1000),
)
def test_properties_of_every_corruption(entities, replace, remove, seed):
    entities = np.array(entities, dtype="int64")
    candidates, inputs, labels = corrupt_entities(entities, EntityCorruption(replace, remove), Random(seed))
    assert candidates.tolist() == sorted(set(entities.tolist()))
    assert (candidates[labels - 1] == entities).all() if len(entities) else not len(labels)
    assert ((inputs >= 0) & (inputs <= len(candidates))).all()
    assert (labels >= 1).all()
    if not replace:
        assert ((inputs == labels) | (inputs == NO_ENTITY)).all()
    if not remove:
        assert (inputs != NO_ENTITY).all()


def test_all_entities_the_same_and_none_at_all():
    same = corrupt_entities(np.array([7, 7, 7]), EntityCorruption(1.0, 0.0), Random(0))
    assert same.candidates.tolist() == [7] and same.inputs.tolist() == [1, 1, 1] == same.labels.tolist()
    none = corrupt_entities(np.zeros(0, dtype="uint64"), EntityCorruption(), Random(0))
    assert not len(none.candidates) and not len(none.inputs) and not len(none.labels)


def test_hashes_keep_their_type_and_value():
    hashes = np.array([2**63 + 5, 3, 2**63 + 5], dtype="uint64")
    corrupted = corrupt_entities(hashes, NOTHING, Random(0))
    assert corrupted.candidates.dtype == np.uint64
    assert (corrupted.candidates[corrupted.labels - 1] == hashes).all()
    assert (corrupted.inputs == corrupted.labels).all()


@pytest.mark.parametrize("shares", [(-0.1, 0.1), (0.6, 0.5), (0.1, -0.2)])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match="expected shares of at least 0"):
        corrupt_entities(np.array([1]), EntityCorruption(*shares), Random(0))
