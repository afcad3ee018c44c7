import spacy
from spacy.tokens import Doc, Span

from spacy_lexner.pipeline.exact_offsets import get_offsets
from spacy_lexner.pipeline.ner.alignment import UNCERTAIN_KEY
from spacy_lexner.pipeline.ner.entity_search import NOTHING, Entity
from spacy_lexner.pipeline.ner.entity_writer import EntityWriter

NLP = spacy.blank("zh")
FOUND = NOTHING._replace(entities=[Entity(3, 7, "ORG", 0.75)], uncertain=[Entity(0, 2, "PER", 0.5)])


def in_words():
    unit_doc = NLP.make_doc("张三在北京大学工作")
    return Doc(NLP.vocab, words=["张三在", "北京", "大学工", "作"], spaces=[False] * 4), unit_doc


def test_entities_scores_and_offsets():
    doc, unit_doc = in_words()
    writer = EntityWriter("ner", "expand")
    assert writer.write(doc, FOUND._replace(unit_doc=unit_doc), overwrite=False) == []
    [ent] = doc.ents
    assert (ent.text, ent.label_, ent._.lex_score, get_offsets(ent)) == ("北京大学工", "ORG", 0.75, (3, 7))
    writer.write_uncertain(doc, FOUND._replace(unit_doc=unit_doc))
    assert [span.text for span in doc.spans[UNCERTAIN_KEY]] == ["张三在"]
    assert writer.aligner.counts == {"moved": 1}


def test_what_a_doc_keeps():
    for overwrite, expected in ((False, [("张三", "PER"), ("北京大学", "ORG")]), (True, [("北京大学", "ORG")])):
        doc = NLP.make_doc("张三在北京大学工作")
        doc.ents = [Span(doc, 0, 2, "PER")]
        writer = EntityWriter("ner", "expand")
        doc.ents[0]._.lex_score = 0.25
        writer.write(doc, FOUND, overwrite=overwrite)
        assert [(ent.text, ent.label_) for ent in doc.ents] == expected
        assert doc[0:2]._.lex_score == (None if overwrite else 0.25) and doc.ents[-1]._.lex_score == 0.75
