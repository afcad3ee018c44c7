import pytest

from spacy_lexner.pipeline.sealed_pipe import loading


@pytest.mark.parametrize("error", [ValueError("shape"), TypeError("shape"), KeyError("shape")])
def test_damaged_files_are_named(error):
    message = "ner cannot be loaded from folder: it is damaged.*shape"
    with pytest.raises(ValueError, match=message) as raised, loading("ner", "folder"):
        raise error
    assert raised.value.__cause__ is error
