"""The layer: which entities reach the module, on which wordpieces, and in which window."""

import copy
import logging

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from tolerance import assert_close, moved

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.ernie.architecture import build_ernie_v1
from spacy_lexner.encoders.ernie.entities import LexEntity, get_entities
from spacy_lexner.encoders.ernie.layer import make_batches
from spacy_lexner.encoders.ernie.setup import default_layer_types
from spacy_lexner.encoders.shared.wordpiece_encoder import wordpieces_of
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

TEXT = "南京市长江大桥在南京"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"南京市长江大桥在北学", "a", "##b"]
N_TERMS = 2 * 32  # layers, and their longest sum
SIZES = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32, "entity_heads": 2}
ENTITIES = {"南京": "Q1", "南京市": "Q1", "长江": "Q2", "长江大桥": "Q3", "大桥": "", "市长": "Q4"}


def make_lexicon(width=4, **more):
    generator = np.random.default_rng(0)
    vectors = {name: generator.standard_normal(width).astype("f4") for name in ("Q1", "Q2", "Q3", "Q5")}
    entries = [LexiconEntry(word, vectors.get(name), entity_id=name) for word, name in {**ENTITIES, **more}.items()]
    return Lexicon.from_entries(entries)


def link(model, lexicon):
    model.layers[0].layers[0].attrs["link"].source = SharedMatcher(Matcher(lexicon))
    return model


