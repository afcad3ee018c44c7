import numpy as np
import pytest
import spacy
from small_ner import blank, near_change, near_scores, scores
from small_ner import train as train_small
from small_words import FLAT, LEBERT, train
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tolerance import near, tolerance

from spacy_lexner.pipeline.explain import explain, note_words
from spacy_lexner.pipeline.ner.calibration import Calibration, Scale
from spacy_lexner.visualize.lattice import read_support

N_TERMS = 100  # the longest sum: in FLAT, the vectors of a character and of its bigram


@pytest.fixture(scope="module", params=["lebert", "flat"])
def trained(request):
    nlp, texts = train({"lebert": LEBERT, "flat": FLAT}[request.param])
    docs = list(nlp.pipe(text for text, _ in texts))
    explain(nlp, docs)
    return nlp, docs


def test_taking_out_the_top_word_changes_the_score_more_than_a_random_one(trained):
    _, docs = trained
    words = [ent._.lex_words for doc in docs for ent in doc.ents if len(ent._.lex_words) > 1]
    more = np.array([abs(own[0].change) - np.mean([abs(word.change) for word in own]) for own in words])
    assert len(words) >= 10 and more.mean() > 2 * more.std(ddof=1) / len(words) ** 0.5  # twice its standard error
    # Without its word an entity is mostly lost: that is what such entities rest on.
    assert np.mean([own[0].change for own in words]) < -0.3


def test_words_are_those_on_the_tokens_of_an_entity_with_the_greatest_weight_first(trained):
    _, docs = trained
    for doc in docs:
        for ent in doc.ents:
            words = ent._.lex_words
            assert words == sorted(words, key=lambda word: (-word.weight, word.change))
            assert {(w.start, w.end) for w in words} == {
                (m.start, m.end) for m in doc._.lex_matches if m.start < ent.end_char and ent.start_char < m.end
            }
            assert all(doc.text[word.start : word.end] == word.word and 0 <= word.weight <= 1 for word in words)
            assert sum(word.weight for word in words) <= 1 + tolerance(N_TERMS)


def test_the_change_is_that_of_a_pipeline_whose_lexicon_lacks_the_word(trained):
    nlp, docs = trained
    ent, word = next(
        (ent, ent._.lex_words[0])
        for doc in docs
        for ent in doc.ents
        if ent._.lex_words and doc.text.count(ent._.lex_words[0].word) == 1
    )
    matcher = nlp.get_pipe("lex_matcher")
    whole = matcher.lexicon
    matcher.remove_words([word.word])
    (without,) = nlp.get_pipe("lex_ner").score_spans(
        [matcher(nlp.make_doc(ent.doc.text))], [[(ent.start, ent.end, ent.label_)]]
    )
    matcher.set_lexicon(whole)
    assert without[0] - ent._.lex_score == near_change(word.change, nlp, ent.doc, N_TERMS)


def test_explaining_changes_nothing_else(trained):
    nlp, docs = trained
    fresh = nlp(docs[0].text)
    assert [(e.start, e.end, e.label_) for e in fresh.ents] == [(e.start, e.end, e.label_) for e in docs[0].ents]
    assert scores(fresh) == near_scores(scores(docs[0]), nlp, fresh, N_TERMS)
    assert all(ent._.lex_words is None for ent in fresh.ents)
    explain(nlp, fresh, batch_size=1)
    for one, other in zip(fresh.ents, docs[0].ents):
        for a, b in zip(one._.lex_words, other._.lex_words):
            assert a[:3] == b[:3] and a.weight == near(b.weight, N_TERMS, scale=1.0)
            assert a.change == near_change(b.change, nlp, fresh, N_TERMS)
    explain(nlp, fresh, changes=False)
    assert all(word.change is None for ent in fresh.ents for word in ent._.lex_words)


