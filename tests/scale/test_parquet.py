import pytest

from spacy_lexner.scale import annotate

arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
ANNOTATED = ["text", "entities"]


def run(model, folder, *inputs, **options):
    """The table of all parts, each of one text, and the schemas of the parts."""
    annotate(model, inputs, folder, to="parquet", shard_texts=1, **options)
    parts = sorted(folder.glob("part-*.parquet"))
    schemas = [parquet.read_schema(part) for part in parts]
    return parquet.read_table(parts), schemas


def test_columns_are_those_of_the_input(tmp_path, model):
    table = arrow.table(
        {
            "text": ["南京", None, "长江"],
            "n": arrow.array([None, 2, 3], arrow.int16()),
            "none": arrow.nulls(3),
            "day": arrow.array([None, 1, 2], arrow.date32()),
            "words": ["a", "b", "c"],
        }
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    written, schemas = run(model, tmp_path / "out", tmp_path / "in.parquet", words=True)
    assert len(schemas) == 3 and schemas[0] == schemas[1] == schemas[2]
    assert schemas[0].names == ["id", "n", "none", "day", "input_words", *ANNOTATED, "words"]
    assert [schemas[0].field(name).type for name in ("n", "none", "day")] == [
        arrow.int16(),
        arrow.string(),
        arrow.date32(),
    ]
    assert written["n"].to_pylist() == [None, 3] and written["input_words"].to_pylist() == ["a", "c"]


def test_csv_and_what_declares_no_types(tmp_path, model):
    (tmp_path / "a.csv").write_text("id,body,源\n1,南京,\n2,长江,甲\n", "utf8")
    written, schemas = run(model, tmp_path / "csv", tmp_path / "a.csv", column="body")
    assert schemas[0] == schemas[1] and schemas[0].names == ["id", "源", *ANNOTATED]
    assert written["源"].to_pylist() == ["", "甲"] and written["id"].to_pylist() == ["1", "2"]
    (tmp_path / "a.jsonl").write_text('{"text": "南京", "n": null}\n{"text": "长江", "n": "a"}\n', "utf8")
    written, schemas = run(model, tmp_path / "jsonl", tmp_path / "a.jsonl")
    assert schemas[0] == schemas[1] and written["n"].to_pylist() == [None, "a"]
    (tmp_path / "a.txt").write_text("南京\n", "utf8")
    assert run(model, tmp_path / "txt", tmp_path / "a.txt")[1][0].names == ["id", *ANNOTATED]


def test_several_inputs(tmp_path, model):
    for name, columns in (("a", {"n": [1]}), ("b", {"m": ["x"]}), ("c", {"n": [0.5]})):
        parquet.write_table(arrow.table({"text": ["南京"], **columns}), tmp_path / f"{name}.parquet")
    written, schemas = run(model, tmp_path / "out", tmp_path / "*.parquet")
    assert all(schema == schemas[0] for schema in schemas)
    assert written["n"].to_pylist() == [1.0, None, 0.5] and written["m"].to_pylist() == [None, "x", None]
    parquet.write_table(arrow.table({"text": ["南京"], "n": ["one"]}), tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=r"one type per column: .*Use --to jsonl"):
        run(model, tmp_path / "new", tmp_path / "*.parquet")
    assert not (tmp_path / "new").exists(), "before any text is annotated"


@pytest.mark.parametrize("values", ['1}\n{"text": "看", "n": "a"}', "1000000000000000000000000000000}", "{}}"])
def test_what_parquet_cannot_hold(tmp_path, model, values):
    (tmp_path / "in.jsonl").write_text(f'{{"text": "南京", "n": {values}\n', "utf8")
    with pytest.raises(ValueError, match=r"one type per column: .*Use --to jsonl"):
        annotate(model, [tmp_path / "in.jsonl"], tmp_path / "out", to="parquet")
