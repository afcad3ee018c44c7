import pytest

from spacy_lexner.formats.record import FormatError, ReadOptions


@pytest.mark.parametrize("options", [{"errors": "ignore"}, {"digit_suffix": "maybe"}])
def test_options_are_checked(options):
    [(name, value)] = options.items()
    with pytest.raises(FormatError, match=f"{name} is '{value}'; expected one of "):
        ReadOptions(**options)
