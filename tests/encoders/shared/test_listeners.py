from spacy.pipeline.tok2vec import Tok2VecListener
from thinc.api import Linear, chain

from spacy_lexner.encoders.shared.listeners import find_listener


def test_a_listener_is_found_wherever_it_is():
    listener = Tok2VecListener("*", 4)
    assert find_listener(listener) is listener
    assert find_listener(chain(chain(listener, Linear()), Linear())) is listener


def test_other_models_have_none():
    assert find_listener(chain(Linear(), Linear())) is None