@pytest.fixture
def vocab_path(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", "utf8")
    return str(path)


@pytest.fixture
def build(vocab_path):
    def make(options=None, lexicon=None, **setup):
        settings = {**SIZES, "vocab": vocab_path, **setup}
        model = link(build_ernie_v1(**settings, **(options or {})), lexicon or make_lexicon())
        docs = [spacy.blank("zh")(TEXT)]
        show_training_docs(model, docs)
        model.initialize(docs)
        return model

    return make


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("zh")


def shown(model, doc):
    """For each wordpiece of a Doc the vector that is aligned to it, as the id of the entity."""
    ids, counts = wordpieces_of(model).encode([doc])
    lexicon = model.layers[0].layers[0].attrs["link"].require().matcher.lexicon
    names = {lexicon.vectors(np.array([lexicon.hash(w)], "u8"))[0].tobytes(): n for w, n in ENTITIES.items() if n}
    (batch, _), *more = make_batches(model, [doc], ids, counts)
    assert not more
    rows = batch.entities.flatten()[batch.kept]
    vectors = batch.vectors[rows].numpy()
    return [names[vector.tobytes()] if row else None for row, vector in zip(rows.tolist(), vectors)]


def test_the_longest_words_are_linked_on_their_first_wordpiece(build, nlp):
    model, doc = build(), nlp(TEXT)
    assert shown(model, doc) == ["Q1", None, None, "Q3", None, None, None, None, "Q1", None]
    links = [(entity.start, entity.end, entity.entity_id) for entity in get_entities(doc)]
    assert links == [(0, 3, "Q1"), (3, 7, "Q3"), (8, 10, "Q1")]


def test_other_rules_for_overlaps_and_alignment(build, nlp):
    everything, doc = build({"overlaps": "all"}), nlp(TEXT)
    assert shown(everything, doc) == ["Q1", None, None, "Q3", None, None, None, None, "Q1", None]
    assert LexEntity(2, 4, "Q4", False) in get_entities(doc)
    alternate = build({"alignment": "alternate"})
    assert shown(alternate, nlp(TEXT)) == ["Q1", None, "Q1", "Q3", None, "Q3", None, None, "Q1", None]


def test_entities_of_the_doc_are_linked_by_their_kb_id(build, nlp):
    model, doc = build({"source": "ents"}), nlp(TEXT)
    doc.ents = [Span(doc, 0, 2, "LOC", kb_id="Q3"), Span(doc, 3, 5, "LOC"), Span(doc, 8, 10, "LOC", kb_id="Q77")]
    assert shown(model, doc) == ["Q3", *[None] * 9]
    assert [(e.entity_id, e.known) for e in get_entities(doc)] == [("Q3", True), ("Q77", False)]


def test_an_id_may_itself_be_a_word_of_the_lexicon(build, nlp):
    vector = np.arange(4, dtype="f4")
    model = build({"source": "ents"}, make_lexicon().with_words([LexiconEntry("Q77", vector)]))
    doc = nlp(TEXT)
    doc.ents = [Span(doc, 0, 2, "LOC", kb_id="Q77")]
    (found,) = model.layers[0].predict([doc])
    assert found.vectors.tolist() == [vector.tolist()] and found.known.all()


def test_an_id_that_is_a_word_without_vector_has_that_of_another_word(build, nlp):
    model = build({"source": "ents"}, make_lexicon(Q1=""))
    doc = nlp(TEXT)
    doc.ents = [Span(doc, 0, 2, "LOC", kb_id="Q1")]
    assert shown(model, doc) == ["Q1", *[None] * 9]


def test_a_mention_without_vector_is_counted_warned_of_and_not_seen(build, nlp, caplog):
    model, doc = build(), nlp("市长在")
    with caplog.at_level(logging.WARNING):
        without = model.predict([doc, nlp("市长在")])
    counts = model.layers[0].attrs["counts"]
    assert (counts.n_mentions, counts.n_missing, counts.missing) == (2, 2, "Q4")
    assert len([record for record in caplog.records if "no vector for the entity 'Q4'" in record.getMessage()]) == 1
    nobody = link(copy.deepcopy(model), Lexicon.from_entries([]))
    assert_close(without[0], nobody.predict([nlp("市长在")])[0], N_TERMS)


def test_another_alias_lends_its_vector(build, nlp):
    """A word without a vector that names an entity gets the vector of the entity's other words."""
    model = build()
    entry = make_lexicon().get("南京")
    lexicon = Lexicon.from_entries(
        [LexiconEntry("南京", entry.vector, entity_id="Q1"), LexiconEntry("在", entity_id="Q1")]
    )
    link(model, lexicon)
    (found,) = model.layers[0].predict([nlp("在")])
    assert found.known.tolist() == [True]
    np.testing.assert_array_equal(found.vectors[0], entry.vector)


def test_mentions_are_linked_inside_and_across_tokens(build, nlp):
    model = build()
    doc, words = nlp.make_doc("南京市长江大桥"), Doc(nlp.vocab, ["南", "京市长江", "大桥"], spaces=[False] * 3)
    characters = model.predict([doc])[0]
    tokens = [characters[:1].mean(0), characters[1:5].mean(0), characters[5:].mean(0)]
    np.testing.assert_allclose(model.predict([words])[0], tokens, atol=1e-5)
    assert words._.lex_entities == doc._.lex_entities != []


def test_entities_change_the_vectors_and_only_where_they_can(build, nlp):
    model = build()
    with_entities, without = (
        model.predict([nlp(TEXT)])[0],
        link(model, Lexicon.from_entries([])).predict([nlp(TEXT)])[0],
    )
    assert with_entities.shape == (len(TEXT), 16)
    assert moved(with_entities, without, N_TERMS).any()
    plain = build(layer_types=["sim", "sim"])
    expected = plain.predict([nlp(TEXT)])[0]
    np.testing.assert_array_equal(link(plain, Lexicon.from_entries([])).predict([nlp(TEXT)])[0], expected)


def test_docs_of_any_length_and_none(build, nlp):
    model = build({"window": 8, "stride": 4})
    docs = [nlp(""), nlp(TEXT * 7), nlp("南"), nlp("  \n"), Doc(nlp.vocab)]
    vectors = model.predict(docs)
    assert [len(part) for part in vectors] == [len(doc) for doc in docs]
    assert all(np.isfinite(part).all() for part in vectors)
    together = model.predict([docs[1]])[0]
    assert_close(vectors[1], together, N_TERMS)
    assert model.predict([]) == []


@pytest.mark.parametrize("length", [9, 10, 11, 30])
def test_an_entity_cut_by_a_border_stays_with_the_window_of_its_first_piece(build, nlp, length):
    model = build({"window": 10, "stride": 5})
    doc = nlp(("在" * 7 + "长江大桥" + "在" * 19)[:length])
    ids, counts = wordpieces_of(model).encode([doc])
    n_rows = 0
    for batch, _ in make_batches(model, [doc], ids, counts):
        for row, entities in zip(batch.input_ids.tolist(), batch.entities.tolist()):
            assert entities == [int(piece == PIECES.index("长")) for piece in row]
            n_rows += any(entities)
    assert n_rows == (1 if length <= 10 else 2)


def test_gradients_reach_every_parameter_and_fine_tuned_entities(build, nlp):
    model = build(entities="finetuned", layer_types=["mix", "norm"])
    module = model.shims[0].module
    assert len(module.tuned) == 3  # Q1, Q2 and Q3 occur in the text; only linked ones are trained
    vectors, backprop = model.begin_update([nlp(TEXT)])
    backprop([np.random.default_rng(0).standard_normal(vectors[0].shape).astype("f4")])
    # The last layer's entity output is unused.
    last = ("encoder.fusion.1.dense_out", "encoder.fusion.1.norm")
    for name, parameter in module.named_parameters():
        learns = parameter.grad is not None and bool(parameter.grad.abs().sum())
        assert learns == (not name.startswith(last)), name
    assert (module.tuned.grad.abs().sum(1) > 0).sum() == 2  # Q1 and Q3 were linked


def test_files_bring_everything_back(build, nlp, vocab_path, tmp_path):
    model = build(entities="finetuned")
    saved = model.to_bytes()
    (tmp_path / "vocab.txt").unlink()
    again = link(build_ernie_v1(**SIZES).from_bytes(saved), make_lexicon())
    np.testing.assert_array_equal(again.predict([nlp(TEXT)])[0], model.predict([nlp(TEXT)])[0])
    copied = copy.deepcopy(model)
    np.testing.assert_array_equal(copied.predict([nlp(TEXT)])[0], model.predict([nlp(TEXT)])[0])


def test_layers_without_a_type_read_text_alone(build):
    assert build(layer_types=[]).shims[0].module.encoder.layer_types == ("sim", "sim")


def test_default_layers_are_those_of_the_released_model():
    assert default_layer_types(12) == ("sim",) * 5 + ("mix",) + ("norm",) * 6
    assert [default_layer_types(n) for n in (1, 2, 3, 4)] == [
        ("mix",),
        ("mix", "norm"),
        ("sim", "mix", "norm"),
        ("sim", "mix", "norm", "norm"),
    ]


@pytest.mark.parametrize(
    ("setup", "options", "message"),
    [
        ({"layer_types": ("mix", "nrom")}, {}, "'nrom'; expected one of sim, mix, norm"),
        ({"layer_types": ("mix",) * 3}, {}, "3 layer types were given for a text model of 2 layers"),
        ({"entities": "trained"}, {}, r"entities\s+got 'trained', expected one of 'frozen', 'finetuned'"),
        ({"entities": "finetuned"}, {"source": "ents"}, 'needs source = "candidates"'),
        ({}, {"source": "linker"}, "Unknown source of entities 'linker'"),
        ({}, {"overlaps": "best"}, "Unknown overlaps='best'"),
        ({}, {"alignment": "last"}, "Unknown alignment='last'"),
        ({}, {"window": 0}, "window = 0 is out of range"),
        ({"entity_width": 0}, {}, r"entity_width\s+got 0, expected int or null of at least 1"),
        ({"entity_heads": 0}, {}, r"entity_heads\s+got 0, expected int or null of at least 1"),
        ({"dropout": 2}, {}, r"ERNIE -> dropout\s+got 2, expected float from 0 to 1"),
        ({"entity_width": 5}, {}, "vectors of 4 dimensions, but the encoder reads entity vectors of 5"),
        ({"entity_heads": 3}, {}, "3 entity heads cannot share entity vectors of width 4"),
    ],
)
def test_settings_that_do_not_fit_are_refused(build, setup, options, message):
    with pytest.raises(ValueError, match=message):
        build(options, **setup)


def test_a_lexicon_without_vectors_is_refused(build):
    with pytest.raises(ValueError, match="The lexicon has no vectors, but ERNIE needs entity vectors"):
        build(lexicon=Lexicon.from_entries([LexiconEntry("南京", entity_id="Q1")]))


def test_a_lexicon_of_another_width_swapped_in_is_refused(build, nlp):
    model = link(build(), make_lexicon(width=6))
    with pytest.raises(ValueError, match="vectors of 6 dimensions, but the encoder reads entity vectors of 4"):
        model.predict([nlp(TEXT)])


def test_without_a_lexicon_there_is_an_error_with_the_remedy(vocab_path, nlp):
    model = build_ernie_v1(**SIZES, vocab=vocab_path)
    with pytest.raises(ValueError, match="no lexicon is linked"):
        model.initialize([nlp(TEXT)])
