"""What every pipe on a tagger does: labels, initialisation, updates, streams, files. Shown with `lex_ner`."""

import copy
import logging
import pickle

import numpy as np
import pytest
import spacy
from small_ner import HASH_EMBED_CNN, SUMS, TEXTS, blank, examples, found, near_scores, scores, train
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import SGD, Adam
from tolerance import assert_close, near, tolerance

from spacy_lexner.training.optimizers.sgd import GroupedSGD


def expected(nlp, texts):
    return [(found(doc), scores(doc)) for doc in map(nlp, texts)]


@pytest.mark.parametrize("tagger", ["CRFTagger", "SoftmaxTagger"])
def test_learns(tagger):
    nlp = blank(tagger)
    losses = train(nlp)
    assert losses["lex_ner"] < 0.05
    assert nlp.evaluate(examples(nlp))["ents_f"] == 1.0


def test_labels_of_the_examples_are_sorted(nlp):
    pipe = nlp.get_pipe("lex_ner")
    assert pipe.labels == pipe.label_data == ("LOC", "ORG", "PER")
    assert all(label in nlp.vocab.strings for label in pipe.labels)


def test_labels_may_be_given():
    nlp = blank()
    nlp.get_pipe("lex_ner").initialize(lambda: examples(nlp), nlp=nlp, labels=["PER", "ORG", "LOC", "GPE"])
    assert nlp.get_pipe("lex_ner").labels == ("PER", "ORG", "LOC", "GPE")


def test_labels_that_were_not_given_are_told(caplog):
    nlp = blank()
    with caplog.at_level(logging.WARNING):
        nlp.get_pipe("lex_ner").initialize(lambda: examples(nlp), nlp=nlp, labels=["PER", "GPE"])
    assert "labels that were not given to initialize: ['LOC', 'ORG']" in caplog.text


def test_no_label_at_all():
    nlp = blank()
    with pytest.raises(ValueError, match="E143"):
        nlp.initialize(lambda: examples(nlp, TEXTS[3:4]))


def test_no_examples():
    nlp = blank()
    nlp.get_pipe("lex_ner").add_label("PER")
    with pytest.raises(TypeError, match="E930"):
        nlp.get_pipe("lex_ner").initialize(lambda: [])
    with pytest.raises(TypeError, match="E930"):
        nlp.get_pipe("lex_ner").initialize(examples(nlp, TEXTS))
    with pytest.raises(TypeError, match="E978"):
        nlp.get_pipe("lex_ner").initialize(lambda: [nlp.make_doc("南京")])


def test_initialization_reads_all_examples_only_twice():
    nlp, n_reads = blank(), []

    def read():
        n_reads.append(1)
        yield from examples(nlp, TEXTS)

    nlp.get_pipe("lex_ner").initialize(read)
    assert len(n_reads) == 3  # the labels, a sample, and everything else


@pytest.mark.parametrize("label", ["", " PER", "PER\n"])
def test_no_label(fresh, label):
    with pytest.raises(ValueError, match="is not a label"):
        fresh.get_pipe("lex_ner").add_label(label)


def test_label_must_be_a_string(fresh):
    with pytest.raises(ValueError, match="E187"):
        fresh.get_pipe("lex_ner").add_label(3)


def test_label_added_before_initialization():
    nlp = blank()
    assert nlp.get_pipe("lex_ner").add_label("GPE") == 1
    assert nlp.get_pipe("lex_ner").add_label("GPE") == 0
    train(nlp)
    assert nlp.get_pipe("lex_ner").labels == ("GPE", "LOC", "ORG", "PER")
    assert nlp.evaluate(examples(nlp))["ents_f"] == 1.0


def test_label_added_after_initialization(fresh):
    before = [found(doc) for doc in fresh.pipe(text for text, _ in TEXTS)]
    assert fresh.get_pipe("lex_ner").add_label("DATE") == 1
    assert [found(doc) for doc in fresh.pipe(text for text, _ in TEXTS)] == before
    gold = [*examples(fresh), *examples(fresh, [("今天天气好", [(0, 2, "DATE")])])]
    del gold[3]
    optimizer = fresh.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(25):
        fresh.update(gold, sgd=optimizer)
    assert fresh.evaluate(gold)["ents_f"] == 1.0
    loaded = load_model_from_config(fresh.config, auto_fill=True).from_bytes(fresh.to_bytes())
    assert found(loaded("今天天气好")) == [(0, 2, "DATE")]


