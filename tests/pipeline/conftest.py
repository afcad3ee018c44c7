import copy

import pytest
from small_ner import blank, train


@pytest.fixture(scope="module")
def nlp():
    """A trained pipeline with `lex_ner`. Test files that need another one override this."""
    nlp = blank()
    train(nlp)
    return nlp


@pytest.fixture
def fresh(nlp):
    """A copy of the test file's trained pipeline, which may be changed."""
    return copy.deepcopy(nlp)
