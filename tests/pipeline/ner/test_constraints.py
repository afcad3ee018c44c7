import spacy
from spacy.tokens import Span

from spacy_lexner.pipeline.ner.constraints import blocked_spans, present_entities


def test_entities_and_blocked_tokens():
    nlp = spacy.blank("zh")
    doc = nlp("张三在北京大学工作")
    assert present_entities(doc) == blocked_spans(doc) == []
    doc.set_ents(
        [Span(doc, 0, 2, "PER")], blocked=[Span(doc, 3, 5), Span(doc, 5, 6), Span(doc, 8, 9)], default="missing"
    )
    assert [(ent.text, ent.label_) for ent in present_entities(doc)] == [("张三", "PER")]
    assert [span.text for span in blocked_spans(doc)] == ["北京大", "作"]
    assert present_entities(nlp("")) == blocked_spans(nlp("")) == []
