import numpy as np
import pytest
import spacy
import torch
from confection import ConfigValidationError
from small_ner import HASH_EMBED_CNN, TEXTS, blank, examples, found, scores, span, train
from spacy.tokens import Doc, DocBin, Span
from spacy.util import fix_random_seed
from tolerance import near

from spacy_lexner.pipeline.ner.lex_ner import LexNER
from spacy_lexner.tagging import crf
from spacy_lexner.tagging.spans.tag_scheme import TagSpan, legal_moves

TEXT = TEXTS[0][0]


# The factory


def test_factory():
    meta = spacy.blank("zh").get_factory_meta("lex_ner")
    assert meta.default_score_weights == {"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None}
    ours = {f"span._.lex_{name}" for name in ("score", "start", "end", "words")}
    ours |= {"doc._.lex_alternatives", "doc._.lex_conflicts"}
    assert set(meta.assigns) == ours | {"doc.ents", "doc.spans", "token.ent_iob", "token.ent_type"}
    assert not meta.requires
    config = meta.default_config
    assert config["model"]["@architectures"] == "spacy-lexner.CRFTagger.v1"
    assert config["model"]["tok2vec"]["@architectures"] == "spacy-lexner.FLAT.v1"
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_ner")
    config = nlp.get_pipe_config("lex_ner")
    assert config["overwrite"] is False and config["incorrect_spans_key"] is None and not config["rule_labels"]


def test_default_model_is_built_without_any_file():
    nlp = spacy.blank("zh")
    assert isinstance(nlp.add_pipe("lex_ner"), LexNER)
    assert nlp.analyze_pipes()["problems"] == {"lex_ner": []}


@pytest.mark.parametrize("setting", [{"overwrite": "perhaps"}, {"labels": ["PER"]}, {"incorrect_spans_key": 3}])
def test_bad_settings(setting):
    with pytest.raises(ConfigValidationError):
        blank(**setting)


@pytest.mark.parametrize("labels", [["SHIP", "SHIP"], [""], [" SHIP"], "SHIP"])
def test_labels_of_rules_are_labels(labels):
    nlp = blank()
    with pytest.raises(ValueError, match=r"rule_labels is .*; expected a list of distinct labels"):
        LexNER(nlp, "names", nlp.get_pipe("lex_ner").model, scorer=None, rule_labels=labels)


# Predictions


def test_score_is_the_exact_probability(nlp):
    """Against the share of the paths that spell the entity, computed from the model's output."""
    pipe, doc = nlp.get_pipe("lex_ner"), nlp(TEXT)
    emissions, transitions = pipe.model.predict([doc])
    emissions, transitions = torch.from_numpy(emissions[0]).double(), torch.from_numpy(transitions).double()
    n_tags = pipe.scheme.n_tags
    everything = torch.ones(len(doc), n_tags, dtype=torch.bool)
    legal = torch.from_numpy(legal_moves(n_tags).copy())
    trellis = crf.Trellis(emissions, transitions, everything, legal, [len(doc)])
    whole = crf.log_partition(trellis)
    assert len(doc.ents) == 2
    for ent in doc.ents:
        tag_span = TagSpan(ent.start, ent.end, pipe.labels.index(ent.label_))
        spelled = pipe.scheme.constraint(np.zeros(len(doc), dtype=bool), [tag_span])
        part = crf.log_partition(trellis._replace(allowed=torch.from_numpy(spelled)))
        assert ent._.lex_score == near((part - whole).exp().item(), len(doc) * n_tags, whole, "float64")
        assert 0.5 < ent._.lex_score <= 1


@pytest.mark.parametrize("place", [(0, 0), (2, 1), (-1, 2), (0, 100)])
def test_only_tokens_of_the_doc_can_be_scored(nlp, place):
    doc = nlp.make_doc("张三在北京")
    with pytest.raises(ValueError, match=rf"token {place[0]} to {place[1]} .*'张三在北京'.*5 tokens"):
        nlp.get_pipe("lex_ner").score_spans([doc], [[(*place, "PER")]])


def test_each_doc_has_its_spans(nlp):
    pipe = nlp.get_pipe("lex_ner")
    with pytest.raises(ValueError, match="the spans of 2 Docs, and 1 Docs; expected a list for each Doc"):
        pipe.score_spans([nlp.make_doc("张三")], [[(0, 2, "PER")], []])
    assert pipe.score_spans([], []) == []


def test_other_spans_have_no_score(nlp):
    doc = nlp(TEXT)
    assert span(doc, 4, 6)._.lex_score is None
    assert span(nlp.make_doc(TEXT), 0, 2)._.lex_score is None


def test_score_survives_bytes_and_docbin(nlp):
    doc = nlp(TEXT)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert scores(again) == scores(doc) and None not in scores(doc)
    stored = next(DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab))
    assert scores(stored) == scores(doc)


def test_extension_of_someone_else_stays():
    Span.set_extension("lex_score", default="mine", force=True)
    try:
        blank()
        assert Span.get_extension("lex_score")[0] == "mine"
    finally:
        Span.set_extension("lex_score", default=None, force=True)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\t ", "。"])
