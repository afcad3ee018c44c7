import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_docs import ZH, annotated_docs, entities_of
from spacy.tokens import Doc, Span

from spacy_lexner.formats.record import FormatError
from spacy_lexner.formats.report import Report
from spacy_lexner.pipeline.exact_offsets import set_offsets

pd = pytest.importorskip("pandas")
from spacy_lexner.tables.frames import read_frame, write_frame  # noqa: E402


def frame(*rows, columns=("doc", "start", "end", "label", "text")):
    return pd.DataFrame(rows, columns=columns)


def read(texts, entities, **options):
    return list(read_frame(pd.Series(texts), entities, ZH.make_doc, **options))


@given(st.lists(annotated_docs().filter(lambda doc: len(doc) > 0), max_size=4))
def test_there_and_back(docs):
    keys = [f"text {i}" for i in range(len(docs))]
    entities = write_frame(docs, keys)
    texts = pd.Series([doc.text for doc in docs], index=keys, dtype="str")
    assert [entities_of(doc) for doc in read_frame(texts, entities, ZH.make_doc)] == [entities_of(doc) for doc in docs]
    assert [text[0:] for text in entities["text"]] == [
        texts[key][start:end] for key, start, end in zip(entities["doc"], entities["start"], entities["end"])
    ]


def test_a_file_of_text_in_between(tmp_path):
    """Offsets and texts with quotes, commas, line feeds and digits survive CSV."""
    docs = [ZH.make_doc('他说"南京,\n是😀"'), ZH.make_doc("007号")]
    docs[0].set_ents([Span(docs[0], 3, 8, "X")])
    docs[1].set_ents([Span(docs[1], 0, 3, "NA")])
    write_frame(docs).to_csv(tmp_path / "x.csv", index=False)
    back = pd.read_csv(tmp_path / "x.csv", dtype={"text": "str", "label": "str"}, keep_default_na=False)
    assert [entities_of(doc) for doc in read([doc.text for doc in docs], back)] == [entities_of(doc) for doc in docs]


def test_whole_numbers_may_be_floats():
    """pandas makes them so where a merge has left cells empty for a time."""
    merged = pd.DataFrame({"doc": [0, 1]}).merge(frame((0, 1, 3, "GPE", "南京")), how="left").dropna()
    assert merged["start"].dtype == "float64"
    [doc, _] = read(["在南京", "无"], merged)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("南京", "GPE")]


def test_rows_are_typed_even_without_entities():
    empty = write_frame([ZH.make_doc("南京")])
    assert list(empty.columns) == ["doc", "start", "end", "label", "text", "score"] and len(empty) == 0
    assert [str(empty[name].dtype) for name in ("start", "end", "score")] == ["int64", "int64", "float64"]


def test_offsets_are_exact_and_scores_are_kept():
    doc = Doc(ZH.vocab, ["张三在", "南京"], spaces=[False, False])
    doc.set_ents([Span(doc, 0, 1, "PER")])
    set_offsets(doc.ents[0], 0, 2)
    if not Span.has_extension("lex_score"):
        Span.set_extension("lex_score", default=None)
    doc.ents[0]._.lex_score = 0.75
    [row] = write_frame([doc], ["a"]).to_dict("records")
    assert row == {"doc": "a", "start": 0, "end": 2, "label": "PER", "text": "张三", "score": 0.75}


def test_wrong_offsets_are_repaired_or_left_out_on_request():
    entities = frame((0, 0, 2, "GPE", "南京"), (0, 0, 1, "GPE", "北京"))
    with pytest.raises(FormatError, match=r"text 0: GPE '南京' is not at 0, 2"):
        read(["在南京"], entities)
    report = Report()
    assert entities_of(read(["在南京"], entities, repair=True, report=report)[0])[1] == [(1, 3, "GPE")]
    assert sum(report.problems.values()) == 2
    with pytest.warns(UserWarning, match="moved to the only occurrence"):
        read(["在南京"], entities[:1], repair=True)


@pytest.mark.parametrize(
    "texts, entities, message",
    [
        (["南京"], frame((1, 0, 2, "GPE", "南京")), "An entity has the key 1, but no text does"),
        (["南京"], frame((0, 0), columns=("doc", "start")), "no column 'end', only 'doc', 'start'"),
        (pd.Series(["南京", "北京"], index=["a", "a"]), frame(), "The key 'a' has several texts"),
        (pd.Series(["南京", None], dtype="object"), frame(), "text 1 is None, not a string"),
        (["南京"], frame((0, 0.0, 1.5, "GPE", "南京")), "must be two integers"),
        (["南京"], frame((0, 0, 2, "GPE", 3)), "the text of an entity is 3"),
    ],
)
def test_errors(texts, entities, message):
    with pytest.raises(FormatError, match=message):
        read(texts, entities)


def test_as_many_keys_as_docs():
    docs = [ZH.make_doc("南京"), ZH.make_doc("北京")]
    with pytest.raises(ValueError, match=r"There are more keys than the 2 Docs\. Give one key for each Doc\."):
        write_frame(docs, ["a", "b", "c"])
    with pytest.raises(ValueError, match="There are more Docs than the 1 keys"):
        write_frame(docs, ["a"])
