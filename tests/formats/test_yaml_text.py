import pytest
import srsly

from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.yaml_text import read_yaml_list


def read(path):
    return read_yaml_list(Source(path), ReadOptions(), Report(), "- a: 1")


@pytest.mark.parametrize(
    "text",
    [
        "- a: 1\n  b: |\n    - x\n    - y\n\n# two\n- a: 2\n",
        "%YAML 1.2\n--- # begins\n\n  - a\n  - b\n",
        "[1, {a: 2}]",
        "- - 1\n  - 2\n-\n  a: 1\n- 'x\n  - y'\n-\n",
        "- &x [1]\n-\n  - &y 2\n  - *y",
    ],
)
def test_items_are_those_of_the_whole(tmp_path, text):
    (tmp_path / "file").write_text(text, "utf8")
    assert list(read(tmp_path / "file")) == srsly.yaml_loads(text)


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: 1", "expected a list"),
        ("- 1\n- 2: [", "file:2: neither JSON nor YAML"),
        ("- &x 1\n- *x", "file:2: .*undefined alias"),
        ("[" * 3000, "file:1: .*the limit 'nesting'"),
    ],
)
def test_errors(tmp_path, text, message):
    (tmp_path / "file").write_text(text, "utf8")
    with pytest.raises(FormatError, match=message):
        list(read(tmp_path / "file"))


def test_items_come_one_at_a_time(tmp_path):
    (tmp_path / "file").write_text("- 1\n- 2\n- [", "utf8")
    items = read(tmp_path / "file")
    assert [next(items), next(items)] == [1, 2]