def test_initialized_again_with_more_labels(fresh):
    gold = examples(fresh, [*TEXTS, ("明天", [(0, 2, "DATE")])])
    train(fresh, gold)
    assert fresh.get_pipe("lex_ner").labels == ("LOC", "ORG", "PER", "DATE")
    assert fresh.evaluate(gold)["ents_f"] == 1.0


def test_label_unseen_at_initialization(fresh):
    with pytest.raises(ValueError, match=r"'明天'.*label 'DATE'.*LOC, ORG, PER.*add_label\('DATE'\)"):
        fresh.update(examples(fresh, [("明天", [(0, 2, "DATE")])]))


def test_update_without_optimizer_keeps_gradients(fresh):
    pipe = fresh.get_pipe("lex_ner")
    output = pipe.model.get_ref("output_layer")
    before = output.get_param("transitions").copy()
    losses = fresh.update(examples(fresh), sgd=False, losses={"other": 1.0})
    assert losses["other"] == 1.0 and losses["lex_ner"] > 0
    assert output.has_grad("transitions")
    np.testing.assert_array_equal(output.get_param("transitions"), before)
    pipe.finish_update(SGD(0.1))
    assert not np.array_equal(output.get_param("transitions"), before)


def test_loss_is_what_get_loss_says(fresh):
    pipe = fresh.get_pipe("lex_ner")
    gold = examples(fresh)
    outputs, _ = pipe.model.begin_update([example.predicted for example in gold])
    loss, (d_emissions, d_transitions) = pipe.get_loss(gold, outputs)
    assert fresh.update(gold, sgd=False)["lex_ner"] == near(loss, SUMS, outputs[0])
    assert [d.shape for d in d_emissions] == [e.shape for e in outputs[0]]
    assert d_transitions.shape == outputs[1].shape


def test_updates_without_tokens(fresh):
    empty = Example.from_dict(fresh.make_doc(""), {"entities": []})
    assert fresh.update([empty], sgd=SGD(0.1)) == {"lex_ner": 0.0}
    with_others = fresh.update([empty, *examples(fresh)], sgd=False)
    assert 0 < with_others["lex_ner"] < 1
    assert fresh.get_pipe("lex_ner").update([], sgd=SGD(0.1)) == {"lex_ner": 0.0}


def test_gradients_are_clipped_to_the_optimizers_norm(fresh):
    pipe, optimizer = fresh.get_pipe("lex_ner"), GroupedSGD(1.0, momentum=0.0, max_grad_norm=1e-3)
    weights = {(node.id, name): node.get_param(name).copy() for node in pipe.model.walk() for name in node.param_names}
    gold = examples(fresh, [("张三在北京大学工作", [(0, 4, "LOC")])])
    fresh.update(gold, sgd=False)
    pipe.finish_update(optimizer)
    steps = [node.get_param(name) - weights[node.id, name] for node in pipe.model.walk() for name in node.param_names]
    # Each weight is rounded before and after.
    rounding = tolerance(2, weights) * sum(step.size for step in steps) ** 0.5
    assert np.sqrt(sum((step**2).sum() for step in steps)) == pytest.approx(1e-3, abs=rounding)


def test_damaged_weights_are_told_apart_from_a_loss(fresh):
    fresh.get_pipe("lex_ner").model.get_ref("output_layer").get_param("emission_b")[:] = np.nan
    with pytest.raises(ValueError, match="E910"):
        fresh.update(examples(fresh))
    with pytest.raises(ValueError, match="no tag path of finite score"):
        fresh("张三")


def test_nothing_to_rehearse(fresh):
    with pytest.raises(ValueError, match="nothing to rehearse"):
        fresh.get_pipe("lex_ner").rehearse(examples(fresh))


@pytest.mark.parametrize(
    "use", [lambda nlp: nlp("张三"), lambda nlp: nlp.update(examples(nlp)), lambda nlp: list(nlp.pipe(["张三"]))]
)
def test_not_initialized(use):
    nlp = blank()
    nlp.get_pipe("lex_ner").add_label("PER")
    with pytest.raises(ValueError, match="E109"):
        use(nlp)


