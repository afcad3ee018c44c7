"""ERNIE.v1 in pipelines: trained, saved, shared, copied, and with the entities visible."""

import pickle

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry
from tolerance import assert_close, moved

from spacy_lexner.candidates.limits import LEAST
from spacy_lexner.encoders.ernie.entities import LexEntity
from spacy_lexner.lexicon.entry import LexiconEntry

TEXTS = [
    ("张三在南京市", [(0, 2, "PER"), (3, 6, "LOC")]),
    ("李四来自长江大桥", [(0, 2, "PER"), (4, 8, "LOC")]),
    ("南京市有长江大桥", [(0, 3, "LOC"), (4, 8, "LOC")]),
]
MODEL = {
    "@architectures": "spacy-lexner.ERNIE.v1",
    "hidden_width": 32,
    "depth": 2,
    "heads": 2,
    "intermediate_width": 64,
    "entity_heads": 2,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}


def add_lexicon(nlp):
    rng = np.random.default_rng(1)
    vectors = {name: rng.standard_normal(8).astype("f4") for name in ("Q1", "Q2")}
    words = {"南京": "Q1", "南京市": "Q1", "长江大桥": "Q2", "大桥": ""}
    entries = [LexiconEntry(word, vectors.get(name), entity_id=name) for word, name in words.items()]
    nlp.add_pipe("lex_matcher").add_words(entries)


def examples(nlp):
    found = []
    for text, entities in TEXTS:
        doc = nlp.make_doc(text)
        found.append(Example.from_dict(doc, {"entities": entities}))
    return found


def trained(shared: bool = False, steps: int = 40, **model):
    torch.manual_seed(0)
    nlp = spacy.blank("zh")
    add_lexicon(nlp)
    if shared:
        nlp.add_pipe("tok2vec", config={"model": {**MODEL, **model}})
        tok2vec = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    else:
        tok2vec = {**MODEL, **model}
    tagger = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": tok2vec}
    nlp.add_pipe("lex_ner", config={"model": tagger})
    optimizer = nlp.initialize(lambda: examples(nlp))
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(examples(nlp), sgd=optimizer)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return trained()


