import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from random_docs import ZH, annotated_docs, entities_of
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_lexner.formats.docs import add_entities
from spacy_lexner.formats.read import read_records
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.tags import SCHEMES

datasets = pytest.importorskip("datasets")
from spacy_lexner.tables.datasets import annotate_dataset, read_dataset, write_dataset  # noqa: E402

ENTITY = {"start": 1, "end": 3, "label": "GPE"}


def read(columns, **options):
    return list(read_dataset(datasets.Dataset.from_dict(columns), ZH.make_doc, **options))


@settings(max_examples=25)
@given(st.lists(annotated_docs(), min_size=1, max_size=3), st.sampled_from([None, *SCHEMES]))
def test_there_and_back(docs, scheme):
    """As entities and as tags in each scheme, with one Doc without annotation."""
    docs = [*docs, ZH.make_doc("没有")]
    dataset = write_dataset(docs) if scheme is None else write_dataset(docs, tags=True, scheme=scheme)
    found = read_dataset(dataset, ZH.make_doc)
    assert [entities_of(doc) for doc in found] == [entities_of(doc) for doc in docs]


@pytest.mark.parametrize("tags", [False, True])
def test_no_docs(tags):
    dataset = write_dataset([], tags=tags)
    assert dataset.column_names == (["text", "tokens", "ner_tags"] if tags else ["text", "entities"])
    assert list(read_dataset(dataset, ZH.make_doc)) == []


def test_parquet_in_between(tmp_path):
    doc = ZH.make_doc("我在南京😀")
    doc.set_ents([Span(doc, 2, 4, "GPE")])
    for tags in (False, True):
        write_dataset([doc], tags=tags).to_parquet(tmp_path / "x.parquet")
        back = datasets.Dataset.from_parquet(str(tmp_path / "x.parquet"), cache_dir=str(tmp_path / "cache"))
        assert [entities_of(doc) for doc in read_dataset(back, ZH.make_doc)] == [entities_of(doc)]


def test_a_pipeline_adds_a_column():
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "南京"}])
    found = annotate_dataset(datasets.Dataset.from_dict({"body": ["在南京", "在"], "id": [7, 8]}), nlp, text="body")
    assert found["id"][:] == [7, 8]
    assert found["entities"][0] == [{**ENTITY, "text": "南京", "score": None}] and found["entities"][1] == []


def test_a_text_that_is_missing_is_named():
    with pytest.raises(FormatError, match=r"row 1: the text is None, not a string. Drop .*row\['body'\]"):
        annotate_dataset(datasets.Dataset.from_dict({"body": ["在南京", None]}), spacy.blank("zh"), text="body")


def test_what_cannot_be_annotated_is_told_before_the_pipeline_runs():
    given = datasets.Dataset.from_dict({"text": ["在南京"], "entities": [[]]})
    with pytest.raises(FormatError, match="has a column 'entities' already"):
        annotate_dataset(given, None)
    with pytest.raises(FormatError, match=r"Expected a Dataset, not IterableDataset. Load it without streaming"):
        annotate_dataset(given.to_iterable_dataset(), None)
    for use in (annotate_dataset, lambda *arguments: list(read_dataset(*arguments))):
        with pytest.raises(FormatError, match=r"not a dictionary of 'train', 'test'. Choose one"):
            use(datasets.DatasetDict({"train": given, "test": given}), None)


def test_texts_that_an_error_handler_leaves_out():
    Language.component("fails_on_a_text", func=lambda doc: doc if doc.text != "fail" else 1 / 0)
    Language.component("makes_a_doc", func=lambda doc: ZH.make_doc(doc.text))
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "南京"}])
    nlp.add_pipe("fails_on_a_text")
    nlp.set_error_handler(lambda *_: None)
    given = datasets.Dataset.from_dict({"text": ["南京", "fail", "在", "南京"]})
    found = annotate_dataset(given, nlp)["entities"]
    assert [None if one is None else [ent["text"] for ent in one] for one in found] == [["南京"], None, [], ["南京"]]
    nlp.add_pipe("makes_a_doc")
    assert list(annotate_dataset(given.select([0, 2]), nlp)["entities"]) == [None, None], "Docs without annotation"
    with pytest.raises(FormatError, match="Of 4 texts, 1 failed, and it is unknown which, since a component"):
        annotate_dataset(given, nlp)