def test_is_kept_with_the_doc_and_drawn(trained):
    nlp, docs = trained
    doc = next(doc for doc in docs if doc.ents)
    expected = [ent._.lex_words for ent in doc.ents]
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [ent._.lex_words for ent in again.ents] == expected
    (again,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert [ent._.lex_words for ent in again.ents] == expected
    assert read_support(doc.ents)[expected[0][0][:2]].attention >= expected[0][0].weight


def test_changes_are_those_of_calibrated_scores(trained):
    nlp, docs = trained
    ner = nlp.get_pipe("lex_ner")
    ner.set_confidence(Calibration(Scale(2.0, 0.3), {}), 0.0)
    try:
        doc = nlp(next(doc.text for doc in docs if doc.ents))
        explain(nlp, doc)
        ent = doc.ents[0]
        word = ent._.lex_words[0]
        plain = next(own for d in docs if d.text == doc.text for own in d.ents if own.start == ent.start)
        before, change = plain._.lex_score, next(w.change for w in plain._.lex_words if w[:2] == word[:2])
        expected = Scale(2.0, 0.3)(before + change) - Scale(2.0, 0.3)(before)
        assert word.change == near_change(expected, nlp, doc, N_TERMS)
    finally:
        ner.set_confidence(None, 0.0)


def test_an_encoder_that_is_shared():
    nlp, texts = train(LEBERT, n=20, epochs=1)
    shared = spacy.blank("zh")
    shared.add_pipe("lex_matcher").set_lexicon(nlp.get_pipe("lex_matcher").lexicon)
    shared.add_pipe("tok2vec", config={"model": LEBERT})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    shared.add_pipe("lex_ner", config={"model": {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": listener}})
    examples = [Example.from_dict(shared.make_doc(text), {"entities": entities}) for text, entities in texts]
    with pytest.warns(UserWarning, match="saw only a sample"):
        optimizer = shared.initialize(lambda: examples)
    for _ in range(15):
        shared.update(examples, sgd=optimizer, annotates=["lex_matcher"])
    doc = next(doc for doc in shared.pipe(text for text, _ in texts) if doc.ents)
    explain(shared, doc)
    words = [word for ent in doc.ents for word in ent._.lex_words]
    assert words and all(word.weight > 0 or word.change is not None for word in words)
    assert any(abs(word.change) > 0 for word in words)
    shared.get_pipe("lex_ner").note_words = True
    with pytest.raises(ValueError, match="No encoder of this model reports its attention"):
        shared(doc.text)


def test_with_the_option_prediction_notes_words(tmp_path):
    nlp, texts = train(FLAT, n=60, epochs=8, note_words=True)
    doc = next(doc for doc in nlp.pipe(text for text, _ in texts) if doc.ents)
    noted = [ent._.lex_words for ent in doc.ents]
    assert all(word.weight is not None and word.change is None for own in noted for word in own)
    explain(nlp, doc, changes=False)
    for own, other in zip(noted, (ent._.lex_words for ent in doc.ents)):
        assert [w[:3] for w in own] == [w[:3] for w in other]
        assert [w.weight for w in own] == near([w.weight for w in other], N_TERMS, scale=1.0)
    nlp.to_disk(tmp_path / "model")
    assert spacy.load(tmp_path / "model")(doc.text).ents[0]._.lex_words[0].weight > 0


def test_what_cannot_be_explained(trained):
    nlp, docs = trained
    with pytest.raises(ValueError, match="component = 'ner': expected the name of a lex_ner"):
        explain(nlp, docs, component="ner")
    with pytest.raises(ValueError, match="which has none"):
        explain(spacy.blank("zh"), docs)
    plain = blank()
    train_small(plain, steps=1)
    with pytest.raises(ValueError, match="reads no candidate words"):
        explain(plain, plain("南京"))
    empty = nlp("")
    explain(nlp, empty)
    assert empty.ents == ()


def test_entities_of_others_have_words_without_changes(trained):
    nlp, docs = trained
    doc = nlp.make_doc(docs[0].text)
    doc.set_ents([doc.char_span(*next(iter(nlp(doc.text)._.lex_matches))[:2], "OTHER")])
    explain(nlp, doc)
    (ent,) = doc.ents
    assert ent._.lex_words and all(word.change is None and word.weight is not None for word in ent._.lex_words)


@pytest.fixture
def quick():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市"])
    nlp.add_pipe("lex_ner")
    example = Example.from_dict(nlp.make_doc("在南京市"), {"entities": [(1, 4, "GPE")]})
    optimizer = nlp.initialize(lambda: [example])
    for _ in range(40):
        nlp.update([example], sgd=optimizer)
    return nlp


def test_words_are_noted_for_a_while(quick):
    assert quick("在南京市").ents[0]._.lex_words is None
    with note_words(quick):
        assert {word.word for word in quick("在南京市").ents[0]._.lex_words} == {"南京", "南京市"}
    assert quick("在南京市").ents[0]._.lex_words is None


def test_settings_come_back(quick):
    quick.get_pipe("lex_ner").note_words = True
    with pytest.raises(KeyError), note_words(quick):
        raise KeyError
    assert quick.get_pipe("lex_ner").note_words is True


def test_a_pipeline_without_lex_ner():
    with note_words(spacy.blank("zh")):
        pass
