import copy

import pytest
from small_ner import blank, train


@pytest.fixture(scope="module")
def nlp():
    """A trained pipeline with `lex_ner`. A test file that needs another one has its own."""
    nlp = blank()
    train(nlp)
    return nlp


@pytest.fixture
def fresh(nlp):
    """A copy of the test file's trained pipeline, which may be changed."""
    return copy.deepcopy(nlp)
