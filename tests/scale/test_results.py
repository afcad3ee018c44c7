import pytest

from spacy_lexner.scale.results import ANNOTATION, Wanted, rename_fields


def test_columns():
    assert Wanted().columns == ["text", "entities"]
    assert Wanted(True, 3, (0.1, 0.9), True, True).columns == list(ANNOTATION)


@pytest.mark.parametrize(
    "fields, names",
    [
        (["id", "源"], ["id", "源"]),
        (["text", "words", "doc"], ["input_text", "input_words", "input_doc"]),
        (["input_words", "words"], ["input_words", "input_input_words"]),
        (
            ["words", "input_words", "input_input_words"],
            ["input_input_input_words", "input_words", "input_input_words"],
        ),
    ],
)
def test_no_field_is_lost(fields, names):
    assert list(rename_fields(dict.fromkeys(fields))) == names
