import pickle

import spacy
from spacy.util import registry

from spacy_lexner.training.callbacks import CallbackChain


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