@pytest.mark.parametrize("docs", [[], [ZH.make_doc("南")]])
def test_an_unknown_scheme(docs):
    with pytest.raises(FormatError, match=r"Unknown tag scheme 'nope'\. Use one of: bio, bioes"):
        write_dataset(docs, tags=True, scheme="nope")


def test_tokens_without_a_text_are_joined():
    columns = {"tokens": [["John", "Smith", "left"]], "ner_tags": [["B-PER", "I-PER", "O"]]}
    assert [entities_of(doc) for doc in read(columns)] == [("JohnSmithleft", [(0, 9, "PER")])]
    [doc] = read_dataset(datasets.Dataset.from_dict(columns), ZH.make_doc, separator=" ")
    assert entities_of(doc) == ("John Smith left", [(0, 10, "PER")])


def test_a_text_decides_where_tokens_are():
    columns = {"text": ["John  Smith\n左"], "tokens": [["John", "Smith", "左"]], "ner_tags": [["B-PER", "I-PER", "O"]]}
    assert [entities_of(doc)[1] for doc in read(columns)] == [[(0, 11, "PER")]]


def test_tokens_of_the_doc_may_be_others():
    words = Doc(ZH.vocab, ["南京市", "长江"], spaces=[False, False])
    report = Report()
    dataset = datasets.Dataset.from_dict(
        {"tokens": [list("南京市长江")], "ner_tags": [["B-X", "I-X", "O", "B-Y", "I-Y"]]}
    )
    [doc] = read_dataset(dataset, lambda text: words, report=report)
    assert entities_of(doc)[1] == [(3, 5, "Y")] and sum(report.problems.values()) == 1
    with pytest.warns(UserWarning, match="not aligned with tokens: left out: 1"):
        list(read_dataset(dataset, lambda text: Doc(ZH.vocab, ["南京市", "长江"], spaces=[False, False])))


def test_labels_may_be_numbers_and_entities_a_dict_of_lists():
    label = datasets.ClassLabel(names=["PER", "GPE"])
    value = datasets.Value("int64")
    shapes = [
        (datasets.List({"start": value, "end": value, "label": label}), [{**ENTITY, "label": 1}]),
        (datasets.Sequence({"start": value, "end": value, "label": label}), {"start": [1], "end": [3], "label": [1]}),
    ]
    for feature, entities in shapes:
        features = datasets.Features({"text": datasets.Value("string"), "entities": feature})
        dataset = datasets.Dataset.from_list([{"text": "在南京", "entities": entities}], features=features)
        assert [entities_of(doc)[1] for doc in read_dataset(dataset, ZH.make_doc)] == [[(1, 3, "GPE")]]


def test_illegal_tags_are_repaired_on_request():
    columns = {"tokens": [list("在南京")], "ner_tags": [["O", "I-GPE", "I-GPE"]]}
    with pytest.raises(FormatError, match=r"row 0: token 1, '南': in BIO, .*repair=True"):
        read(columns)
    report = Report()
    assert entities_of(read(columns, repair=True, report=report)[0])[1] == [(1, 3, "GPE")]
    assert sum(report.problems.values()) == 1


