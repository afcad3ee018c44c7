import spacy
from spacy.scorer import get_ner_prf
from spacy.training import Example
from spacy.util import registry

from spacy_lexner.pipeline.ner.scorer import lex_ner_score


def make_examples():
    nlp = spacy.blank("zh")
    for predicted, gold in [
        ([(0, 2, "PER"), (3, 5, "LOC")], [(0, 2, "PER"), (3, 5, "ORG")]),
        ([], [(0, 2, "PER")]),
        ([(0, 2, "PER")], None),
    ]:
        docs = [nlp.make_doc("张三在上海") for _ in range(2)]
        docs[0].ents = [docs[0].char_span(*ent) for ent in predicted]
        if gold is not None:
            docs[1].ents = [docs[1].char_span(*ent) for ent in gold]
        yield Example(*docs)


def test_registered():
    assert registry.scorers.get("spacy-lexner.lex_ner_scorer.v1")() is lex_ner_score


def test_same_as_spacy():
    scores = lex_ner_score(make_examples())
    assert scores == get_ner_prf(make_examples())
    assert (scores["ents_p"], scores["ents_r"]) == (0.5, 1 / 3)


def test_nothing_annotated():
    assert lex_ner_score([*make_examples()][2:])["ents_f"] is None
