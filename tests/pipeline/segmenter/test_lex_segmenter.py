"""The factory, learning and labels of `lex_segmenter`."""

import logging

import numpy as np
import pytest
import spacy
from confection import ConfigValidationError
from small_ner import HASH_EMBED_CNN, SUMS
from small_segmenter import PLAIN, TEXTS, blank, everything, examples, parts, reference, train, words
from spacy.training import Example
from thinc.api import Adam
from tolerance import tolerance

from spacy_lexner.pipeline.segmenter.gold_words import JOINED_WORD
from spacy_lexner.pipeline.segmenter.lex_segmenter import LexSegmenter
from spacy_lexner.tagging.spans.tag_scheme import legal_moves


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


# The factory


def test_factory():
    meta = spacy.blank("zh").get_factory_meta("lex_segmenter")
    assert meta.default_score_weights["word_f"] == meta.default_score_weights["word_pos_f"] == 0.5
    assert sum(weight for weight in meta.default_score_weights.values() if weight) == 1.0
    assert meta.retokenizes and "token.pos" in meta.assigns and not meta.requires
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_segmenter")
    config = nlp.get_pipe_config("lex_segmenter")
    assert (config["pos"], config["retokenize"], config["spans_key"]) == ("pos", True, "lex_words")
    assert config["model"]["tok2vec"]["@architectures"] == "spacy-lexner.FLAT.v1"


def test_default_model_is_built_without_any_file():
    nlp = spacy.blank("zh")
    assert isinstance(nlp.add_pipe("lex_segmenter"), LexSegmenter)
    assert nlp.analyze_pipes()["problems"] == {"lex_segmenter": []}


@pytest.mark.parametrize("setting", [{"pos": "xpos"}, {"retokenize": "perhaps"}, {"keep_spans": "x"}, {"force": True}])
def test_bad_settings(setting):
    with pytest.raises(ConfigValidationError):
        blank(**setting)


# Learning


@pytest.mark.parametrize("tagger", ["CRFTagger", "SoftmaxTagger"])
def test_learns(tagger):
    nlp = blank(tagger)
    gold = examples(nlp)
    assert train(nlp, gold, steps=40)["lex_segmenter"] < 0.1
    scores = nlp.evaluate(gold)
    assert scores["word_f"] == scores["word_pos_f"] == scores["token_f"] == 1.0
    assert scores["word_oov_r"] is None and set(scores["word_pos_per_type"]) == set(
        nlp.get_pipe("lex_segmenter").labels
    )
    for text, (gold_words, gold_parts) in zip(PLAIN, TEXTS):
        assert everything(nlp(text)) == (gold_words, gold_parts)


def test_labels(nlp):
    pipe = nlp.get_pipe("lex_segmenter")
    assert pipe.labels == pipe.label_data == tuple(sorted({pos for _, text in TEXTS for pos in text.split()}))
    assert len(pipe.cfg["known_words"]) == len({word for text, _ in TEXTS for word in text.split()})


def test_words_alone():
    nlp = blank(pos=None)
    assert nlp.get_pipe("lex_segmenter").labels == ("WORD",)
    gold = examples(nlp)
    train(nlp, gold)
    scores = nlp.evaluate(gold)
    assert scores["word_f"] == 1.0 and scores["word_pos_f"] is None
    assert everything(nlp(PLAIN[0])) == (TEXTS[0][0], "- - - -")
    with pytest.raises(ValueError, match="'WORD' is the only label"):
        nlp.get_pipe("lex_segmenter").add_label("NOUN")


def test_tags():
    nlp = blank(pos="tag")
    train(nlp)
    doc = nlp(PLAIN[0] + "\n\n")
    assert [token.tag_ for token in doc] == ["PN", "VV", "NR", "NR", "_SP"] and parts(doc) == "- - - - -"


