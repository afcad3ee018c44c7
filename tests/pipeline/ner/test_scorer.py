import spacy
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from spacy_lexner.pipeline.exact_offsets import set_offsets
from spacy_lexner.pipeline.ner.scorer import score_by_units

NLP, ENGLISH = spacy.blank("zh"), spacy.blank("en")
TEXT = "张三在上海"


def annotate(doc, ents):
    if ents is not None:
        doc.ents = [doc.char_span(*ent) for ent in ents]
    return doc


def in_words(words, ents, **exact):
    doc = annotate(Doc(NLP.vocab, words, spaces=[False] * len(words)), ents)
    for ent in doc.ents:
        set_offsets(ent, *exact.get(ent.label_, (ent.start_char, ent.end_char)))
    return doc


def test_characters_are_scored_as_spacy_does():
    assert registry.scorers.get("spacy-lexner.lex_ner_scorer.v1")() is score_by_units
    pairs = [
        ([(0, 2, "PER"), (3, 5, "LOC")], [(0, 2, "PER"), (3, 5, "ORG")]),
        ([], [(0, 2, "PER")]),
        ([(0, 2, "PER")], None),
    ]
    examples = [Example(*(annotate(NLP.make_doc(TEXT), ents) for ents in pair)) for pair in pairs]
    scores = score_by_units(examples)
    assert scores == get_ner_prf(examples) and (scores["ents_p"], scores["ents_r"]) == (0.5, 1 / 3)
    assert score_by_units(examples[2:])["ents_f"] is None


def test_words_are_scored_by_exact_characters():
    gold = annotate(NLP.make_doc(TEXT), [(0, 2, "PER"), (3, 5, "LOC")])
    words = ["张三在", "上海"]
    exact = in_words(words, [(0, 3, "PER"), (3, 5, "LOC")], PER=(0, 2))
    assert score_by_units([Example(exact, gold)])["ents_f"] == 1.0
    as_it_is = in_words(words, [(0, 3, "PER"), (3, 5, "LOC")])
    assert score_by_units([Example(as_it_is, gold)])["ents_f"] == 0.5


def test_gold_in_words():
    """A part of a gold word is not that word, though spaCy's alignment would say so."""
    gold = in_words(["张三在", "上海"], [(0, 3, "PER")])
    part = annotate(NLP.make_doc(TEXT), [(0, 2, "PER")])
    assert score_by_units([Example(part, gold)])["ents_f"] == 0.0
    assert score_by_units([Example(annotate(NLP.make_doc(TEXT), [(0, 3, "PER")]), gold)])["ents_f"] == 1.0


def test_missing_annotation_does_not_count():
    gold = in_words(["张三", "在", "上海"], [])
    gold.set_ents([Span(gold, 0, 1, label="PER")], default="missing")
    found = in_words(["张三在", "上海"], [(0, 3, "PER"), (3, 5, "LOC")], PER=(0, 2))
    scores = score_by_units([Example(found, gold)])
    assert (scores["ents_p"], scores["ents_r"]) == (1.0, 1.0)


def test_other_languages_are_scored_by_tokens():
    docs = [ENGLISH.make_doc("Ada met Babbage") for _ in range(2)]
    for doc in docs:
        doc.ents = [Span(doc, 0, 1, label="PER")]
    examples = [Example(*docs)]
    assert score_by_units(examples) == get_ner_prf(examples)
