import pytest
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_lexner.formats.docs import BLANK, MISALIGNED, PARTIAL, WHITE_EDGE, add_entities, make_word_doc, read_doc
from spacy_lexner.formats.record import Entity, FormatError, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.pipeline.exact_offsets import set_offsets


def record_of(text, entities, words=None):
    return Record(text, words, entities and [Entity(*entity) for entity in entities], "file:1")


@pytest.fixture
def vocab():
    return Vocab()


def ents(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_characters(vocab):
    record = record_of("南京 市长江", [(0, 4, "A"), (4, 6, "B")])
    report = Report()
    doc = add_entities(CharTokenizer(vocab)(record.text), record, report)
    assert ents(doc) == [("南京 市", "A"), ("长江", "B")]
    assert report.labels == {"A": 1, "B": 1} and report.n_entities == 2
    assert not report.problems


def test_words_of_the_file(vocab):
    record = record_of("南京 市", [(0, 2, "A")], words=("南京", " ", "市"))
    doc = add_entities(make_word_doc(record, vocab), record, Report())
    assert [token.text for token in doc] == ["南京", " ", "市"] and doc.text == "南京 市"
    assert ents(doc) == [("南京", "A")]
    with pytest.raises(FormatError, match="file:1: the file does not split its texts into words"):
        make_word_doc(record_of("南京", None), vocab)


def test_parts_of_speech_and_spaces_of_the_file(vocab):
    record = Record(
        "Iron Man的", ("Iron", "Man", "的"), None, "file:1", (True, False, False), True, ("PROPN", "", "PART")
    )
    doc = make_word_doc(record, vocab)
    assert doc.text == record.text and [token.pos_ for token in doc] == ["PROPN", "", "PART"]
    assert not doc.has_annotation("TAG") and not doc.has_annotation("ENT_IOB")
    doc = make_word_doc(record._replace(pos=None, tags=("NR", "NR", "DEG")), vocab)
    assert [token.tag_ for token in doc] == ["NR", "NR", "DEG"] and not doc.has_annotation("POS")


def test_missing_annotation_stays_missing(vocab):
    assert not add_entities(Doc(vocab, words=["中"]), record_of("中", None), Report()).has_annotation("ENT_IOB")
    doc = add_entities(Doc(vocab, words=["中"]), Record("中", None, [], "file:1"), Report())
    assert doc.has_annotation("ENT_IOB")


def test_misaligned_entities_are_counted(vocab):
    record = record_of("南京市长", [(0, 2, "A"), (2, 4, "B")], words=("南", "京市", "长"))
    report = Report()
    doc = add_entities(make_word_doc(record, vocab), record, report)
    assert ents(doc) == []
    assert report.problems == {MISALIGNED: 2}
    assert report.places[MISALIGNED] == ["file:1: A '南京'", "file:1: B '市长'"]


def test_white_space_at_the_edge(vocab):
    record = record_of("　南京 的 ", [(0, 4, "A"), (5, 6, "B")])
    report = Report()
    assert ents(add_entities(CharTokenizer(vocab)(record.text), record, report)) == [("南京", "A")]
    assert report.problems == {WHITE_EDGE: 1, BLANK: 1}


def test_overlaps(vocab):
    record = record_of("招商银行报", [(0, 4, "A"), (0, 5, "B"), (1, 2, "C"), (4, 5, "D")])
    report = Report()
    doc = add_entities(CharTokenizer(vocab)(record.text), record, report)
    assert ents(doc) == [("招商银行报", "B")]
    assert report.problems == {"entity that overlaps another one: left out": 3}
    report = Report()
    doc = add_entities(CharTokenizer(vocab)(record.text), record, report, spans_key="all")
    [loaded] = DocBin(docs=[doc], attrs=["ENT_IOB", "ENT_TYPE"]).get_docs(Vocab())
    assert [(span.text, span.label_) for span in loaded.spans["all"]] == [
        ("招商银行", "A"),
        ("招商银行报", "B"),
        ("商", "C"),
        ("报", "D"),
    ]
    assert report.problems == {"entity that overlaps another one: only in the spans 'all'": 3}


def test_the_same_bounds_with_two_labels(vocab):
    record = record_of("南京", [(0, 2, "A"), (0, 2, "B")])
    report = Report()
    assert ents(add_entities(CharTokenizer(vocab)(record.text), record, report)) == [("南京", "A")]
    assert report.n_entities == 1 and sum(report.problems.values()) == 1


def test_records_of_docs(vocab):
    report = Report()
    doc = Doc(vocab, words=["my", "南京", "市"], spaces=[True, False, False], pos=["DET", "PROPN", "NOUN"])
    assert read_doc(doc, "here", report).entities is None
    doc.set_ents([Span(doc, 1, 2, "GPE")])
    doc.spans["sc"] = [Span(doc, 1, 3, "GPE"), Span(doc, 0, 2, "X")]
    record = read_doc(doc, "here", report)
    assert record[:5] == ("my 南京市", ("my", "南京", "市"), [Entity(3, 5, "GPE")], "here", (True, False, False))
    assert record.pos == ("DET", "PROPN", "NOUN") and record.tags is None and not record.segmented
    overlapping = read_doc(doc, "here", report, spans_key="sc").entities
    assert overlapping == [Entity(0, 5, "X"), Entity(3, 6, "GPE")]
    assert read_doc(doc, "here", report, spans_key="none").entities is None and not report.problems


def test_records_have_the_exact_characters_of_entities(vocab):
    doc = Doc(vocab, words=["南京市长", "江"], spaces=[False, False])
    doc.set_ents([Span(doc, 0, 1, "GPE")])
    doc.spans["sc"] = list(doc.ents)
    set_offsets(doc.ents[0], 0, 3)
    [loaded] = DocBin(docs=[doc], store_user_data=True).get_docs(Vocab())
    for each in (doc, loaded):
        assert read_doc(each, "here", Report()).entities == [Entity(0, 3, "GPE")]
        assert read_doc(each, "here", Report(), spans_key="sc").entities == [Entity(0, 4, "GPE")]


def test_what_records_cannot_hold(vocab):
    report = Report()
    doc = Doc(vocab, words=["南京", "市", "人"])
    doc.set_ents([Span(doc, 0, 1, "GPE", kb_id="Q1")], missing=[Span(doc, 2, 3)], default="outside")
    assert read_doc(doc, "here", report).entities == [Entity(0, 2, "GPE")]
    assert list(report.problems) == [PARTIAL, "entity with a knowledge base id: written without it"]
