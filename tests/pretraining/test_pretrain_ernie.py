"""`spacy pretrain` with PretrainERNIE.v1, from the config to the saved encoder."""

import numpy as np
import pytest
import spacy
import srsly
from spacy import util
from spacy.tokens import DocBin, Span
from spacy.training import Example
from spacy.training.pretrain import pretrain as spacy_pretrain
from thinc.api import Linear

from spacy_lexner.pretraining.ernie import create_pretrain_ernie


def run(config, folder, **options):
    folder.mkdir(exist_ok=True)
    spacy_pretrain(config, folder, silent=True, **options)
    return folder


def weights(path, config):
    model = util.load_model_from_config(config).get_pipe("tok2vec").model
    model.from_bytes(path.read_bytes())
    return {name: p.detach().numpy() for name, p in model.shims[0].module.named_parameters()}


def test_the_loss_of_every_head_is_logged_and_that_of_entities_falls(pretraining_config, ernie_overrides, tmp_path):
    overrides = ernie_overrides()
    overrides["pretraining.objective"].update(log_every=8, log_path=str(tmp_path / "log.jsonl"))
    run(pretraining_config({**overrides, "pretraining.max_epochs": 16}), tmp_path / "out")
    records = list(srsly.read_jsonl(tmp_path / "log.jsonl"))
    for head in ("masked_lm", "next_sentence", "entity"):
        assert {f"{head}_loss", f"{head}_accuracy"} <= set(records[0])
    assert records[-1]["entity_loss"] < records[0]["entity_loss"] - 0.2
    assert records[-1]["masked_lm_loss"] < records[0]["masked_lm_loss"] - 0.2


def test_a_resumed_run_gives_the_weights_of_an_unbroken_one(pretraining_config, ernie_overrides, tmp_path):
    config = pretraining_config({**ernie_overrides(), "pretraining.max_epochs": 3})
    unbroken = run(config.copy(), tmp_path / "unbroken")
    killed = run(pretraining_config({**ernie_overrides(), "pretraining.max_epochs": 1}), tmp_path / "killed")
    run(config.copy(), killed, resume_path=killed / "model0.bin", epoch_resume=None)
    expected, found = (weights(folder / "model2.bin", config) for folder in (unbroken, killed))
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_the_encoder_starts_training_from_the_saved_file(pretraining_config, ernie_overrides, tmp_path):
    run(pretraining_config({**ernie_overrides(), "pretraining.max_epochs": 1}), tmp_path / "out")
    path = tmp_path / "out" / "model0.bin"
    config = pretraining_config({**ernie_overrides(), "initialize.init_tok2vec": str(path)})
    nlp = util.load_model_from_config(config)
    doc = nlp.make_doc("南京市长江大桥很长。")
    nlp.initialize(lambda: [Example(doc, doc)])
    module = nlp.get_pipe("tok2vec").model.shims[0].module
    for name, values in weights(path, config).items():
        np.testing.assert_array_equal(dict(module.named_parameters())[name].detach().numpy(), values)


def test_another_model_than_ernie_is_refused():
    with pytest.raises(
        ValueError, match=r"pretrains spacy-lexner.ERNIE.v1; expected exactly one .*'linear'.*, found 0"
    ):
        create_pretrain_ernie()(None, Linear(2, 2))


@pytest.mark.parametrize("next_sentence", [False, True])
def test_entities_and_sentences_of_a_spacy_corpus(pretraining_config, ernie_overrides, tmp_path, next_sentence):
    """Docs annotated by other means: entities with a kb_id, and sentence boundaries."""
    nlp = spacy.blank("zh")
    corpus = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "SENT_START"])
    for text in ("南京市有长江大桥。大桥很长。河流在中国。", "北京大学在北京。中国有长江大桥。") * 16:
        doc = nlp.make_doc(text)
        for token in doc:
            token.is_sent_start = token.i == 0 or doc[token.i - 1].text == "。"
        names = {"南京市": "Q1", "长江大桥": "Q2", "北京大学": "Q3", "中国": "Q4"}
        found = [(text.index(word), word, entity) for word, entity in names.items() if word in text]
        doc.ents = [Span(doc, start, start + len(word), "ENT", kb_id=entity) for start, word, entity in sorted(found)]
        corpus.add(doc)
    corpus.to_disk(tmp_path / "corpus.spacy")
    overrides = ernie_overrides(source="ents")
    log = tmp_path / "log.jsonl"
    overrides["pretraining.objective"].update(log_every=4, log_path=str(log), next_sentence=next_sentence)
    overrides["corpora.pretrain"] = {
        "@readers": "spacy.Corpus.v1",
        "path": str(tmp_path / "corpus.spacy"),
        "gold_preproc": False,
    }
    run(pretraining_config({**overrides, "pretraining.max_epochs": 6}), tmp_path / "out")
    records = list(srsly.read_jsonl(log))
    assert records[-1]["entity_loss"] > 0 and "entity_accuracy" in records[-1]
    assert ("next_sentence_loss" in records[-1]) == next_sentence