def entities(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_it_learns_and_shows_what_it_linked(nlp):
    doc = nlp("张三在南京市")
    assert entities(doc) == [("张三", "PER"), ("南京市", "LOC")]
    assert doc._.lex_entities == [LexEntity(3, 6, "Q1", True)]
    assert doc.ents[1]._.lex_entities == doc._.lex_entities and doc.ents[0]._.lex_entities == []


def test_saved_pipelines_bring_everything_back(nlp, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    texts = [text for text, _ in TEXTS]
    assert [entities(doc) for doc in loaded.pipe(texts)] == [entities(doc) for doc in nlp.pipe(texts)]
    encoders = [(pipe, pipe.get_pipe("lex_ner").model.get_ref("tok2vec")) for pipe in (loaded, nlp)]
    found, expected = (encoder.predict([pipe.make_doc(TEXTS[2][0])])[0] for pipe, encoder in encoders)
    np.testing.assert_array_equal(found, expected)


def test_pickled_pipelines_and_worker_processes_agree(nlp):
    texts = [text for text, _ in TEXTS] * 3
    expected = [(entities(doc), doc._.lex_entities) for doc in nlp.pipe(texts)]
    again = pickle.loads(pickle.dumps(nlp))
    assert [(entities(doc), doc._.lex_entities) for doc in again.pipe(texts)] == expected
    assert [(entities(doc), doc._.lex_entities) for doc in nlp.pipe(texts, n_process=2)] == expected


@pytest.mark.filterwarnings("ignore:ERNIE makes its vocabulary")
def test_shared_by_listeners_and_replaced():
    nlp = trained(shared=True, steps=3)
    before = [entities(doc) for doc in nlp.pipe(text for text, _ in TEXTS)]
    nlp.replace_listeners("tok2vec", "lex_ner", ["model.tok2vec"])
    assert [entities(doc) for doc in nlp.pipe(text for text, _ in TEXTS)] == before
    nodes = [node.name for node in nlp.get_pipe("lex_ner").model.walk()]
    assert "ernie" in nodes


def test_entities_of_the_doc_are_a_source_too():
    nlp = trained(steps=1, source="ents")
    doc = nlp.make_doc("张三在南京市")
    doc.ents = [Span(doc, 3, 6, "LOC", kb_id="Q2"), Span(doc, 0, 2, "PER", kb_id="Q404")]
    nlp.get_pipe("lex_ner").predict([doc])
    assert doc._.lex_entities == [LexEntity(0, 2, "Q404", False), LexEntity(3, 6, "Q2", True)]


LINE = "张三在南京市的长江大桥上"  # shorter than what is read at once


def with_ents(nlp, text):
    doc = nlp.make_doc(text)
    places = [(at + start, at + end, name) for at in starts_of_lines(text) for start, end, name in ENTS]
    doc.ents = [Span(doc, start, end, "LOC", kb_id=name) for start, end, name in places]
    return doc


ENTS = [(3, 6, "Q2"), (7, 11, "Q404")]


def starts_of_lines(text):
    return [at for at in range(len(text)) if text.startswith(LINE, at)]


@pytest.mark.parametrize("separator", ["\n", ""])
@pytest.mark.parametrize("source", ["candidates", "ents"])
def test_long_texts_show_the_entities_of_single_ones(source, separator):
    nlp = trained(steps=1, source=source)
    doc = with_ents(nlp, separator.join([LINE] * 5))
    assert len(LINE) <= LEAST < len(doc)
    nlp.get_pipe("lex_ner").predict([doc])
    single = [LexEntity(3, 6, "Q2", True), LexEntity(7, 11, "Q404", False)]
    if source == "candidates":
        single = [LexEntity(3, 6, "Q1", True), LexEntity(7, 11, "Q2", True)]
    starts = starts_of_lines(doc.text)
    moved_to = [LexEntity(at + each.start, at + each.end, *each[2:]) for at in starts for each in single]
    assert doc._.lex_entities == moved_to


def test_entities_of_the_doc_reach_the_lines_of_long_texts():
    nlp = trained(steps=20, source="ents")
    long, line, bare = with_ents(nlp, f"{LINE}\n{LINE}\n{LINE}"), with_ents(nlp, LINE), nlp.make_doc(LINE)
    model = nlp.get_pipe("lex_ner").model
    rows, expected, without = (model.predict([doc]).emissions[0] for doc in (long, line, bare))
    inner = slice(1, -1)  # at its edges a line also counts the start and the end of its path
    n_terms = 64 * 2 * 8  # the widest sum, two layers of eight operations
    for at in starts_of_lines(long.text):
        assert_close(rows[at : at + len(LINE)][inner], expected[inner], n_terms)
    assert moved(expected, without, n_terms).any()


def test_bad_docs_take_nobody_along(nlp):
    docs = ["", "   ", "\n\u3000", "a" * 2000, "南京市", Doc(nlp.vocab)]
    assert [len(doc) for doc in nlp.pipe(docs)] == [len(nlp.make_doc(d) if isinstance(d, str) else d) for d in docs]


def test_the_config_fills_itself_and_refuses_what_it_does_not_know():
    model = registry.resolve({"model": MODEL})["model"]
    assert model.name == "ernie"
    nlp = spacy.blank("zh")
    with pytest.raises(ValueError, match="expected one of sim, mix, norm"):
        nlp.add_pipe("tok2vec", config={"model": {**MODEL, "layer_types": ["mix", "nomr"]}})
    nlp.add_pipe("tok2vec", config={"model": MODEL})
    assert nlp.config["components"]["tok2vec"]["model"]["overlaps"] == "longest"
