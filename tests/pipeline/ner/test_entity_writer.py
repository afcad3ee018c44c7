"""Entities written to Docs, in characters and in words."""

import copy
import logging

import numpy as np
import pytest
import spacy
from small_ner import blank, examples, found, train
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from word_tokens import examples_in_words

from spacy_lexner.pipeline.exact_offsets import get_offsets
from spacy_lexner.pipeline.ner.entity_search import NOTHING, Entity
from spacy_lexner.pipeline.ner.entity_writer import (
    DROPPED,
    LEFT_OUT_KEY,
    MOVED,
    OVERLAP,
    UNCERTAIN_KEY,
    EntityWriter,
    read_uncertain,
)

NLP = spacy.blank("zh")
TEXT = "张三在北京大学工作"
MODES = {
    "expand": ["张三在", "北京大学工"],
    "contract": ["北京大学"],
    "strict": [],
    "split": ["张三", "北京大学"],
}


def doc_in(nlp, *words):
    return Doc(nlp.vocab, words=list(words), spaces=[False] * len(words))


def with_mode(nlp, mode):
    nlp = copy.deepcopy(nlp)
    pipe = nlp.get_pipe("lex_ner")
    pipe.writer = EntityWriter("lex_ner", mode)
    return nlp, pipe


@pytest.mark.parametrize("mode", MODES)
def test_modes(nlp, mode, caplog):
    nlp, pipe = with_mode(nlp, mode)
    expected = nlp(TEXT)
    assert [ent.text for ent in expected.ents] == ["张三", "北京大学"]
    words = ["张三在", "北京", "大学", "工作"] if mode == "contract" else ["张三在", "北京", "大学工", "作"]
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            doc = nlp(doc_in(nlp, *words))
    assert [ent.text for ent in doc.ents] == MODES[mode]
    exact = [(get_offsets(ent), ent.label_, ent._.lex_score) for ent in doc.ents]
    wanted = [((ent.start_char, ent.end_char), ent.label_, pytest.approx(ent._.lex_score)) for ent in expected.ents]
    assert exact == wanted[-len(exact) :] if exact else True
    left_out = 2 - len(MODES[mode])
    assert pipe.alignment_counts[DROPPED] == 2 * left_out and pipe.alignment_counts[OVERLAP] == 0
    assert caplog.text.count("is left out (alignment_mode") == min(left_out, 1), "once"


def test_an_entity_inside_a_token_and_two_in_one(nlp):
    """Within a single token there is nothing to contract to; of two entities there, only one can stay."""
    for mode, texts in {"expand": 1, "contract": 0, "strict": 0, "split": 2}.items():
        nlp, pipe = with_mode(nlp, mode)
        doc = nlp(doc_in(nlp, TEXT))
        assert len(doc.ents) == texts
        assert sum(pipe.alignment_counts[what] for what in (DROPPED, OVERLAP)) == 2 - texts
        left = doc.spans.get(LEFT_OUT_KEY, [])
        assert len(left) == 2 - texts and all(span.text == TEXT for span in left)
        exact = [(ent._.lex_start, ent._.lex_end, ent._.lex_score) for ent in doc.ents]
        if left:
            exact += [(*place, score) for place, score in zip(left.attrs["offsets"], left.attrs["scores"])]
        assert sorted(exact) == [(ent.start_char, ent.end_char, ent._.lex_score) for ent in nlp(TEXT).ents]
        assert LEFT_OUT_KEY in Doc(nlp.vocab).from_bytes(doc.to_bytes()).spans or not left
    nlp, pipe = with_mode(nlp, "expand")
    scores = {ent.text: ent._.lex_score for ent in nlp(TEXT).ents}
    [ent] = nlp(doc_in(nlp, TEXT)).ents
    assert ent.doc.text[ent._.lex_start : ent._.lex_end] == max(scores, key=scores.get)
    assert pipe.alignment_counts == {MOVED: 1, OVERLAP: 1}


def test_the_more_probable_stays_and_what_the_doc_keeps_wins():
    nlp = spacy.blank("zh")
    doc, unit_doc = doc_in(nlp, "甲乙", "丙丁", "戊"), doc_in(nlp, *"甲乙丙丁戊")
    writer = EntityWriter("lex_ner", "expand")
    entities = [Entity(0, 1, "A", 0.4), Entity(1, 3, "B", 0.6), Entity(4, 5, "C", 0.5)]
    assert [str(one.span) for one in writer.place(doc, unit_doc, entities, [])] == ["甲乙丙丁", "戊"]
    assert [str(one.span) for one in writer.place(doc, unit_doc, entities, [Span(doc, 1, 2)])] == ["甲乙", "戊"]
    assert writer.counts == {MOVED: 2, OVERLAP: 2}


