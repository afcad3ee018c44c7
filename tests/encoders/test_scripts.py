"""Texts in another script, in every character encoder: normalised like the lexicon, they are read alike."""

import sys

import numpy as np
import pytest
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.lexicon.normalization import read_table

BERT = {"hidden_width": 16, "depth": 1, "heads": 2, "intermediate_width": 32, "dropout": 0.0, "attention_dropout": 0.0}
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 32, "heads": 4}
SOFT = {"@architectures": "spacy-lexner.SoftLexicon.v1", "width": 32, "dropout": 0.0}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", **BERT}
ERNIE = {"@architectures": "spacy-lexner.ERNIE.v1", **BERT, "depth": 2}
READING = {
    "flat": {**FLAT, "embedding": {"read_as": "lexicon"}},
    "soft": {**SOFT, "embedding": {"read_as": "lexicon"}},
    "flat without words": {**FLAT, "words": "none", "embedding": {"read_as": "simplified"}},
    "lebert": {**LEBERT, "read_as": "lexicon"},
    "bert": {**LEBERT, "adapter_layers": [], "read_as": "simplified"},
    "ernie": {**ERNIE, "read_as": "lexicon"},
}
AS_WRITTEN = {"flat": FLAT, "soft": SOFT, "lebert": LEBERT, "ernie": ERNIE}
TEXT = "台湾大学在这里,发ABC"
VARIANTS = ["臺灣大學在這裏,發ABC", "台灣大学在這裡,髮ABC"]
GOLD = [(0, 4, "ORG"), (5, 7, "LOC")]


def make_pipeline(tok2vec, normalization):
    nlp = spacy.blank("zh")
    rng = np.random.default_rng(0)
    entries = [
        LexiconEntry(word, rng.normal(size=16).astype("f4"), entity_id=f"Q{i}")
        for i, word in enumerate(["台灣", "大學", "臺湾大学", "这里", "這里"])
    ]
    nlp.add_pipe("lex_matcher").set_lexicon(Lexicon.from_entries(entries, normalization=normalization, merge=True))
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": tok2vec}
    nlp.add_pipe("lex_ner", config={"model": model, "threshold": 0.0})
    return nlp


def train(tok2vec, normalization, steps=0):
    fix_random_seed(0)
    nlp = make_pipeline(tok2vec, normalization)
    gold = [Example.from_dict(nlp.make_doc(TEXT), {"entities": GOLD})]
    optimizer = nlp.initialize(lambda: gold)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(gold, sgd=optimizer, drop=0.0)
    return nlp


def emissions(nlp, text):
    return nlp.get_pipe("lex_ner").model.predict([nlp.get_pipe("lex_matcher")(nlp.make_doc(text))])[0][0]


@pytest.mark.parametrize("encoder", READING)
def test_variants_are_read_alike_and_stay_as_they_are(encoder, tmp_path, monkeypatch):
    nlp = train(READING[encoder], Normalization(script="simplified"), steps=40)
    nlp.to_disk(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "opencc", None)  # loading does not need the package
    read_table.cache_clear()
    for pipeline in (nlp, spacy.load(tmp_path / "model")):
        expected = emissions(pipeline, TEXT)
        for text in VARIANTS:
            np.testing.assert_array_equal(emissions(pipeline, text), expected)
            doc = pipeline(text)
            assert doc.text == text
            assert [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] == GOLD
            assert [ent.text for ent in doc.ents] == [text[:4], text[5:7]]


@pytest.mark.parametrize("encoder", AS_WRITTEN)
def test_as_written_they_are_other_characters(encoder):
    nlp = train(AS_WRITTEN[encoder], Normalization(script="simplified"))
    assert len(nlp(VARIANTS[0])._.lex_matches) == len(nlp(TEXT)._.lex_matches) > 0
    assert (emissions(nlp, VARIANTS[0]) != emissions(nlp, TEXT)).any()


@pytest.mark.parametrize("encoder", ["flat", "lebert"])
def test_case_and_width_are_those_of_the_lexicon_too(encoder):
    nlp = train(READING[encoder], Normalization(case=True, width=True))
    np.testing.assert_array_equal(emissions(nlp, TEXT.replace("ABC", "ａbＣ")), emissions(nlp, TEXT))
    assert (emissions(nlp, VARIANTS[0]) != emissions(nlp, TEXT)).any()


@pytest.mark.parametrize("encoder", ["flat", "lebert"])
def test_a_model_without_words_has_no_lexicon_to_follow(encoder):
    alone = {"flat": {**READING["flat"], "words": "none"}, "lebert": {**READING["lebert"], "adapter_layers": []}}
    with pytest.raises(ValueError, match=r'reads no words\. Choose "written" or "simplified"'):
        make_pipeline(alone[encoder], Normalization())


@pytest.mark.parametrize("encoder", ["flat", "lebert", "ernie"])
def test_an_unknown_way_names_the_known_ones(encoder):
    wrong = {
        "flat": {**FLAT, "embedding": {"read_as": "x"}},
        "lebert": {**LEBERT, "read_as": "x"},
        "ernie": {**ERNIE, "read_as": "x"},
    }
    with pytest.raises(ValueError, match=r"read_as.*simplified"):
        make_pipeline(wrong[encoder], Normalization())
