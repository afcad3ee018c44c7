import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from spacy_lexner.scale import annotate
from spacy_lexner.scale.processes import ProcessEngine
from spacy_lexner.scale.store import OutputError

MODULE = import_module("spacy_lexner.scale.annotate")  # the package has its function under this name
TEXTS = ["我在南京", "看长江", "南京的长江很长", "今天天气好"]


def write(path, texts=TEXTS):
    path.write_text("".join(text + "\n" for text in texts), "utf8")
    return path


def read_rows(folder):
    return [row for path in sorted(folder.glob("part-*.jsonl")) for row in srsly.read_jsonl(path)]


def read_faults(folder):
    return list(srsly.read_jsonl(folder / "quarantine.jsonl"))


def read_all(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_rows(tmp_path, model):
    rows = [{"id": "a", "body": "我在南京", "源": 1, "entities": "old"}, {"body": "天"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf8")
    summary = annotate(model, [tmp_path / "in.jsonl"], tmp_path / "out", column="body")
    entity = {"start": 2, "end": 4, "text": "南京", "label": "GPE", "score": None}
    assert read_rows(tmp_path / "out") == [
        {"id": "a", "源": 1, "input_entities": "old", "text": "我在南京", "entities": [entity]},
        {"id": f"{tmp_path / 'in.jsonl'}:2", "text": "天", "entities": []},
    ]
    assert summary[:6] == (2, 5, 1, 0, 1, 0)


def test_same_bytes_for_any_number_of_workers_and_after_an_interruption(tmp_path, model, monkeypatch):
    path = write(tmp_path / "in.txt", TEXTS * 10)
    options = {"shard_texts": 7, "batch_characters": 12}
    annotate(model, [path], tmp_path / "one", **options)
    annotate(model, [path], tmp_path / "two", **options, engine="processes", workers=2)
    expected = read_all(tmp_path / "one")
    assert len(expected) == 6 * 2 + 3 and read_all(tmp_path / "two") == expected

    class Stop(Exception):
        pass

    def stop_later(summary, progress):
        if summary.texts >= 14:
            raise Stop

    with pytest.raises(Stop):
        annotate(model, [path], tmp_path / "three", **options, report=stop_later)
    (tmp_path / "three" / ".part-00003.jsonl.new").write_text("torn", "utf8")
    assert not (tmp_path / "three" / "quarantine.jsonl").exists()
    summary = annotate(model, [path], tmp_path / "three", **options)
    assert read_all(tmp_path / "three") == expected
    assert (summary.texts, summary.shards) == (40, 6) and summary.resumed >= 2


def test_several_workers_need_no_engine(tmp_path, model, monkeypatch):
    path, started = write(tmp_path / "in.txt"), []

    class Engine(ProcessEngine):
        def __init__(self, *args, workers, **options):
            started.append(workers)
            super().__init__(*args, workers=workers, **options)

    monkeypatch.setattr(MODULE, "ProcessEngine", Engine)
    annotate(model, [path], tmp_path / "one")
    annotate(model, [path], tmp_path / "two", workers=2)
    assert started == [1, 2]


def test_an_address_needs_no_engine(tmp_path, model, monkeypatch):
    class Engine:
        def __init__(self, *args, address, **options):
            raise ConnectionError(address)

    monkeypatch.setattr(MODULE, "RayEngine", Engine)
    with pytest.raises(ConnectionError, match="head:6379"):
        annotate(model, [write(tmp_path / "in.txt")], tmp_path / "out", address="head:6379")


def test_an_address_needs_ray(tmp_path, model):
    with pytest.raises(ValueError, match="address is 'head:6379', but processes run on this machine"):
        annotate(model, [write(tmp_path / "in.txt")], tmp_path / "out", engine="processes", address="head:6379")
    assert not (tmp_path / "out").exists()


def test_killed_at_any_moment(tmp_path, model):
    path = write(tmp_path / "in.txt", TEXTS * 50)
    annotate(model, [path], tmp_path / "whole", shard_texts=20)
    command = [sys.executable, "-m", "spacy", "lexner", "annotate", model, str(path), str(tmp_path / "out")]
    for seconds in (6, 9):
        process = subprocess.Popen([*command, "--shard-texts", "20"], stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    annotate(model, [path], tmp_path / "out", shard_texts=20)
    assert read_all(tmp_path / "out") == read_all(tmp_path / "whole")


def test_texts_that_fail_hang_or_kill_their_process(tmp_path, troublesome, monkeypatch):
    texts = ["我在南京", "坏", "看长江", "慢", "南京", "死", "长江", "偶"]
    path = write(tmp_path / "in.txt", texts)
    with (tmp_path / "in.txt").open("ab") as file:
        file.write(b"\xff\n")
    summary = annotate(troublesome, [path], tmp_path / "out", timeout=2.0)
    assert [row["text"] for row in read_rows(tmp_path / "out")] == ["我在南京", "看长江", "南京", "长江", "偶"]
    bad, slow, dead, raw = read_faults(tmp_path / "out")
    assert (bad["text"], bad["place"], bad["reason"]) == ("坏", f"{path}:2", "troublesome: a bad text")
    assert "in troublesome" in bad["traceback"]
    assert (slow["text"], slow["reason"]) == ("慢", "no answer in 2 seconds")
    assert (dead["text"], dead["reason"]) == ("死", "the process ended (exit code 7)")
    assert "is not UTF-8" in raw["reason"]
    assert (summary.quarantined, summary.entities) == (4, 4)
    assert (tmp_path / "site" / "once").exists()


def test_another_run_is_refused_with_the_difference(tmp_path, model, troublesome):
    path = write(tmp_path / "in.txt")
    annotate(model, [path], tmp_path / "out")
    before = read_all(tmp_path / "out")
    with pytest.raises(OutputError, match=r"shard_texts was 10000, is 3\. Choose"):
        annotate(model, [path], tmp_path / "out", shard_texts=3)
    with pytest.raises(OutputError, match="model was '"):
        annotate(troublesome, [path], tmp_path / "out")
    write(path, [*TEXTS[:-1], "南京"])
    with pytest.raises(OutputError, match="the input has changed"):
        annotate(model, [path], tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letters.txt").touch()
    with pytest.raises(OutputError, match="is not empty"):
        annotate(model, [path], tmp_path / "mine")
    assert read_all(tmp_path / "out") == before


def test_a_full_disk_stops_the_run_and_room_lets_it_go_on(tmp_path, model, monkeypatch):
    path, fsync = write(tmp_path / "in.txt", TEXTS * 3), os.fsync
    calls = []

    def full(number):
        calls.append(number)
        if len(calls) == 7:  # a file and its folder for the manifest, the first part and its mark
            raise OSError(28, "No space left on device")
        fsync(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"cannot be written \(No space left on device\).*the same command again"):
        annotate(model, [path], tmp_path / "out", shard_texts=4)
    assert not list((tmp_path / "out").rglob(".*.new"))
    assert annotate(model, [path], tmp_path / "out", shard_texts=4).resumed == 1
    annotate(model, [path], tmp_path / "whole", shard_texts=4)
    assert read_all(tmp_path / "out") == read_all(tmp_path / "whole")


def test_a_small_disk_that_is_made_larger(tmp_path, model):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("may not mount a file system here")
    try:
        path = write(tmp_path / "in.txt", TEXTS * 100)
        with pytest.raises(OSError, match=r"cannot be written \(No space left on device\).*the same command again"):
            annotate(model, [path], disk / "out", shard_texts=40)
        subprocess.run(["mount", "-o", "remount,size=10m", str(disk)], check=True)
        assert annotate(model, [path], disk / "out", shard_texts=40).resumed >= 1
        annotate(model, [path], tmp_path / "whole", shard_texts=40)
        assert read_all(disk / "out") == read_all(tmp_path / "whole")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_ten_megabytes_in_one_text(tmp_path, model):
    long = "看" * (10 * 2**20 // 3)
    path = write(tmp_path / "in.txt", ["我在南京", f"{long}南京", "看长江"])
    summary = annotate(model, [path], tmp_path / "out")
    assert (summary.texts, summary.entities, summary.quarantined) == (3, 3, 0)
    [ent] = read_rows(tmp_path / "out")[1]["entities"]
    assert (ent["start"], ent["end"]) == (len(long), len(long) + 2)


def test_what_gives_out_work_needs_no_spacy():
    code = "import sys, spacy_lexner.scale as _; print(*({'spacy', 'torch', 'ray'} & {*sys.modules}))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert not found.strip()


def test_parquet_and_spacy(tmp_path, model):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write(tmp_path / "in.txt")
    annotate(model, [path], tmp_path / "table", to="parquet", words=True, shard_texts=3)
    tables = [parquet.read_table(tmp_path / "table" / f"part-0000{i}.parquet") for i in (0, 1)]
    assert tables[0].schema == tables[1].schema
    assert [ent["label"] for ents in tables[0]["entities"].to_pylist() for ent in ents] == ["GPE", "LOC", "GPE", "LOC"]
    annotate(model, [path], tmp_path / "docs", to="spacy")
    docs = list(DocBin().from_disk(tmp_path / "docs" / "part-00000.spacy").get_docs(spacy.blank("zh").vocab))
    assert [[ent.text for ent in doc.ents] for doc in docs] == [["南京"], ["长江"], ["南京", "长江"], []]
    assert docs[1].user_data["lex_record"] == {"id": f"{path}:2"}


def test_a_pipeline_that_cannot_be_loaded(tmp_path, model):
    path = write(tmp_path / "in.txt")
    with pytest.raises(OSError, match="no pipeline nowhere"):
        annotate("nowhere", [path], tmp_path / "out")
    (Path(model) / "config.cfg").rename(tmp_path / "config.cfg")
    try:
        with pytest.raises(RuntimeError, match="cannot be used"):
            annotate(model, [path], tmp_path / "out")
    finally:
        (tmp_path / "config.cfg").rename(Path(model) / "config.cfg")


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_timeout_that_no_process_meets(tmp_path, model, seconds):
    with pytest.raises(ValueError, match=rf"timeout is {seconds}; expected at least 1 second"):
        annotate(model, [write(tmp_path / "in.txt")], tmp_path / "out", timeout=seconds)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alternatives": -1}, "alternatives is -1; expected at least 0"),
        ({"workers": 0, "engine": "processes"}, "workers is 0; expected at least 1"),
        ({"threads": 0}, "threads is 0; expected at least 1"),
        ({"shard_characters": 0}, "shard_characters is 0; expected at least 1"),
        ({"gpu_id": 0, "gpu_share": 0.0, "engine": "ray"}, "gpu_share is 0.0; expected more than 0"),
    ],
)
def test_numbers_out_of_range(tmp_path, model, options, message):
    with pytest.raises(ValueError, match=message):
        annotate(model, [write(tmp_path / "in.txt")], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_single_input_is_given_as_a_list(tmp_path, model):
    path = write(tmp_path / "in.txt")
    with pytest.raises(ValueError, match=r"in\.txt'; expected a list"):
        annotate(model, str(path), tmp_path / "out")


@pytest.mark.parametrize("bounds", [(0.9, 0.1), (0.0, 0.5), (0.5, 1.5)])
def test_bounds_of_uncertainty(tmp_path, model, bounds):
    with pytest.raises(ValueError, match=r"uncertain is .* the lower one first"):
        annotate(model, [write(tmp_path / "in.txt")], tmp_path / "out", uncertain=bounds)
    assert not (tmp_path / "out").exists()


def test_columns_named_like_annotation(tmp_path, model):
    row = {"body": "我在南京", "text": "a", "words": ["b"], "input_words": "c", "uncertain": 1, "lex_version": "d"}
    (tmp_path / "in.jsonl").write_text(json.dumps(row), "utf8")
    annotate(model, [tmp_path / "in.jsonl"], tmp_path / "out", column="body")
    annotate(model, [tmp_path / "in.jsonl"], tmp_path / "docs", column="body", to="spacy")
    [doc] = DocBin().from_disk(tmp_path / "docs" / "part-00000.spacy").get_docs(spacy.blank("zh").vocab)
    kept = {"input_text": "a", "input_input_words": ["b"], "input_words": "c"}
    kept |= {"input_uncertain": 1, "input_lex_version": "d"}
    [written] = read_rows(tmp_path / "out")
    assert {name: value for name, value in written.items() if name.startswith("input_")} == kept
    assert set(doc.user_data["lex_record"]) == {"id", *kept}


def test_integers_that_a_docbin_cannot_hold(tmp_path, model):
    numbers = [-(1 << 63), (1 << 64) - 1, 1 << 64, {"n": [-(10**30)]}]
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "长江", "id": 10**30, "numbers": numbers}), "utf8")
    annotate(model, [tmp_path / "in.jsonl"], tmp_path / "docs", to="spacy")
    [doc] = DocBin().from_disk(tmp_path / "docs" / "part-00000.spacy").get_docs(spacy.blank("zh").vocab)
    kept = (*numbers[:2], str(1 << 64), {"n": (str(-(10**30)),)})
    assert doc.user_data["lex_record"] == {"id": str(10**30), "numbers": kept}


def test_rows_that_json_or_utf8_cannot_hold(tmp_path, model):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    days = arrow.array([0, 1], arrow.date32())
    parquet.write_table(arrow.table({"id": days, "text": ["南京", None], "day": days}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text(r'{"text": "长江", "id": "\ud800"}', "utf8")
    inputs = [tmp_path / "a.parquet", tmp_path / "b.jsonl"]
    for to in ("jsonl", "spacy"):
        for _ in range(2):  # a resumed run reads what is done
            assert annotate(model, inputs, tmp_path / to, to=to).quarantined == 2
    assert [(fault["id"], fault["place"]) for fault in read_faults(tmp_path / "jsonl")] == [
        ("1970-01-02", f"{tmp_path / 'a.parquet'}:2"),
        (f"{tmp_path / 'b.jsonl'}:1", f"{tmp_path / 'b.jsonl'}:1"),
    ]
    [doc] = DocBin().from_disk(tmp_path / "spacy" / "part-00000.spacy").get_docs(spacy.blank("zh").vocab)
    assert doc.user_data["lex_record"] == {"id": "1970-01-01", "day": "1970-01-01"}


def test_the_output_is_no_input(tmp_path, model):
    write(tmp_path / "in.txt")
    for _ in range(2):
        assert annotate(model, [tmp_path, tmp_path / "**" / "*.txt"], tmp_path / "out").texts == 2 * len(TEXTS)


def test_a_shorter_input_is_refused(tmp_path, model):
    path = write(tmp_path / "in.txt")
    annotate(model, [path], tmp_path / "out", shard_texts=2)
    before = read_all(tmp_path / "out")
    write(path, TEXTS[:2])
    with pytest.raises(OutputError, match="the input has changed since the run began"):
        annotate(model, [path], tmp_path / "out", shard_texts=2)
    assert read_all(tmp_path / "out") == before


def test_other_paths_to_the_same_file(tmp_path, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "in.txt")
    annotate(model, ["in.txt"], "out")
    assert [row["id"] for row in read_rows(tmp_path / "out")] == [f"in.txt:{line}" for line in (1, 2, 3, 4)]
    assert annotate(model, ["./in.txt"], "./out").resumed == 1
    assert annotate(model, ["./*.txt"], "out").resumed == 1
    with pytest.raises(OutputError, match="or from a file named by another path"):
        annotate(model, [path], "out")


def test_an_output_as_input(tmp_path, model):
    path = write(tmp_path / "in.jsonl", ['{"text": "我在南京"}', '{"text": 1}'])
    assert annotate(model, [path], tmp_path / "out").quarantined == 1
    assert annotate(model, [tmp_path / "out"], tmp_path / "again").texts == 1
    assert annotate(model, [tmp_path / "out" / "*.jsonl"], tmp_path / "pattern").texts == 1
    assert annotate(model, [tmp_path / "out" / "quarantine.jsonl"], tmp_path / "named").texts == 1
    (tmp_path / "mine").mkdir()
    path.rename(tmp_path / "mine" / "quarantine.jsonl")
    assert annotate(model, [tmp_path / "mine"], tmp_path / "other").texts == 2
