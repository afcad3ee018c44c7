import copy

import pytest


@pytest.fixture
def fresh(nlp):
    """A copy of the test file's trained pipeline, which may be changed."""
    return copy.deepcopy(nlp)