def test_averages(fresh):
    optimizer = Adam(0.01, use_averages=True)
    gold = examples(fresh)
    before = fresh.get_pipe("lex_ner").model.get_ref("output_layer").get_param("emission_W").copy()
    fresh.update(gold, sgd=optimizer)
    with fresh.use_params(optimizer.averages):
        assert fresh.evaluate(gold)["ents_f"] == 1.0
    assert not np.array_equal(before, fresh.get_pipe("lex_ner").model.get_ref("output_layer").get_param("emission_W"))


# Streams


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_batches_change_nothing(nlp, batch_size):
    texts = ["", *[text for text, _ in TEXTS], " ", "李四去南京李四去南京"]
    docs = list(nlp.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in docs] == texts
    for doc, (ents, probabilities) in zip(docs, expected(nlp, texts)):
        assert found(doc) == ents
        assert scores(doc) == near_scores(probabilities, nlp, doc)


def spoil(pipe, is_bad, error):
    """Make the model fail on some batches."""
    forward = pipe.model._func

    def failing(model, docs, is_train):
        if is_bad(docs):
            raise error
        return forward(model, docs, is_train)

    pipe.model.replace_callbacks(failing)


def spoil_nanjing(pipe):
    spoil(pipe, lambda docs: any("南京" in doc.text for doc in docs), RuntimeError("no such thing"))


def test_a_document_that_fails_goes_alone(fresh):
    spoil_nanjing(fresh.get_pipe("lex_ner"))
    failed = []
    fresh.set_error_handler(lambda name, proc, docs, error: failed.append((name, [doc.text for doc in docs], error)))
    docs = list(fresh.pipe([text for text, _ in TEXTS]))
    assert [doc.text for doc in docs] == [text for text, _ in TEXTS if "南京" not in text]
    assert [found(doc) for doc in docs] == [ents for text, ents in TEXTS if "南京" not in text]
    assert [(name, texts) for name, texts, _ in failed] == [("lex_ner", ["李四去南京"])]
    assert "no such thing" in str(failed[0][2])


def test_a_failure_is_raised_by_default(fresh):
    spoil_nanjing(fresh.get_pipe("lex_ner"))
    with pytest.raises(RuntimeError, match="no such thing"):
        list(fresh.pipe([text for text, _ in TEXTS]))


def test_a_batch_too_large_is_done_in_single_documents(fresh):
    spoil(fresh.get_pipe("lex_ner"), lambda docs: len(docs) > 1, MemoryError())
    assert [found(doc) for doc in fresh.pipe([text for text, _ in TEXTS])] == [ents for _, ents in TEXTS]


def test_several_processes(nlp):
    texts = [text for text, _ in TEXTS] * 3
    docs = list(nlp.pipe(texts, n_process=2, batch_size=4))
    assert [doc.text for doc in docs] == texts
    for doc, (expected_ents, expected_scores) in zip(docs, expected(nlp, texts)):
        assert found(doc) == expected_ents and scores(doc) == near_scores(expected_scores, nlp, nlp.make_doc(doc.text))


# Files


def through_bytes(nlp, tmp_path):
    return load_model_from_config(nlp.config, auto_fill=True).from_bytes(nlp.to_bytes())


