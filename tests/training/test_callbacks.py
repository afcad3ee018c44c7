import pickle

import pytest
import spacy
from small_ner import blank, train
from spacy.util import registry

from spacy_lexner.training.callbacks import CallbackChain, Distillation


def note_first(nlp):
    nlp.meta["notes"] = ["first"]
    return nlp


def note_second(nlp):
    nlp.meta["notes"] = [*nlp.meta["notes"], "second"]
    return nlp


def test_callbacks_run_in_their_order():
    chain = CallbackChain({"a": note_first, "b": note_second})
    nlp = spacy.blank("zh")
    assert chain(nlp) is nlp and nlp.meta["notes"] == ["first", "second"]
    assert CallbackChain({})(nlp) is nlp
    assert list(pickle.loads(pickle.dumps(chain)).callbacks) == ["a", "b"]


def test_the_config_names_them_as_blocks():
    config = {
        "before_init": {
            "@callbacks": "spacy-lexner.chain_callbacks.v1",
            "callbacks": {
                "lexicon": {"@callbacks": "spacy-lexner.load_lexicon.v1"},
                "texts": {"@callbacks": "spacy-lexner.collect_texts.v1"},
            },
        }
    }
    assert list(registry.resolve(config)["before_init"].callbacks) == ["lexicon", "texts"]


def test_teacher_and_student_are_named(tmp_path):
    nlp = blank()
    train(nlp)
    nlp.to_disk(tmp_path)
    nlp.add_pipe("sentencizer")
    Distillation(tmp_path)(nlp, {})
    assert nlp.get_pipe("lex_ner").teacher.nlp.pipe_names == ["lex_ner"]
    with pytest.raises(ValueError, match=r"component of .* is 'sentencizer'; .* in the pipeline, which has lex_ner"):
        Distillation(tmp_path, component="sentencizer")(nlp, {})
    nlp.get_pipe("lex_ner").teacher = None
    with pytest.raises(ValueError, match=r"source of .* is 'ner'; .* lex_ner in .*, which has lex_ner"):
        Distillation(tmp_path, source="ner")(nlp, {})
    for weight in (-1.0, float("nan")):
        with pytest.raises(ValueError, match=f"weight is {weight}; expected"):
            Distillation(tmp_path, weight=weight)