def test_of_two_entities_in_a_token_one_has_the_rest():
    nlp = spacy.blank("zh")
    doc, unit_doc = doc_in(nlp, "甲乙", "丙丁", "戊己"), doc_in(nlp, *"甲乙丙丁戊己")
    writer = EntityWriter("lex_ner", "expand")
    for entities, texts in {
        (Entity(0, 3, "A", 0.4), Entity(3, 6, "B", 0.6)): ["甲乙", "丙丁戊己"],
        (Entity(0, 3, "A", 0.6), Entity(3, 5, "B", 0.4)): ["甲乙丙丁", "戊己"],
        (Entity(0, 3, "A", 0.6), Entity(3, 4, "B", 0.4)): ["甲乙丙丁"],
    }.items():
        placed = writer.place(doc, unit_doc, entities, [])
        assert [str(one.span) for one in placed] == texts
        assert [(one.start, one.end) for one in placed] == [ent[:2] for ent in entities][: len(texts)]
    assert writer.counts == {MOVED: 5, OVERLAP: 1}


def test_everything_else_is_exact_too(nlp):
    """Alternatives, uncertain spans and scores of spans are those of the same text in characters."""
    nlp = copy.deepcopy(nlp)
    pipe = nlp.get_pipe("lex_ner")
    pipe.n_alternatives, pipe.uncertain = 3, (1e-6, 1.0)
    doc, words = nlp(TEXT), nlp(doc_in(nlp, "张三在", "北京大", "学工作"))
    for (p, _, ents), (q, _, others) in zip(doc._.lex_alternatives, words._.lex_alternatives, strict=True):
        assert p == pytest.approx(q) and ents == others
    groups = [each.spans[UNCERTAIN_KEY] for each in (doc, words)]
    uncertain = [sorted(zip(map(tuple, group.attrs["offsets"]), group.attrs["scores"])) for group in groups]
    assert [place for place, _ in uncertain[0]] == [place for place, _ in uncertain[1]] != []
    np.testing.assert_allclose(*([score for _, score in own] for own in uncertain), rtol=1e-4)
    places = [(0, 1, "PER"), (1, 2, "ORG")], [(0, 3, "PER"), (3, 6, "ORG")]
    fresh = doc_in(nlp, "张三在", "北京大", "学工作"), nlp.make_doc(TEXT)
    scores = [pipe.score_spans([each], [own])[0] for each, own in zip(fresh, places)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)


def test_kept_entities_and_blocked_tokens_in_words(nlp):
    def annotated(doc, ents, blocked):
        doc.set_ents([doc.char_span(*ent) for ent in ents], blocked=[doc.char_span(*span) for span in blocked])
        return nlp(doc)

    tokens = doc_in(nlp, "张三在", "北京", "大学", "工作")
    for ents, blocked in [([(3, 5, "LOC")], []), ([], [(5, 7)]), ([(7, 9, "X")], [(0, 3)])]:
        doc = annotated(nlp.make_doc(TEXT), ents, blocked)
        words = annotated(tokens.copy(), ents, blocked)
        exact = [(*get_offsets(ent), ent.label_) for ent in words.ents]
        assert exact == found(doc) and {(*ent[:2], ent[2]) for ent in ents} <= set(exact)


def test_exact_offsets_survive(nlp):
    doc = nlp(doc_in(nlp, "张三在", "北京大", "学工作"))
    expected = [(0, 2), (3, 7)]
    stored = next(iter(DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)))
    joined = Doc.from_docs([doc, doc], ensure_whitespace=False)
    for each in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes()), stored, doc[0:3].as_doc(copy_user_data=True)):
        assert [(ent._.lex_start, ent._.lex_end) for ent in each.ents] == expected
    assert [get_offsets(ent) for ent in joined.ents] == [*expected, (9, 11), (12, 16)]
    assert (doc[1:2]._.lex_start, doc[1:2]._.lex_end) == (3, 6), "of other spans their own characters"


def test_overwriting_forgets_old_offsets(nlp):
    nlp, pipe = with_mode(nlp, "expand")
    pipe.overwrite = True
    doc = nlp(doc_in(nlp, "张三在", "北京大学", "工作"))
    assert get_offsets(doc.ents[0]) == (0, 2)
    pipe.set_annotations([doc], [pipe.predict([doc])[0]._replace(entities=[Entity(0, 3, "PER", 1.0)])])
    assert get_offsets(doc.ents[0]) == (0, 3)