def through_disk(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    return spacy.load(tmp_path / "model")


def through_pickle(nlp, tmp_path):
    return pickle.loads(pickle.dumps(nlp))


def through_a_copy(nlp, tmp_path):
    return copy.deepcopy(nlp)


@pytest.mark.parametrize("way", [through_bytes, through_disk, through_pickle, through_a_copy])
def test_round_trips(nlp, tmp_path, way):
    texts = [text for text, _ in TEXTS]
    again = way(nlp, tmp_path)
    assert again.get_pipe("lex_ner").labels == nlp.get_pipe("lex_ner").labels
    assert again.get_pipe("lex_ner").model.attrs["head"] == nlp.get_pipe("lex_ner").model.attrs["head"]
    assert expected(again, texts) == expected(nlp, texts)
    train(again, steps=2)  # and it can be trained on


@pytest.mark.parametrize("way", [through_bytes, through_disk, through_pickle, through_a_copy])
def test_round_trips_before_initialization(tmp_path, way):
    nlp = blank()
    nlp.get_pipe("lex_ner").add_label("PER")
    again = way(nlp, tmp_path)
    assert again.get_pipe("lex_ner").labels == ("PER",)
    train(again)
    assert again.evaluate(examples(again))["ents_f"] == 1.0


def test_pipe_alone(nlp, tmp_path):
    pipe = nlp.get_pipe("lex_ner")
    pipe.to_disk(tmp_path / "pipe")
    for again in (
        blank().get_pipe("lex_ner").from_disk(tmp_path / "pipe"),
        blank().get_pipe("lex_ner").from_bytes(pipe.to_bytes()),
    ):
        doc = again(nlp.make_doc(TEXTS[0][0]))
        assert found(doc) == TEXTS[0][1]


def test_truncated_model(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    path = tmp_path / "model" / "lex_ner" / "model"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"lex_ner.model: \d+ bytes, \d+ expected: truncated"):
        spacy.load(tmp_path / "model")


def test_a_model_of_another_shape(nlp):
    other = blank(tok2vec={**HASH_EMBED_CNN, "depth": 2})
    with pytest.raises(ValueError, match=r"lex_ner cannot be loaded from bytes.*mismatched structure"):
        other.get_pipe("lex_ner").from_bytes(nlp.get_pipe("lex_ner").to_bytes())


# Shared encoders


def test_shared_tok2vec(tmp_path):
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    nlp = blank(tok2vec=listener)
    nlp.add_pipe("tok2vec", config={"model": HASH_EMBED_CNN}, first=True)
    losses = train(nlp, steps=40)
    assert losses["tok2vec"] > 0
    gold = examples(nlp)
    assert nlp.evaluate(gold)["ents_f"] == 1.0
    nlp.to_disk(tmp_path / "shared")
    assert spacy.load(tmp_path / "shared").evaluate(gold)["ents_f"] == 1.0
    nlp.replace_listeners("tok2vec", "lex_ner", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    assert nlp.evaluate(gold)["ents_f"] == 1.0
    nlp.to_disk(tmp_path / "replaced")
    assert spacy.load(tmp_path / "replaced").evaluate(gold)["ents_f"] == 1.0


def test_a_long_text_is_read_in_the_same_way_after_replacing_a_listener():
    nlp = blank(tok2vec={"@architectures": "spacy.Tok2VecListener.v1", "width": 32})
    nlp.add_pipe("tok2vec", config={"model": HASH_EMBED_CNN}, first=True)
    train(nlp, steps=1)
    text = "。".join(example.text for example in examples(nlp) * 3)
    score = nlp.get_pipe("lex_ner").model.predict
    before = score([nlp(text)]).emissions[0]
    nlp.replace_listeners("tok2vec", "lex_ner", ["model.tok2vec"])
    assert_close(score([nlp.make_doc(text)]).emissions[0], before, 32)


def test_quiet_about_good_data(caplog):
    nlp = blank()
    with caplog.at_level(logging.WARNING):
        train(nlp, steps=1)
    assert not caplog.records


def blank_ensemble():
    nlp = spacy.blank("zh")
    member = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": HASH_EMBED_CNN}
    model = {"@architectures": "spacy-lexner.EnsembleTagger.v1", "member": member, "n_members": 3}
    nlp.add_pipe("lex_ner", config={"model": model})
    return nlp


def test_an_ensemble_learns_is_saved_and_takes_a_new_label(tmp_path):
    nlp = blank_ensemble()
    train(nlp, steps=75)
    texts = [text for text, _ in TEXTS]
    before = expected(nlp, texts)
    assert nlp.evaluate(examples(nlp))["ents_f"] == 1.0
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert expected(again, texts) == before
    again.get_pipe("lex_ner").add_label("GPE")
    assert [spans for spans, _ in expected(again, texts)] == [spans for spans, _ in before]
    gold = [Example.from_dict(again.make_doc("李四去南京"), {"entities": [(0, 2, "PER"), (3, 5, "GPE")]})]
    optimizer = again.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(75):
        again.update(gold, sgd=optimizer)
    assert found(again("李四去南京")) == [(0, 2, "PER"), (3, 5, "GPE")]


@pytest.mark.parametrize("labels", [["LOC"], ["LOC", "ORG", "PER", "X"]])
def test_labels_that_the_weights_do_not_have(nlp, labels):
    pipe = nlp.get_pipe("lex_ner")
    pipe.cfg["labels"] = labels
    with pytest.raises(ValueError, match=r"labels need \d+ tags, the model has 13"):
        blank().get_pipe("lex_ner").from_bytes(pipe.to_bytes())
