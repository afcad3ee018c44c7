import pytest

from spacy_lexner.formats.record import FormatError, ReadOptions


@pytest.mark.parametrize("options", [{"errors": "ignore"}, {"digit_suffix": "maybe"}])
def test_options_are_checked(options):
    [(name, value)] = options.items()
    with pytest.raises(FormatError, match=f"{name} is '{value}'; expected one of "):
        ReadOptions(**options)


@pytest.mark.parametrize("encoding", ["klingon", "hex", "undefined", "", "utf-8\0"])
def test_what_is_no_encoding_of_text(encoding):
    with pytest.raises(FormatError, match=r"Unknown encoding .*\. Try utf-8, gb18030 or big5"):
        ReadOptions(encoding=encoding)


def test_an_unknown_scheme_whatever_the_format():
    with pytest.raises(FormatError, match=r"Unknown tag scheme 'iobes'\. Use auto or one of: bio, "):
        ReadOptions(scheme="iobes")
