import numpy as np
import pytest
import small_ner
import spacy
from spacy.util import registry
from thinc.api import Adam, Optimizer

from spacy_lexner.pipeline.tagger_model import finish_update, has_weights, initialize_model

NLP = spacy.blank("zh")
TEXTS = ["南" * length for length in (3, 40, 0, *[5] * 20)]
CNN = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 50, "window_size": 1}
CNN = {**CNN, "maxout_pieces": 2, "subword_features": False, "pretrained_vectors": None}


def build():
    return registry.resolve({"model": {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": CNN}})["model"]


def docs():
    return (NLP.make_doc(text) for text in TEXTS)


def test_initialized_with_docs_and_tags():
    model = build()
    assert not has_weights(model)
    initialize_model(model, docs, 9, "ner")
    assert has_weights(model) and model.get_ref("output_layer").get_dim("nO") == 9
    assert model.attrs["limits"] == [16, False, " 。！？", 5]
    with pytest.raises(ValueError, match="E923"):
        initialize_model(build(), lambda: [], 9, "ner")


def test_a_second_initialization_is_warned_of(caplog):
    model = build()
    initialize_model(model, docs, 9, "ner")
    assert not caplog.messages
    initialize_model(model, docs, 9, "ner")
    assert "ner was initialized before" in caplog.text and "create the pipeline again" in caplog.text


def test_an_optimizer_that_sees_all_gradients_at_once():
    class Whole(Optimizer):
        def finish_update(self, model):
            self.seen = model

    model, optimizer = build(), Whole(0.1)
    finish_update(model, optimizer)
    assert optimizer.seen is model


def test_weights_change():
    model = build()
    initialize_model(model, docs, 5, "ner")
    output = model.get_ref("output_layer")
    before = output.get_param("emission_b").copy()
    output.inc_grad("emission_b", before + 1)
    finish_update(model, Adam(0.1))
    assert (output.get_param("emission_b") < before).all()


def test_texts_that_a_shared_encoder_has_not_read_are_refused():
    """spaCy's listeners return zeros for them."""
    nlp = small_ner.blank(tok2vec={"@architectures": "spacy.Tok2VecListener.v1", "width": 8, "upstream": "*"})
    nlp.add_pipe("tok2vec", first=True, config={"model": CNN})
    small_ner.train(nlp, steps=1)
    nlp.resume_training()
    ner, gold = nlp.get_pipe("lex_ner"), small_ner.examples(nlp)
    message = r"upstream '\*'.*has not read '张三在北京.*enable that encoder.*replace_listeners\(ENCODER, 'lex_ner'"
    nlp("张三")
    with nlp.select_pipes(disable="tok2vec"), pytest.raises(ValueError, match=message):
        nlp("张三在北京")
    nlp.update(gold)
    with pytest.raises(ValueError, match=message):
        ner.rehearse(gold)
    doc = nlp.make_doc("张三在北京")
    doc.tensor = np.zeros((len(doc), 9), "f")  # of an encoder in another pipeline
    with pytest.raises(ValueError, match=message):
        ner(doc)
    doc.tensor = None
    with pytest.raises(ValueError, match=message):
        ner(doc)
    ner(nlp.make_doc(""))
    nlp.replace_listeners("tok2vec", "lex_ner", ["model.tok2vec"])
    ner(nlp.make_doc("张三在北京"))