def test_texts_without_entities(nlp, text):
    doc = nlp(text)
    assert doc.text == text and doc.ents == ()
    assert not len(doc) or doc.has_annotation("ENT_IOB")
    assert nlp.get_pipe("lex_ner").predict([nlp.make_doc(text)])[0].entities == []


@pytest.mark.parametrize("text", ["\x00张三\x00", "𠮷张三👩‍👩‍👧", "张\u200b三在上海", "a" * 3000])
def test_odd_characters(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    assert all(ent.text == text[ent.start_char : ent.end_char] for ent in doc.ents)


def test_white_space_is_never_at_an_edge(fresh):
    """Even if the model prefers only entities of two tokens."""
    pipe = fresh.get_pipe("lex_ner")
    output = pipe.model.get_ref("output_layer")
    output.get_param("emission_W")[:] = 0
    output.get_param("transitions")[:] = 0
    output.get_param("emission_b")[:] = [-9, *[5, 0, 5, -5] * 3]
    texts = [" 张 三\n李\u3000四 ", "\n\n张\t\t三\n\n", " \u3000\u3000 张"]
    for doc in fresh.pipe(texts):
        assert not any(ent[0].is_space or ent[-1].is_space for ent in doc.ents)
    doc = fresh(texts[0])
    assert any(token.is_space for ent in doc.ents for token in ent)  # but inside


# Existing annotation


def test_preset_entities_are_kept_and_shape_the_rest(nlp):
    doc = nlp.make_doc("张三在北京大学工作")
    preset = Span(doc, 2, 5, label="LOC", kb_id="Q956", span_id="x")
    doc.set_ents([preset], default="missing")
    nlp.get_pipe("lex_ner")(doc)
    assert (2, 5, "LOC") in found(doc)
    kept = next(ent for ent in doc.ents if ent.label_ == "LOC")
    assert (kept.kb_id_, kept.id_, kept._.lex_score) == ("Q956", "x", None)
    assert (0, 2, "PER") in found(doc) and all(token.ent_iob != 0 for token in doc)
    assert all(ent._.lex_score > 0 for ent in doc.ents if ent.label_ != "LOC")


def test_preset_entity_of_a_foreign_label_is_kept(nlp):
    doc = nlp.make_doc(TEXT)
    doc.ents = [span(doc, 2, 5, "EVENT")]
    nlp.get_pipe("lex_ner")(doc)
    assert (2, 5, "EVENT") in found(doc) and (0, 2, "PER") in found(doc)


def test_preset_entity_may_touch_white_space_and_others(nlp):
    doc = nlp.make_doc("\n张三在北京大学")
    doc.ents = [span(doc, 0, 2, "PER"), span(doc, 2, 3, "PER")]
    nlp.get_pipe("lex_ner")(doc)
    assert found(doc)[:2] == [(0, 2, "PER"), (2, 3, "PER")]


def test_tokens_outside_may_become_entities(nlp):
    doc = nlp.make_doc(TEXT)
    doc.set_ents([], default="outside")
    assert found(nlp.get_pipe("lex_ner")(doc)) == TEXTS[0][1]


def test_blocked_tokens_stay_blocked(nlp):
    doc = nlp.make_doc(TEXT)
    doc.set_ents([], blocked=[span(doc, 0, 1)], default="missing")
    nlp.get_pipe("lex_ner")(doc)
    assert found(doc) == TEXTS[0][1][1:]
    assert doc[0].ent_iob == 3 and doc[0].ent_type == 0
    nlp.get_pipe("lex_ner")(doc)
    assert doc[0].ent_iob == 3


def test_overwrite():
    nlp = blank(overwrite=True)
    train(nlp)
    pipe, doc = nlp.get_pipe("lex_ner"), nlp.make_doc(TEXT)
    doc.set_ents([span(doc, 2, 5, "LOC")], blocked=[span(doc, 0, 1)], default="missing")
    doc.ents[0]._.lex_score = 0.5
    assert found(pipe(doc)) == TEXTS[0][1]
    assert span(doc, 2, 5)._.lex_score is None


def test_annotated_twice(nlp):
    doc = nlp(TEXT)
    before = found(doc), scores(doc)
    nlp.get_pipe("lex_ner")(doc)
    assert (found(doc), scores(doc)) == before


def test_beside_ner(nlp):
    fix_random_seed(0)
    both = blank()
    both.add_pipe("ner", last=True, config={"model": {"tok2vec": HASH_EMBED_CNN}})
    gold = examples(both)
    train(both, gold)
    assert both.get_pipe("lex_ner").labels == ("LOC", "ORG", "PER")
    assert both.evaluate(gold)["ents_f"] == 1.0
    assert both.config["training"]["score_weights"]["ents_f"] > 0


# Scores


def test_scores(fresh):
    gold = examples(fresh, [(TEXT, [(0, 2, "PER"), (3, 5, "LOC")])])
    result = fresh.evaluate(gold)
    assert (result["ents_p"], result["ents_r"], result["ents_f"]) == (0.5, 0.5, 0.5)
    assert result["ents_per_type"]["PER"]["f"] == 1.0


def test_without_a_scorer():
    nlp = blank(scorer=None)
    train(nlp, steps=1)
    assert "ents_f" not in nlp.evaluate(examples(nlp))