def test_white_space_and_latin_words_are_never_touched(nlp):
    doc = nlp("我爱 iPhone15，\n\n3.14% \u3000Iron Man\t是 ")
    assert doc.text == "我爱 iPhone15，\n\n3.14% \u3000Iron Man\t是 "
    tokens = [token.text for token in doc]
    assert all(any(run in token for token in tokens) for run in ("iPhone15", "3.14%", "Iron", "Man"))
    assert [token for token in tokens if token.isspace()] == ["\n\n", "\u3000", "\t"]
    assert not any(character.isspace() for token in tokens for character in token if not token.isspace())
    assert {token.pos_ for token in doc if token.is_space} == {"SPACE"}
    assert all(token.pos_ and token.pos_ != "SPACE" for token in doc if not token.is_space)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "我", "。", "a", "\x00", "𠮷"])
def test_short_texts(nlp, text):
    doc = nlp(text)
    assert doc.text == text and len(doc) == bool(text)
    assert not text or doc[0].pos_


def test_word_that_is_very_long(nlp):
    word = "a" * 5000
    assert [token.text for token in nlp(f"我{word}")] in (["我", word], ["我" + word])


LEBERT = {"stride": 4, "hidden_width": 16, "depth": 1, "heads": 2, "intermediate_width": 16}
FLAT = {"width": 16, "heads": 2, "embedding": {"character_dropout": 0.0, "word_dropout": 0.0}}


@pytest.mark.parametrize("encoder, settings", [("LEBERT", LEBERT), ("FLAT", FLAT)])
def test_word_longer_than_a_window(encoder, settings):
    """Longer in the annotation, in the lexicon, and by rule."""
    nlp = blank(tok2vec={"@architectures": f"spacy-lexner.{encoder}.v1", "window": 8, **settings})
    nlp.add_pipe("lex_matcher", first=True).add_words(["天安门", "长" * 30])
    gold = examples(nlp, [*TEXTS, ("我 爱 " + "长" * 30 + " 天安门", "PRON VERB NOUN PROPN")])
    train(nlp, gold, steps=60)
    assert nlp.evaluate(gold)["word_f"] == 1.0
    assert "b" * 50 in words(nlp("我" + "b" * 50))


def test_missing_annotation_teaches_nothing(fresh):
    doc = fresh.make_doc("张三 在\n上海")
    assert fresh.update([Example(doc, fresh.make_doc(doc.text))], sgd=False) == {"lex_segmenter": 0.0}
    model = fresh.get_pipe("lex_segmenter").model
    gradients, (emissions, _) = model.get_gradients(), model.predict([doc])
    rest = tolerance(len(doc) * SUMS, emissions, "float64")  # of probabilities that cancel
    assert gradients and all(np.abs(gradient).max() <= rest for _, gradient in gradients.values())


def test_parts_of_speech_may_be_missing():
    """Words in all texts, parts of speech in some."""
    nlp = blank()
    gold = examples(nlp, [text if i % 2 else (text[0], None) for i, text in enumerate(TEXTS)])
    train(nlp, gold, steps=40)
    assert nlp.evaluate(gold)["word_f"] == nlp.evaluate(gold)["word_pos_f"] == 1.0


def test_gold_is_within_what_is_allowed(fresh):
    """Even if the annotation contradicts the rules, every text has a path."""
    pipe = fresh.get_pipe("lex_segmenter")
    legal = legal_moves(pipe.scheme.n_tags)
    for text in [*TEXTS, ("iPhone 15 是 A 股", "PROPN NOUN VERB NOUN NOUN"), ("a b", "NOUN VERB"), ("我 爱", None)]:
        [example] = examples(fresh, [text])
        both = pipe.gold(example) & pipe.training_constraint(example.predicted)
        reach = legal[-1, :-1] & both[0]
        for row in both[1:]:
            reach = (reach[:, None] & legal[:-1, :-1]).any(0) & row
        assert (reach & legal[:-1, -1]).any(), text


