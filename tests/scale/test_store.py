import json

import pytest

from spacy_lexner.scale.records import TextRecord
from spacy_lexner.scale.shards import Shard
from spacy_lexner.scale.store import OutputError, Store, is_output
from spacy_lexner.scale.writers import write_jsonl


def open_store(folder, model="a"):
    return Store(folder, {"spacy_lexner": "1", "inputs": [], "format": "jsonl", "model": model}, write_jsonl)


def finish(store, *numbers):
    for number in numbers:
        store.finish(Shard(number, [TextRecord("a.txt:1", "南京")]), [], [{"shard": number}], {})


def test_settings_count_once_a_shard_is_done(tmp_path):
    shard = Shard(0, [TextRecord("a.txt:1", "南京")])
    open_store(tmp_path)
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
    store.close(1)
    [row] = map(json.loads, (tmp_path / "quarantine.jsonl").read_text("utf8").splitlines())
    assert str(row["id"]) == str(id)


@pytest.mark.parametrize("manifest", [None, "{}", "[]", "{", '{"name": "an extension", "format": 3}'])
def test_a_folder_of_something_else_is_left_alone(tmp_path, manifest):
    for name in ("part-00000.parquet", ".letter.new"):
        (tmp_path / name).write_text("precious", "utf8")
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest, "utf8")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError, match=r"no manifest\.json of a run\. Choose a new folder"):
        open_store(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before and not is_output(tmp_path)


def test_a_run_that_was_killed_before_it_wrote_anything_whole(tmp_path):
    (tmp_path / ".manifest.json.new").write_text("{", "utf8")
    open_store(tmp_path)
    assert is_output(tmp_path) and not list(tmp_path.glob(".*.new"))


def test_a_part_that_was_removed_is_not_finished(tmp_path):
    shard = Shard(0, [TextRecord("a.txt:1", "南京")])
    store = open_store(tmp_path)
    store.finish(shard, [], [], {"texts": 1})
    (tmp_path / "part-00000.jsonl").unlink()
    assert open_store(tmp_path).finished(shard) is None
    with pytest.raises(OutputError, match="made from other texts"):
        store.finished(Shard(0, [TextRecord("a.txt:1", "北京")]))


def test_torn_files_are_removed(tmp_path):
    finish(open_store(tmp_path), 0)
    for name in (".part-00001.jsonl.new", "done/.part-00001.json.new"):
        (tmp_path / name).touch()
    open_store(tmp_path)
    assert not list(tmp_path.rglob(".*.new")) and (tmp_path / "part-00000.jsonl").exists()


def test_shards_beyond_the_end_of_the_input(tmp_path):
    store = open_store(tmp_path)
    finish(store, 0, 1, 2)
    store.close(3)
    quarantine = (tmp_path / "quarantine.jsonl").read_text("utf8")
    assert [json.loads(line)["shard"] for line in quarantine.splitlines()] == [0, 1, 2]
    with pytest.raises(OutputError, match=r"the input has changed .* ends before part-00001, .*Choose a new folder"):
        store.close(1)
    for number in (1, 2):  # killed before they were marked as done
        (tmp_path / "done" / f"part-0000{number}.json").unlink()
    with pytest.raises(OutputError, match="ends before part-00001"):
        store.close(1)
    assert (tmp_path / "quarantine.jsonl").read_text("utf8") == quarantine