def test_rules_that_find_no_place_are_conflicts(nlp):
    nlp = copy.deepcopy(nlp)
    nlp.add_pipe("lex_matcher", first=True).add_rules([("三在", "force", "LOC")])
    pipe = nlp.get_pipe("lex_ner")
    words = ["张三在", "北京大学"]
    assert "三在" in [doc_text(ent) for ent in nlp(doc_in(nlp, *words)).ents]
    pipe.writer = EntityWriter("lex_ner", "strict")
    [conflict] = nlp(doc_in(nlp, *words))._.lex_conflicts
    assert conflict[:6] == ("三在", "force LOC", 1, 3, "tokens", "张三在")


def doc_text(ent):
    return ent.doc.text[ent._.lex_start : ent._.lex_end]


@pytest.mark.parametrize("lengths", [(2,), (3, 1), (1, 4, 2)])
def test_training_on_words_is_training_on_characters(lengths):
    """The first update has the same loss and the same gradients."""
    results = []
    for words in (False, True):
        nlp = blank()
        gold = examples(nlp)
        spacy.util.fix_random_seed(0)
        gold = examples_in_words(gold, *lengths) if words else gold
        nlp.initialize(lambda gold=gold: gold)
        pipe = nlp.get_pipe("lex_ner")
        assert not pipe.gold_report.problems and pipe.units == "characters"
        losses = pipe.update(gold)
        gradients = [
            node.get_grad(name) for node in pipe.model.walk() for name in node.param_names if node.has_grad(name)
        ]
        results.append((losses["lex_ner"], gradients))
    (loss, gradients), (other, others) = results
    assert loss == other > 0 and len(gradients) == len(others) > 3
    for gradient, same in zip(gradients, others):
        np.testing.assert_array_equal(gradient, same)


def test_gold_in_words_teaches_characters():
    """Reference Docs in words are read by characters, whatever the predicted ones are."""
    nlp = blank()
    nlp.initialize(lambda: examples(nlp))
    pipe = nlp.get_pipe("lex_ner")
    for predicted in (nlp.make_doc(TEXT), doc_in(nlp, "张三", "在北京", "大学工作")):
        reference = doc_in(nlp, "张三", "在", "北京大学", "工作")
        reference.set_ents([Span(reference, 0, 1, label="PER"), Span(reference, 2, 3, label="ORG")])
        [example] = pipe.unit_examples([Example(predicted, reference)])
        characters = Example.from_dict(nlp.make_doc(TEXT), {"entities": [(0, 2, "PER"), (3, 7, "ORG")]})
        np.testing.assert_array_equal(pipe.gold(example), pipe.gold(characters))


def test_a_tokenizer_that_drops_characters(nlp):
    """What a Doc contains is tagged; training with another text is impossible."""
    doc = doc_in(nlp, "张三", "北京大学", "工作")
    assert [doc_text(ent) for ent in nlp(doc.copy()).ents] == [ent.text for ent in nlp("张三北京大学工作").ents]
    with pytest.raises(ValueError, match="Unable to align tokens"):
        nlp.get_pipe("lex_ner").update(
            [Example(doc, Example.from_dict(nlp.make_doc(TEXT), {"entities": []}).reference)]
        )


def test_tokens_that_cut_characters_in_two(nlp):
    """A combining mark or a joiner may start a token: units are code points, all of which are tagged."""
    words = ["张三在e", "\u0301北京", "大学", "👩", "\u200d👧𠮷"]
    text = "".join(words)
    nlp, _ = with_mode(nlp, "split")
    doc, expected = nlp(doc_in(nlp, *words)), nlp(text)
    assert doc.text == text and [(*get_offsets(ent), ent.label_) for ent in doc.ents] == found(expected)


def test_100_000_characters_in_words(nlp):
    text = TEXT.replace("，", "") * 11_112
    doc = nlp(doc_in(nlp, *["张三在", "北京", "大学工", "作"] * 11_112))
    assert len(text) > 100_000 and doc.text == text and len(doc.ents) > 20_000
    assert all(doc_text(ent) in ("张三", "北京大学") for ent in doc.ents[:100])


def test_english_keeps_its_tokens():
    nlp = spacy.blank("en")
    nlp.add_pipe("lex_ner", config={"model": blank().get_pipe_config("lex_ner")["model"], "threshold": 0.0})
    text, ents = "Ada Lovelace met Babbage", [(0, 12, "PER"), (17, 24, "PER")]
    gold = [Example.from_dict(nlp.make_doc(text), {"entities": ents})]
    train(nlp, gold)
    pipe = nlp.get_pipe("lex_ner")
    doc = nlp.make_doc(text)
    assert pipe.units == "tokens" and pipe.unit_docs([doc]) == [doc]
    assert found(nlp(doc)) == ents and not pipe.alignment_counts
    assert nlp.evaluate(gold)["ents_f"] == 1.0


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
    assert writer.counts == {"moved": 1}


