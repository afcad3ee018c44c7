import spacy

from spacy_lexner.pipeline.read_upto import read_upto


def test_components_before_one_run():
    nlp = spacy.blank("zh")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "中国"}])
    last = nlp.add_pipe("entity_ruler", name="last")
    last.add_patterns([{"label": "LOC", "pattern": "北京"}])
    doc = read_upto(nlp, last, "中国在。北京在。")
    assert [ent.text for ent in doc.ents] == ["中国"] and len(list(doc.sents)) == 2