def test_contradicting_gold_is_told_and_harmless(caplog):
    nlp = blank()
    gold = examples(nlp, [*TEXTS, ("iPhone 15 是 手机", "PROPN NUM VERB NOUN")])
    with caplog.at_level(logging.WARNING):
        losses = train(nlp, gold, steps=3)
    assert "lex_segmenter: of 25 gold words: 1 joined to a neighbour" in caplog.text and len(caplog.records) == 1
    assert nlp.get_pipe("lex_segmenter").gold_report.problems == {JOINED_WORD: 1} and np.isfinite(
        losses["lex_segmenter"]
    )


def test_other_text(fresh):
    wrong = Example(fresh.make_doc("我爱南京"), reference(fresh, "我 爱 北京", "PRON VERB PROPN"))
    with pytest.raises(ValueError, match="'我爱' \\+ '南京' in the Doc, '我爱' \\+ '北京' in the annotation"):
        fresh.update([wrong])
    nlp = blank()
    with pytest.raises(ValueError, match="lex_segmenter: The annotated Doc has a different text"):
        nlp.initialize(lambda: [wrong])


def test_nothing_to_learn():
    nlp = blank()
    with pytest.raises(ValueError, match="lex_segmenter: None of the 1 examples has words"):
        nlp.initialize(lambda: examples(nlp, [("张 三", None)]))
    with pytest.raises(ValueError, match=r"lex_segmenter: The examples have words, but none has a token\.pos_"):
        nlp.initialize(lambda: examples(nlp, [("我们 爱", None)]))


# Labels


def test_unknown_part_of_speech(fresh):
    gold = examples(fresh, [("我 爱 三", "PRON VERB NUM")])
    with pytest.raises(ValueError, match=r"'我爱三'.*part of speech 'NUM'.*ADJ, ADP.*add_label\('NUM'\)"):
        fresh.update(gold)
    with pytest.raises(ValueError, match="'NR' is not a universal part of speech"):
        fresh.get_pipe("lex_segmenter").add_label("NR")


def test_label_added_to_a_trained_model(fresh):
    before = [everything(doc) for doc in fresh.pipe(PLAIN)]
    assert fresh.get_pipe("lex_segmenter").add_label("NUM") == 1
    assert fresh.get_pipe("lex_segmenter").add_label("NUM") == 0
    assert [everything(doc) for doc in fresh.pipe(PLAIN)] == before
    gold = examples(fresh, [*TEXTS, ("三千 手机", "NUM NOUN")])
    optimizer = fresh.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(25):
        fresh.update(gold, sgd=optimizer)
    assert everything(fresh("三千手机")) == ("三千 手机", "NUM NOUN")
    assert fresh.evaluate(gold)["word_pos_f"] == 1.0


def test_labels_may_be_given():
    nlp = blank()
    nlp.get_pipe("lex_segmenter").initialize(
        lambda: examples(nlp), nlp=nlp, labels=["X", *nlp.get_pipe("lex_segmenter").labels]
    )
    assert nlp.get_pipe("lex_segmenter").labels == ("X",)


# Other components


def test_words_for_the_components_behind():
    """A tagger trained on the segmenter's words."""
    nlp = blank()
    nlp.add_pipe("tagger", config={"model": {"tok2vec": HASH_EMBED_CNN}})
    gold = examples(nlp)
    optimizer = nlp.initialize(lambda: gold)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(gold, sgd=optimizer, annotates=["lex_segmenter"])
    scores = nlp.evaluate(gold)
    assert scores["word_pos_f"] == 1.0 and scores["tag_acc"] == 1.0


def test_update_learns_nothing_from_empty_docs(fresh):
    empty = Example(fresh.make_doc(""), fresh.make_doc(""))
    assert fresh.update([empty], sgd=Adam(0.1)) == {"lex_segmenter": 0.0}
    assert 0 < fresh.update([empty, *examples(fresh)], sgd=False)["lex_segmenter"] < 1