def test_what_a_doc_keeps():
    for overwrite, expected in ((False, [("张三", "PER"), ("北京大学", "ORG")]), (True, [("北京大学", "ORG")])):
        doc = NLP.make_doc("张三在北京大学工作")
        doc.ents = [Span(doc, 0, 2, "PER")]
        writer = EntityWriter("ner", "expand")
        doc.ents[0]._.lex_score = 0.25
        writer.write(doc, FOUND, overwrite=overwrite)
        assert [(ent.text, ent.label_) for ent in doc.ents] == expected
        assert doc[0:2]._.lex_score == (None if overwrite else 0.25) and doc.ents[-1]._.lex_score == 0.75


def test_a_new_entity_does_not_have_the_id_of_an_old_one():
    for overwrite, expected in ((False, ["p1", ""]), (True, ["", ""])):
        doc = NLP.make_doc("张三在北京大学工作")
        doc.ents = [Span(doc, 0, 2, "PER", span_id="p1"), Span(doc, 3, 5, "LOC", span_id="l1")]
        doc.ents = doc.ents[:1]  # spaCy leaves the id of the other at its tokens
        EntityWriter("ner", "expand").write(doc, FOUND, overwrite=overwrite)
        assert [token.ent_id_ for token in (doc[0], doc[3])] == expected
        assert doc.ents[-1].text == "北京大学" and doc.ents[-1].id == doc.ents[-1].ent_id == 0


def test_uncertain_spans_without_their_scores_are_refused():
    docs = [in_words() for _ in range(2)]
    for doc, unit_doc in docs:
        EntityWriter("ner", "expand").write_uncertain(doc, FOUND._replace(unit_doc=unit_doc))
    [(doc, _), _] = docs
    assert list(read_uncertain(doc)) == [(0, 2, "PER", 0.5)]
    joined = Doc.from_docs([doc for doc, _ in docs])  # which drops the attributes of groups
    assert len(joined.spans[UNCERTAIN_KEY]) == 2
    doc.spans[UNCERTAIN_KEY].append(Span(doc, 1, 2, "LOC"))
    for changed in (joined, doc):
        with pytest.raises(ValueError, match=r'doc\.spans\["lex_uncertain"\].*Run the pipeline on the text again'):
            list(read_uncertain(changed))


def test_two_components_keep_each_others_spans():
    doc, unit_doc = in_words()
    first, second = (EntityWriter(name, "strict") for name in ("first", "second"))
    found = FOUND._replace(unit_doc=unit_doc)
    expand = EntityWriter("first", "expand")
    expand.write_uncertain(doc, found)
    EntityWriter("second", "expand").write_uncertain(doc, found._replace(uncertain=[Entity(0, 2, "LOC", 0.25)]))
    assert list(read_uncertain(doc)) == [(0, 2, "PER", 0.5), (0, 2, "LOC", 0.25)]
    expand.write_uncertain(doc, found._replace(uncertain=[]))  # its own spans are replaced
    assert list(read_uncertain(doc)) == [(0, 2, "LOC", 0.25)]
    for writer in (first, second):
        writer.write(doc, found, overwrite=False)
    left = doc.spans[LEFT_OUT_KEY]
    assert [span.text for span in left] == ["北京大学工"] * 2 and left.attrs["components"] == ["first", "second"]
    for writer in (first, second):
        writer.write(doc, found._replace(entities=[]), overwrite=False)
    assert LEFT_OUT_KEY not in doc.spans


def test_two_sourced_components_keep_each_others_spans(nlp):
    app = spacy.blank("zh")
    for name in ("first", "second"):
        app.add_pipe("lex_ner", source=copy.deepcopy(nlp), name=name)
        app.get_pipe(name).uncertain = (0.01, 1.0)
    app.get_pipe("second").overwrite = True
    for n_components, enabled in ((1, ["first"]), (2, ["first", "second"])):
        with app.select_pipes(enable=enabled):
            group = app(TEXT).spans[UNCERTAIN_KEY]
        assert set(group.attrs["components"]) == set(enabled)
        assert len(group) == n_components * group.attrs["components"].count("first") > 0


def test_a_doc_whose_tokens_were_merged_can_be_annotated_again(nlp):
    app = copy.deepcopy(nlp)
    app.get_pipe("lex_ner").uncertain = (0.01, 1.0)
    app.add_pipe("merge_entities")
    doc = app(TEXT)
    assert len(doc) < len(TEXT)
    assert [ent.text for ent in app(doc).ents] == [ent.text for ent in app(TEXT).ents]
