import json

import pytest

from spacy_lexner.scale.records import TextRecord
from spacy_lexner.scale.shards import Shard
from spacy_lexner.scale.store import WRITERS, OutputError, Store


def open_store(folder, **settings):
    return Store(folder, {"format": "jsonl", **settings}, WRITERS["jsonl"])


def test_settings_count_once_a_shard_is_done(tmp_path):
    shard = Shard(0, [TextRecord("a.txt:1", "南京")])
    open_store(tmp_path, model="a")
    (tmp_path / "part-00000.parquet").touch()  # of a run that was killed before it marked its first shard as done
    store = open_store(tmp_path, model="b")
    assert json.loads((tmp_path / "manifest.json").read_bytes())["model"] == "b"
    assert not list(tmp_path.glob("part-*"))
    store.finish(shard, [], [], {})
    with pytest.raises(OutputError, match="model was 'b', is 'c'"):
        open_store(tmp_path, model="c")
    assert open_store(tmp_path, model="b").finished(shard) == {}


@pytest.mark.parametrize("id", [float("nan"), 10**30, b"\xff"])
def test_ids_that_json_lacks(tmp_path, id):
    shard = Shard(0, [TextRecord("a.parquet:1", "", {"id": id}, "no text")])
    store = open_store(tmp_path)
    store.finish(shard, [], [{"id": id}], {"texts": 1})
    assert store.finished(shard) == {"texts": 1}
    store.close()
    [row] = map(json.loads, (tmp_path / "quarantine.jsonl").read_text("utf8").splitlines())
    assert str(row["id"]) == str(id)
