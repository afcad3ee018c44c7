import pytest
import srsly
from thinc.api import Linear

from spacy_lexner.integrity.model_files import read_model_file


def test_a_model(tmp_path):
    (tmp_path / "model.bin").write_bytes(Linear(2, 3).initialize().to_bytes())
    assert [node["name"] for node in read_model_file(tmp_path / "model.bin")["nodes"]] == ["linear"]


@pytest.mark.parametrize(
    "content",
    [b"", b"text", Linear(2, 3).to_bytes()[:-5], *map(srsly.msgpack_dumps, ([], {}, {"nodes": [{}]}, {"nodes": [1]}))],
)
def test_what_is_no_model_is_named(tmp_path, content):
    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.bin is not a model file, or is incomplete"):
        read_model_file(tmp_path / "model.bin")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(OSError, match=r"none\.bin"):
        read_model_file(tmp_path / "none.bin")