def test_what_a_data_set_cannot_hold_is_reported():
    doc = ZH.make_doc("在南京")
    doc.set_ents([Span(doc, 1, 3, "GPE", kb_id="Q1")])
    report = Report()
    write_dataset([doc], report=report)
    assert sum(report.problems.values()) == 1
    with pytest.warns(UserWarning, match="knowledge base id"):
        write_dataset([doc], tags=True)


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"sentence": ["南京"]}, "Expected columns 'text' and 'entities', or 'tokens' and 'ner_tags'; there are 'sen"),
        ({"text": ["在南京"], "entities": [[{"start": 1, "label": "GPE"}]]}, "has no end"),
        ({"text": ["在南京"], "entities": [[{**ENTITY, "end": 9}]]}, "row 0: GPE at 1, 9 is not within"),
        ({"text": [None, "南"], "entities": [[ENTITY], []]}, "row 0: the text is None"),
        ({"tokens": [["南"]], "ner_tags": [[1]]}, "cast_column"),
        ({"tokens": [["南"]], "ner_tags": [["PER"]]}, "'PER' is not a tag"),
        ({"tokens": [["南"]], "ner_tags": [["B"]]}, "'B' without a label"),
        ({"tokens": [["南"]], "ner_tags": [["O", "O"]]}, "1 tokens have 2 tags"),
        ({"tokens": [list("南京")], "ner_tags": [["M-X", "L-X"]]}, "fit no scheme"),
        ({"text": ["北京"], "tokens": [["南"]], "ner_tags": [["O"]]}, "token 0, '南', does not follow in the text"),
        ({"text": ["南", None], "entities": [[], [ENTITY]]}, r"row 1: the text is None.*row\['text'\]"),
        ({"text": ["在南京"], "entities": [["GPE"]]}, r"row 0: the entities are \['GPE'\]; expected a list of dicts"),
        ({"text": ["在南京"], "entities": ["GPE"]}, "row 0: the entities are 'GPE'; expected a list of dicts"),
        ({"text": ["南"], "entities": [{"start": None, "end": None}]}, "row 0: the entities are {'start': None"),
        (
            {"text": ["南京"], "entities": [{"start": [0, 1], "end": [1], "label": ["X", "X"]}]},
            "row 0: the lists of the entities .* differ in length",
        ),
        ({"tokens": [["南"], None], "ner_tags": [["O"], ["O"]]}, r"row 1: the tokens are None.*row\['tokens'\]"),
        ({"tokens": [["南", None]], "ner_tags": [["O", "O"]]}, "row 0: token 1 is None, not a string"),
        ({"text": [None], "tokens": [["南"]], "ner_tags": [["O"]]}, "row 0: the text is None"),
        ({"tokens": [["南京"], list("南京")], "ner_tags": [["O"], ["O", None]]}, "row 1: the tag None is not among"),
    ],
)
def test_errors(columns, message):
    with pytest.raises(FormatError, match=message):
        read(columns)


def test_a_number_that_no_tag_has():
    names = datasets.List(datasets.ClassLabel(names=["O", "B-X"]))
    features = datasets.Features({"tokens": datasets.List(datasets.Value("string")), "ner_tags": names})
    dataset = datasets.Dataset.from_list([{"tokens": ["南"], "ner_tags": [-1]}], features=features)
    with pytest.raises(FormatError, match="the tag -1 is not among the 2 of the column"):
        list(read_dataset(dataset, ZH.make_doc))


@pytest.mark.parametrize("scheme", [None, "bioes"])
def test_real_texts(data_dir, scheme):
    """Weibo, with emoji, as entities and as tags, and back."""
    records = read_records(Source(data_dir / "ner" / "weibo" / "dev.conll"), "auto", ReadOptions(), Report())
    docs = [add_entities(ZH.make_doc(record.text), record, Report()) for record in records]
    dataset = write_dataset(docs) if scheme is None else write_dataset(docs, tags=True, scheme=scheme)
    found = [entities_of(doc) for doc in read_dataset(dataset, ZH.make_doc)]
    assert found == [entities_of(doc) for doc in docs] and sum(len(entities) for _, entities in found) == 389


@pytest.mark.parametrize("format", ["numpy", "arrow"])
@pytest.mark.parametrize("tags", [False, True])
def test_whatever_the_format_of_rows(format, tags):
    doc = ZH.make_doc("我在南京😀")
    doc.set_ents([Span(doc, 2, 4, "GPE")])
    formatted = write_dataset([doc], tags=tags).with_format(format)
    assert [entities_of(found) for found in read_dataset(formatted, ZH.make_doc)] == [entities_of(doc)]
    annotated = annotate_dataset(formatted.select_columns(["text"]), ZH)
    assert annotated.format["type"] == format and annotated.column_names == ["text", "entities"]


def test_a_stream_without_columns():
    stream = datasets.IterableDataset.from_generator(lambda: iter([{"text": "南京", "entities": []}]))
    with pytest.raises(FormatError, match=r"columns of the data set are not known yet\. Load it without streaming"):
        list(read_dataset(stream, ZH.make_doc))


@pytest.mark.parametrize("value", [None, -1])
def test_a_number_that_no_label_has(value):
    entity = {"start": datasets.Value("int64"), "end": datasets.Value("int64")}
    entity["label"] = datasets.ClassLabel(names=["GPE"])
    features = datasets.Features({"text": datasets.Value("string"), "entities": datasets.List(entity)})
    rows = {"text": ["南京"], "entities": [[{"start": 0, "end": 2, "label": value}]]}
    with pytest.raises(FormatError, match=f"row 0: the entity at 0, 2 has the label {value}; expected a name"):
        list(read_dataset(datasets.Dataset.from_dict(rows, features=features), ZH.make_doc))
