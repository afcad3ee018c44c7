import pytest
import srsly

from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.inputs import SETTINGS, check_inputs, list_files


def test_files_and_folders(tmp_path):
    folder = tmp_path / "texts"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "one.txt").write_text("南京", "utf8")
    (tmp_path / "two.txt").write_text("a", "utf8")
    found = list_files([folder, tmp_path / "two.txt", tmp_path / "none.txt"])
    assert found == [f"{folder / 'inner' / 'one.txt'} 6", f"{tmp_path / 'two.txt'} 1"]


def test_other_inputs_are_refused(tmp_path):
    words = [Dictionary({"南京": ("LOC",), "小米": ("BRAND",)}, {"甲", "乙"}) for _ in range(2)]
    words[1] = Dictionary(dict(reversed(words[0].labels.items())), {"乙", "甲"})  # the same in another order
    folder = tmp_path / "dev"
    folder.mkdir()
    (folder / "one.spacy").write_text("1", "utf8")
    srsly.write_json(tmp_path / SETTINGS, check_inputs(tmp_path, "dictionary", [words[0], folder, None]))
    check_inputs(tmp_path, "dictionary", [words[1], folder, None])
    (folder / "two.spacy").write_text("2", "utf8")
    with pytest.raises(ValueError, match="another dictionary, other texts or other settings"):
        check_inputs(tmp_path, "dictionary", [words[1], folder, None])
