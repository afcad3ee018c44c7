import spacy
from spacy.tokens import Doc, Span

from spacy_lexner.candidates.unit_docs import make_unit_docs
from spacy_lexner.pipeline.exact_offsets import add_offset_extensions, exact_spans, get_offsets, set_offsets
from spacy_lexner.visualize.lattice import read_marks

NLP = spacy.blank("zh")


def make_doc():
    doc = Doc(NLP.vocab, ["张三在", "北京大学"], spaces=[False] * 2)
    doc.ents = [Span(doc, 0, 1, label="PER"), Span(doc, 1, 2, label="ORG")]
    return doc


def test_what_is_not_known_is_what_the_tokens_say():
    add_offset_extensions()
    person, school = make_doc().ents
    assert (person._.lex_start, person._.lex_end) == (0, 3)
    set_offsets(person, 0, 2)
    assert (person._.lex_start, person._.lex_end, get_offsets(school)) == (0, 2, (3, 7))
    set_offsets(person, 0, 3)
    assert not person.doc.user_data, "nothing is stored where nothing differs"


def test_spans_on_units_and_in_pictures():
    doc = make_doc()
    set_offsets(doc.ents[0], 0, 2)
    set_offsets(doc.ents[1], 3, 5)
    (unit_doc,) = make_unit_docs([doc])
    assert [(span.text, span.label_) for span in exact_spans(doc, unit_doc)] == [("张三", "PER"), ("北京", "ORG")]
    assert exact_spans(doc, doc) == list(doc.ents) and exact_spans(NLP("在"), NLP("在")) == []
    assert [mark[:3] for mark in read_marks(doc.ents)] == [(0, 2, "PER"), (3, 5, "ORG")]
