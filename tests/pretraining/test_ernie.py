"""What ERNIE sees of a batch, and what it has to predict."""

import numpy as np
import pytest
import torch
from spacy import util
from spacy.tokens import Doc, Span
from spacy.training.pretrain import create_pretraining_model
from spacy.util import registry
from tolerance import near, sampling_error

from spacy_lexner.pretraining.ernie import EntityCorruption, ErnieTask, create_pretrain_ernie
from spacy_lexner.pretraining.heads import FIRST, MASKED, MENTION
from spacy_lexner.pretraining.masked_task import MaskingOptions
from spacy_lexner.pretraining.masking import Masking

NOTHING = EntityCorruption(0.0, 0.0)


@pytest.fixture
def encoder(pretraining_config, ernie_overrides):
    """The pipeline, the encoder's layer and the objective."""

    def make(**model):
        config = pretraining_config(ernie_overrides(**model))
        nlp = util.load_model_from_config(config)
        objective = create_pretraining_model(nlp, registry.resolve(nlp.config.interpolate()["pretraining"]))
        return nlp, objective.get_ref("node"), objective

    return make


def options(**settings):
    return MaskingOptions(Masking(), **settings)


def document(nlp, *sentences):
    words = [character for sentence in sentences for character in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return Doc(nlp.vocab, words=words, spaces=[False] * len(words), sent_starts=starts)


def entity_values(batch):
    """The first value of the entity vector at each wordpiece: the number of the entity."""
    part = batch.inputs.args[0][0]
    return part.vectors[part.entities][..., 0]


def test_mentions_show_their_entities_and_are_asked_for_them(encoder):
    nlp, node, _ = encoder()
    batch = ErnieTask(options(), NOTHING).prepare(node, [nlp.make_doc("南京市长江大桥在北京大学河流")])
    shown = entity_values(batch)[0].tolist()
    assert shown == [0, 1, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]
    assert batch.targets["candidates"][:, 0].tolist() == [0, 1, 2, 3]
    assert batch.targets["entity_labels"].tolist() == [1, 2, 3]
    kept = batch.inputs.args[0][0].kept[torch.from_numpy(batch.targets["roles"] == MENTION)]
    assert kept.tolist() == [1, 4, 9]


def test_corrupted_entities_keep_their_labels(encoder):
    nlp, node, _ = encoder()
    doc = nlp.make_doc("南京市长江大桥在北京大学在中国")
    removed = ErnieTask(options(), EntityCorruption(0.0, 1.0)).prepare(node, [doc])
    assert not removed.inputs.args[0][0].entities.any()
    assert removed.targets["entity_labels"].tolist() == [1, 2, 3, 4]
    replaced = ErnieTask(options(), EntityCorruption(1.0, 0.0)).prepare(node, [doc])
    assert replaced.targets["entity_labels"].tolist() == [1, 2, 3, 4]
    shown = entity_values(replaced)[0]
    assert (shown[[1, 4, 9, 14]] > 0).all() and shown.sum() == shown[[1, 4, 9, 14]].sum()


def test_shares_are_those_of_the_original(encoder):
    nlp, node, _ = encoder()
    task = ErnieTask(options(), EntityCorruption())
    kept = removed = total = 0
    for _ in range(300):
        batch = task.prepare(node, [nlp.make_doc("南京市长江大桥在北京大学在中国" * 3)])
        labels = batch.targets["candidates"][batch.targets["entity_labels"]][:, 0].numpy()
        part = batch.inputs.args[0][0]
        at = part.kept[torch.from_numpy(batch.targets["roles"] == MENTION)]
        shown = entity_values(batch).flatten()[at].numpy()
        kept += (shown == labels).sum()
        removed += (shown == 0).sum()
        total += len(labels)
    assert total == 300 * 12
    assert removed / total == pytest.approx(0.15, abs=sampling_error(0.15, total))
    assert kept / total == pytest.approx(0.80 + 0.05 / 4, abs=sampling_error(0.80, total))


def test_a_masked_mention_keeps_its_entity(encoder):
    nlp, node, _ = encoder()
    masking = Masking(share=0.99, mask_share=1.0, random_share=0.0)
    batch = ErnieTask(MaskingOptions(masking), NOTHING).prepare(node, [nlp.make_doc("南京市")])
    assert (batch.inputs.args[0][0].input_ids[0, 1:4] == 4).all()
    assert entity_values(batch)[0].tolist() == [0, 1, 0, 0, 0]


def test_pairs_take_their_entities_along(encoder):
    nlp, node, _ = encoder()
    docs = [document(nlp, "南京市很大。", "长江大桥很长。"), document(nlp, "北京大学在中国。")]
    seen = set()
    for seed in range(20):
        batch = ErnieTask(options(next_sentence=True, seed=seed), NOTHING).prepare(node, docs)
        assert (batch.targets["roles"] == FIRST).sum() == len(batch.targets["next_labels"])
        assert (batch.targets["roles"] == MENTION).sum() == len(batch.targets["entity_labels"])
        for part in batch.inputs.args[0]:
            values = part.vectors[part.entities][..., 0]
            for shown, segments in zip(values.tolist(), part.segments.tolist()):
                seen |= {(value, segment) for value, segment in zip(shown, segments) if value}
                assert shown[0] == 0
        assert len(batch.targets["labels"]) == (batch.targets["roles"] == MASKED).sum()
    assert {value for value, _ in seen} == {1, 2, 3, 4} and {segment for _, segment in seen} == {0, 1}


def test_entities_of_the_doc_reach_the_pairs_by_their_kb_id(encoder):
    nlp, node, _ = encoder(source="ents")
    docs = [document(nlp, "南京市很大。"), document(nlp, "北京大学在中国。")]
    docs[0].ents = [Span(docs[0], 0, 2, "LOC", kb_id="Q4")]
    batch = ErnieTask(options(next_sentence=True), NOTHING).prepare(node, docs)
    assert batch.targets["candidates"][:, 0].tolist() == [0, 4]
    assert set(batch.targets["entity_labels"].tolist()) == {1}


def test_a_batch_without_entities_has_loss_zero(encoder):
    nlp, _, objective = encoder()
    objective.attrs["task"] = ErnieTask(options(), EntityCorruption())
    losses, backprop = objective.begin_update([nlp.make_doc("很长很大")])
    backprop(1.0)
    assert losses.parts["entity"].loss.item() == 0.0 and losses.parts["entity"].n_labels == 0
    assert losses.parts["masked_lm"].n_labels == 1


def test_all_entities_the_same(encoder):
    nlp, _, objective = encoder()
    objective.attrs["task"] = ErnieTask(options(), EntityCorruption(1.0, 0.0))
    losses, backprop = objective.begin_update([nlp.make_doc("南京在南京市在南京")])
    backprop(1.0)
    assert losses.parts["entity"].n_labels == 3 and np.isfinite(losses.parts["entity"].loss.item())


def test_sequences_with_too_few_entities_are_left_out(encoder):
    nlp, node, _ = encoder()
    docs = [nlp.make_doc("南京市长江大桥很长"), nlp.make_doc("北京大学很大"), nlp.make_doc("很长很大")]
    batch = ErnieTask(options(), NOTHING, min_entities=2).prepare(node, docs)
    assert sum(len(part.input_ids) for part in batch.inputs.args[0]) == 1


def test_a_batch_without_enough_entities_is_reported_once(encoder, caplog):
    nlp, node, _ = encoder()
    task = ErnieTask(options(), NOTHING, min_entities=3)
    docs = [nlp.make_doc("南京市长江大桥很长"), nlp.make_doc("北京大学很大")]
    assert task.prepare(node, docs) is None and task.prepare(node, docs) is None
    [warning] = caplog.messages
    assert "batch of 2 has min_entities = 3 mentions" in warning and "the most is 2." in warning
    caplog.clear()
    ErnieTask(options(), NOTHING).prepare(node, [nlp.make_doc("很长很大")])
    assert not caplog.messages


def test_every_head_learns(encoder):
    nlp, _, objective = encoder(layer_types=["mix", "norm"])
    docs = [document(nlp, "南京市很大。", "长江大桥很长。"), document(nlp, "北京大学在中国。")]
    losses, backprop = objective.begin_update(docs)
    loss, gradient = objective.attrs["loss"](objective.ops, docs, losses)
    backprop(gradient)
    assert loss == near(sum(part.loss.item() for part in losses.parts.values()), len(losses.parts))
    heads = objective.get_ref("heads").shims[0].module
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in heads.parameters())


def test_settings_are_checked_when_the_config_is_read():
    with pytest.raises(ValueError, match="expected shares of at least 0"):
        create_pretrain_ernie(replace_share=0.9, remove_share=0.2)
    with pytest.raises(ValueError, match="expected one of piece, whole_word, ngram"):
        create_pretrain_ernie(masking="word")
