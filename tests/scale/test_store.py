import json
from contextlib import contextmanager

import pytest

from spacy_lexner.scale.records import TextRecord
from spacy_lexner.scale.shards import Shard
from spacy_lexner.scale.store import OutputError, is_output, open_store
from spacy_lexner.scale.writers import write_jsonl


@contextmanager
def opened(folder, model="a"):
    settings = {"spacy_lexner": "1", "inputs": [], "format": "jsonl", "model": model}
    with open_store(folder, settings, write_jsonl) as store:
        yield store


def finish(store, *numbers):
    for number in numbers:
        store.finish(Shard(number, [TextRecord("a.txt:1", "南京")]), [], [{"shard": number}], {})


def test_settings_count_once_a_shard_is_done(tmp_path):
    shard = Shard(0, [TextRecord("a.txt:1", "南京")])
    with opened(tmp_path):
        (tmp_path / "part-00000.parquet").touch()  # and it is killed before it marks its first shard as done
    with opened(tmp_path, model="b") as store:
        assert json.loads((tmp_path / "manifest.json").read_bytes())["model"] == "b"
        assert not list(tmp_path.glob("part-*"))
        store.finish(shard, [], [], {})
    with pytest.raises(OutputError, match="model was 'b', is 'c'"), opened(tmp_path, model="c"):
        pass
    with opened(tmp_path, model="b") as store:
        assert store.finished(shard) == {}


@pytest.mark.parametrize(("id", "written"), [(float("nan"), None), (10**30, 10**30), (b"\xff", str(b"\xff"))])
def test_ids_that_json_lacks(tmp_path, id, written):
    shard = Shard(0, [TextRecord("a.parquet:1", "", {"id": id}, "no text")])
    with opened(tmp_path) as store:
        store.finish(shard, [], [{"id": id}], {"texts": 1})
        assert store.finished(shard) == {"texts": 1}
        store.close(1)
    [row] = map(json.loads, (tmp_path / "quarantine.jsonl").read_text("utf8").splitlines())
    assert row["id"] == written


@pytest.mark.parametrize("manifest", [None, "{}", "[]", "{", '{"name": "an extension", "format": 3}'])
def test_a_folder_of_something_else_is_left_alone(tmp_path, manifest):
    for name in ("part-00000.parquet", ".letter.new"):
        (tmp_path / name).write_text("precious", "utf8")
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest, "utf8")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OutputError, match=r"no manifest\.json of a run\. Choose a new folder"), opened(tmp_path):
        pass
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before and not is_output(tmp_path)


def test_a_run_that_was_killed_before_it_wrote_anything_whole(tmp_path):
    for name in (".manifest.json.new", ".lock"):
        (tmp_path / name).touch()
    with opened(tmp_path):
        assert is_output(tmp_path) and not list(tmp_path.glob(".*.new"))


def test_one_run_at_a_time(tmp_path):
    with opened(tmp_path), pytest.raises(OutputError, match=f"Another run is writing to {tmp_path}"), opened(tmp_path):
        pass
    with pytest.raises(KeyboardInterrupt), opened(tmp_path):
        raise KeyboardInterrupt
    with opened(tmp_path):
        assert is_output(tmp_path)


def test_a_part_that_was_removed_is_not_finished(tmp_path):
    shard = Shard(0, [TextRecord("a.txt:1", "南京")])
    with opened(tmp_path) as store:
        store.finish(shard, [], [], {"texts": 1})
    (tmp_path / "part-00000.jsonl").unlink()
    with opened(tmp_path) as store:
        assert store.finished(shard) is None
        with pytest.raises(OutputError, match="made from other texts"):
            store.finished(Shard(0, [TextRecord("a.txt:1", "北京")]))


def test_torn_files_are_removed(tmp_path):
    with opened(tmp_path) as store:
        finish(store, 0)
    for name in (".part-00001.jsonl.new", "done/.part-00001.json.new"):
        (tmp_path / name).touch()
    with opened(tmp_path):
        assert not list(tmp_path.rglob(".*.new")) and (tmp_path / "part-00000.jsonl").exists()


def test_shards_beyond_the_end_of_the_input(tmp_path):
    with opened(tmp_path) as store:
        finish(store, 0, 1, 2)
        store.close(3)
        quarantine = (tmp_path / "quarantine.jsonl").read_text("utf8")
        assert [json.loads(line)["shard"] for line in quarantine.splitlines()] == [0, 1, 2]
        with pytest.raises(OutputError, match=r"has changed .* ends before part-00001, .*Choose a new folder"):
            store.close(1)
        for number in (1, 2):  # killed before they were marked as done
            (tmp_path / "done" / f"part-0000{number}.json").unlink()
        with pytest.raises(OutputError, match="ends before part-00001"):
            store.close(1)
    assert (tmp_path / "quarantine.jsonl").read_text("utf8") == quarantine
