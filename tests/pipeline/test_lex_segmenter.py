import copy
import json
import logging
import pickle
import subprocess
import sys

import numpy as np
import pytest
import spacy
from confection import ConfigValidationError
from small_ner import HASH_EMBED_CNN
from small_segmenter import TEXTS, blank, examples, parts, reference, train, words
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Adam

from spacy_lexner.layers.tag_scheme import legal_moves
from spacy_lexner.layers.word_borders import word_starts
from spacy_lexner.pipeline.lex_segmenter import LexSegmenter

PLAIN = [text.replace(" ", "") for text, _ in TEXTS]


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


@pytest.fixture
def fresh(nlp):
    """A trained pipeline that may be changed."""
    return copy.deepcopy(nlp)


@pytest.fixture
def pipe(fresh):
    return fresh.get_pipe("lex_segmenter")


def everything(doc):
    return words(doc), parts(doc)


# The factory


def test_factory():
    meta = spacy.blank("zh").get_factory_meta("lex_segmenter")
    assert meta.default_score_weights["word_f"] == meta.default_score_weights["word_pos_f"] == 0.5
    assert sum(weight for weight in meta.default_score_weights.values() if weight) == 1.0
    assert meta.retokenizes and "token.pos" in meta.assigns and not meta.requires
    config = meta.default_config
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


LEBERT = {"hidden_width": 16, "depth": 1, "heads": 2, "intermediate_width": 16}
FLAT = {"width": 16, "heads": 2, "pre_dropout": 0.0, "character_dropout": 0.0, "word_dropout": 0.0}


@pytest.mark.parametrize("encoder, settings", [("LEBERT", LEBERT), ("FLAT", FLAT)])
def test_word_longer_than_a_window(encoder, settings):
    """Longer in the annotation, in the lexicon, and by rule."""
    nlp = blank(tok2vec={"@architectures": f"spacy-lexner.{encoder}.v1", "window": 8, "stride": 4, **settings})
    nlp.add_pipe("lex_matcher", first=True).add_words(["天安门", "长" * 30])
    gold = examples(nlp, [*TEXTS, ("我 爱 " + "长" * 30 + " 天安门", "PRON VERB NOUN PROPN")])
    train(nlp, gold, steps=60)
    assert nlp.evaluate(gold)["word_f"] == 1.0
    assert "b" * 50 in words(nlp("我" + "b" * 50))


def test_missing_annotation_teaches_nothing(fresh):
    doc = fresh.make_doc("张三 在\n上海")
    assert fresh.update([Example(doc, fresh.make_doc(doc.text))], sgd=False) == {"lex_segmenter": 0.0}
    gradients = fresh.get_pipe("lex_segmenter").model.get_gradients()
    assert gradients and all(np.abs(gradient).max() < 1e-7 for _, gradient in gradients.values())


def test_parts_of_speech_may_be_missing():
    """Words in all texts, parts of speech in some."""
    nlp = blank()
    gold = examples(nlp, [text if i % 2 else (text[0], None) for i, text in enumerate(TEXTS)])
    train(nlp, gold, steps=40)
    assert nlp.evaluate(gold)["word_f"] == nlp.evaluate(gold)["word_pos_f"] == 1.0


def test_gold_is_within_what_is_allowed(fresh):
    """Also where the annotation contradicts the rules: each has a path."""
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
    assert "lex_segmenter: of 25 gold words, 0 are not on the boundaries" in caplog.text and len(caplog.records) == 1
    assert nlp.get_pipe("lex_segmenter").gold_report.joined == 1 and np.isfinite(losses["lex_segmenter"])


def test_other_text(fresh):
    wrong = Example(fresh.make_doc("我爱南京"), reference(fresh, "我 爱 北京", "PRON VERB PROPN"))
    with pytest.raises(ValueError, match="'我爱' \\+ '南京' in the Doc, '我爱' \\+ '北京' in the annotation"):
        fresh.update([wrong])
    nlp = blank()
    with pytest.raises(ValueError, match="lex_segmenter: The annotated Doc has another text"):
        nlp.initialize(lambda: [wrong])


def test_nothing_to_learn():
    nlp = blank()
    with pytest.raises(ValueError, match="lex_segmenter: None of the 1 examples says what its words are"):
        nlp.initialize(lambda: examples(nlp, [("张 三", None)]))
    with pytest.raises(ValueError, match=r"lex_segmenter: The examples have words, but none has a token\.pos_"):
        nlp.initialize(lambda: examples(nlp, [("我们 爱", None)]))


# Labels


def test_unknown_part_of_speech(fresh):
    gold = examples(fresh, [("我 爱 三", "PRON VERB NUM")])
    with pytest.raises(ValueError, match=r"'我爱三'.*part of speech 'NUM'.*ADJ, ADP.*add_label\('NUM'\)"):
        fresh.update(gold)
    with pytest.raises(ValueError, match="'NR' is none of the universal"):
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


# What a Doc brings along


def steer(pipe, tag):
    """Let the model want this tag and nothing else."""
    output = pipe.model.get_ref("output_layer")
    for name in output.param_names:
        output.get_param(name)[:] = 0
    output.get_param("emission_b")[pipe.scheme.tags.index(tag)] = 9


@pytest.fixture
def joining(fresh):
    """A pipeline that makes one word of all it may."""
    steer(fresh.get_pipe("lex_segmenter"), "I-NOUN")
    return fresh


def test_entities_are_kept(joining):
    doc = joining.make_doc("张三在北京大学")
    doc.ents = [Span(doc, 0, 2, label="PER"), Span(doc, 3, 5, label="LOC", kb_id="Q956")]
    segmented = joining.get_pipe("lex_segmenter")(doc)
    assert words(segmented) == "张三 在 北京 大学"
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in segmented.ents] == [
        ("张三", "PER", ""),
        ("北京", "LOC", "Q956"),
    ]
    assert segmented._.lex_segmentation["split_words"] == 1, "one word, split three times"
    assert joining("张三在北京大学")._.lex_segmentation["split_words"] == 0


def test_words_change_around_what_is_kept(nlp):
    """What is found is the best given the entities, and not what was found before with a border put in."""
    doc = nlp.make_doc(PLAIN[1])
    assert words(nlp(doc)) == "南京市 长江 大桥 很 长"
    doc = nlp.make_doc(PLAIN[1])
    doc.ents = [Span(doc, 2, 4, label="PER")]
    segmented = nlp(doc)
    assert [ent.text for ent in segmented.ents] == ["市长"] and segmented.text == PLAIN[1]
    assert segmented._.lex_segmentation["split_words"] == 2


def test_sentences_and_spans_are_kept(joining, caplog):
    pipe = joining.get_pipe("lex_segmenter")
    doc = joining.make_doc("我爱北京天安门")
    for token in doc:
        token.is_sent_start = token.i in (0, 4)
    doc.spans["mine"] = [Span(doc, 0, 2), Span(doc, 2, 4)]
    with caplog.at_level(logging.WARNING):
        segmented = pipe(doc.copy())
        pipe(doc.copy())
    assert words(segmented) == "我爱北京 天安门" and [sent.text for sent in segmented.sents] == ["我爱北京", "天安门"]
    assert segmented._.lex_segmentation == {
        "split_words": 1,
        "forced_words": 0,
        "refused_words": 0,
        "left_out_spans": {"mine": 2},
    }
    assert (
        len(caplog.records) == 1 and "doc.spans['mine'] has spans that do not begin and end with a word" in caplog.text
    )
    pipe.keep_spans = ["mine"]
    segmented = pipe(doc)
    assert words(segmented) == "我爱 北京 天安门" and [span.text for span in segmented.spans["mine"]] == [
        "我爱",
        "北京",
    ]


def test_spans_only():
    nlp = blank(retokenize=False, spans_key="words")
    gold = examples(nlp)
    train(nlp, gold)
    doc = nlp(PLAIN[0] + "\n\n")
    assert len(doc) == len(PLAIN[0]) + 1 and parts(doc) == " ".join("-" * len(doc))
    assert [(span.text, span.label_) for span in doc.spans["words"]] == list(zip(*map(str.split, TEXTS[0])))
    assert doc._.lex_segmentation["left_out_spans"] == {}
    assert nlp.evaluate(gold)["word_pos_f"] == 1.0
    [stored] = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert [span.text for span in stored.spans["words"]] == TEXTS[0][0].split()


def test_docs_in_words(nlp):
    doc = Doc(nlp.vocab, ["我", "爱北京", "天安", "门"], spaces=[False] * 4)
    segmented = nlp(doc)
    assert segmented is doc and words(segmented) == "我 爱北京 天安 门" and "-" not in parts(segmented)
    again = nlp.get_pipe("lex_segmenter")(nlp(PLAIN[1]))
    assert words(again) == TEXTS[1][0]


def test_the_doc_that_went_in_stays(nlp):
    doc = nlp.make_doc(PLAIN[0])
    token = doc[6]
    segmented = nlp.get_pipe("lex_segmenter")(doc)
    assert len(segmented) == 4 and len(doc) == len(PLAIN[0]) and token.text == "门" and not doc.has_annotation("POS")


def test_set_annotations_writes_spans(nlp):
    pipe, doc = nlp.get_pipe("lex_segmenter"), nlp.make_doc(PLAIN[0])
    pipe.set_annotations([doc], pipe.predict([doc]))
    assert [span.text for span in doc.spans["lex_words"]] == TEXTS[0][0].split() and len(doc) == len(PLAIN[0])


def test_constraint_holds_what_predict_finds(joining):
    pipe, doc = joining.get_pipe("lex_segmenter"), joining.make_doc("张三在ab大学\n")
    doc.ents = [Span(doc, 0, 2, label="PER")]
    [path] = pipe.model.attrs["head"].decode(pipe.model.predict([doc]), [pipe.constraint(doc)])
    assert word_starts(path).tolist() == pipe.predict([doc])[0].starts.tolist() == [0, 2, 7]


# The user's dictionary


def with_dictionary(rules, **config):
    nlp = blank(**config)
    nlp.add_pipe("lex_matcher", first=True).add_rules(rules)
    return nlp


def test_forced_words_are_never_cut():
    nlp = with_dictionary([("爱北京", "force"), ("三千", "force")])
    gold = examples(nlp)
    train(nlp, gold)
    assert words(nlp(PLAIN[0])) == "我 爱北京 天安门"
    assert nlp(PLAIN[0])._.lex_segmentation["forced_words"] == 1
    pipe, matcher = nlp.get_pipe("lex_segmenter"), nlp.get_pipe("lex_matcher")
    steer(pipe, "S-NOUN")
    assert words(nlp("我爱北京三千三")) == "我 爱北京 三千 三", "whatever the model says"
    matcher.add_rules([("我爱", "force"), ("京三",)])
    doc = nlp("我爱北京三千三")
    assert words(doc) == "我爱 北 京 三千 三", "what has most single characters"
    assert doc._.lex_segmentation["forced_words"] == 2 and doc._.lex_segmentation["refused_words"] == 1
    assert [c[:6] for c in doc._.lex_conflicts] == [("爱北京", "force", 1, 4, "overlap", "我爱")]
    matcher.remove_words(["我爱"])
    assert words(nlp("我爱北京三千三")) == "我 爱北京 三千 三"
    matcher.add_rules([("爱北京", "hint")])
    assert words(nlp("我爱北京")) == "我 爱 北 京"


def test_rules_with_parts_of_speech():
    nlp = with_dictionary([("甲乙", "force")])
    train(nlp)
    pipe, matcher = nlp.get_pipe("lex_segmenter"), nlp.get_pipe("lex_matcher")
    steer(pipe, "S-NOUN")
    matcher.add_rules(
        [("北京", "force", "PROPN"), ("爱", "forbid", "NOUN"), ("天", "forbid", "WORD"), ("我", "force", "WORD")]
    )
    doc = nlp("我爱北京天安")
    assert words(doc) == "我 爱 北京 天安" and parts(doc).split()[0] == "NOUN" and parts(doc).split()[2] == "PROPN"
    assert parts(doc).split()[1] != "NOUN" and doc._.lex_conflicts == []
    with pytest.raises(ValueError, match=r"concerns no component: lex_segmenter has the labels .*, and WORD for any"):
        matcher.add_rules([("北京", "force", "PLACE")])
    with pytest.raises(ValueError, match=r"contradict each other \(lex_segmenter\): forbid WORD and force PROPN"):
        matcher.add_rules([("北京", "force", "PROPN"), ("北京", "forbid", "WORD")])


def test_a_preferred_word():
    nlp = with_dictionary([("爱北", "prefer", "", 0.5)])
    train(nlp)
    pipe, matcher = nlp.get_pipe("lex_segmenter"), nlp.get_pipe("lex_matcher")
    steer(pipe, "S-NOUN")
    assert words(nlp("我爱北京")) == "我 爱 北 京"
    matcher.add_rules([("爱北", "prefer", "", 500.0)])
    assert words(nlp("我爱北京")) == "我 爱北 京"
    matcher.add_rules([("爱北", "prefer", "VERB", 500.0)])
    doc = nlp("我爱北京")
    assert words(doc) == "我 爱北 京" and doc[1].pos_ == "VERB"
    matcher.add_rules([("爱", "prefer", "WORD", -500.0), ("爱北", "hint")])
    assert " 爱 " not in f" {words(nlp('我爱北京'))} "


def test_entities_win_over_forced_words():
    nlp = with_dictionary([("南京市长", "force"), ("南京市长江大桥", "force")])
    train(nlp)
    doc = nlp.make_doc(PLAIN[1])
    doc.ents = [Span(doc, 0, 3, label="GPE")]
    segmented = nlp(doc)
    assert [ent.text for ent in segmented.ents] == ["南京市"] and segmented.text == PLAIN[1]
    assert segmented._.lex_segmentation["refused_words"] == 2
    assert {(c.word, c.reason, c.winner) for c in segmented._.lex_conflicts} == {
        ("南京市长", "kept", "南京市|长"),
        ("南京市长江大桥", "kept", "南京市|长江大桥"),
    }
    free = nlp(PLAIN[1])
    assert free._.lex_segmentation["refused_words"] == free._.lex_segmentation["forced_words"] == 1
    assert words(free).startswith(("南京市长江大桥 ", "南京市长 "))


def test_what_must_be_a_word_cannot_be_forbidden():
    nlp = with_dictionary([("我", "forbid", "WORD"), ("北京", "forbid", "WORD")])
    train(nlp)
    doc = nlp("我 北京")
    assert words(doc) == "我 北 京" and [c[:6] for c in doc._.lex_conflicts] == [
        ("我", "forbid WORD", 0, 1, "kept", "我")
    ]


def test_an_impossible_set_is_an_error_of_that_doc():
    nlp = with_dictionary([("北", "forbid", "WORD"), ("京", "forbid", "WORD"), ("北京", "forbid", "WORD")])
    train(nlp)
    errors = []
    nlp.set_error_handler(lambda name, proc, docs, error: errors.append((docs[0].text, str(error))))
    assert [doc.text for doc in nlp.pipe(["我 北京 爱", PLAIN[2], "北京爱"])] == [PLAIN[2], "北京爱"]
    [(text, message)] = errors
    assert (
        text == "我 北京 爱" and "lex_segmenter: No reading of" in message and "'北京' has the rules forbid" in message
    )


def test_without_a_lexicon_there_are_no_rules(nlp):
    assert words(nlp(PLAIN[0])) == TEXTS[0][0] and nlp(PLAIN[0])._.lex_conflicts == []


def test_dictionary_survives(tmp_path):
    nlp = with_dictionary([("爱北京", "force")])
    train(nlp)
    nlp.to_disk(tmp_path / "model")
    for again in (spacy.load(tmp_path / "model"), copy.deepcopy(nlp), pickle.loads(pickle.dumps(nlp))):
        assert words(again(PLAIN[0])) == "我 爱北京 天安门"


def test_settings_may_be_overridden_at_loading(nlp, tmp_path):
    trained = copy.deepcopy(nlp)
    trained.to_disk(tmp_path / "model")
    assert words(spacy.load(tmp_path / "model")(PLAIN[0])) == TEXTS[0][0]
    again = spacy.load(tmp_path / "model", config={"components": {"lex_segmenter": {"retokenize": False}}})
    doc = again(PLAIN[0])
    assert [span.text for span in doc.spans["lex_words"]] == TEXTS[0][0].split()
    assert again.evaluate(examples(again))["word_f"] == 1.0


# Streams and files


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_batches_change_nothing(nlp, batch_size):
    texts = ["", *PLAIN, " ", PLAIN[0] * 2]
    docs = list(nlp.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in docs] == texts
    assert [everything(doc) for doc in docs] == [everything(doc) for doc in map(nlp, texts)]


def test_context_goes_along(nlp):
    found = list(nlp.pipe(zip(PLAIN, range(9)), as_tuples=True))
    assert [(words(doc), number) for doc, number in found] == [(text, i) for i, (text, _) in enumerate(TEXTS)]


def test_a_document_that_fails_goes_alone(fresh, pipe):
    forward = pipe.model._func

    def failing(model, docs, is_train):
        if any("南京" in doc.text for doc in docs):
            raise RuntimeError("no such thing")
        return forward(model, docs, is_train)

    pipe.model.replace_callbacks(failing)
    failed = []
    fresh.set_error_handler(lambda name, proc, docs, error: failed.append((name, [doc.text for doc in docs])))
    assert [words(doc) for doc in fresh.pipe(PLAIN)] == [text for text, _ in TEXTS if "南京" not in text]
    assert failed == [("lex_segmenter", [PLAIN[1]])]
    assert len(fresh(PLAIN[1])) == len(PLAIN[1]), "as it was, where the handler lets it pass"


def test_several_processes(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    code = (
        "import sys, json, spacy, torch; torch.set_num_threads(1); nlp = spacy.load(sys.argv[1])\n"
        "docs = nlp.pipe(json.loads(sys.argv[2]), n_process=2, batch_size=4)\n"
        "print(json.dumps([[[t.text, t.pos_] for t in doc] + [doc._.lex_segmentation] for doc in docs]))"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "model"), json.dumps(PLAIN * 3)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=200)
    expected = [[[t.text, t.pos_] for t in doc] + [doc._.lex_segmentation] for doc in map(nlp, PLAIN * 3)]
    assert json.loads(done.stdout) == expected


def through_bytes(nlp, tmp_path):
    return load_model_from_config(nlp.config, auto_fill=True).from_bytes(nlp.to_bytes())


def through_disk(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    return spacy.load(tmp_path / "model")


def through_pickle(nlp, tmp_path):
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize("way", [through_bytes, through_disk, through_pickle])
def test_round_trips(nlp, tmp_path, way):
    again = way(nlp, tmp_path)
    before, after = nlp.get_pipe("lex_segmenter"), again.get_pipe("lex_segmenter")
    assert after.cfg == before.cfg and after.cfg["known_words"]
    assert [everything(doc) for doc in again.pipe(PLAIN)] == TEXTS
    assert again.evaluate(examples(again, [("我们 爱 手机", "PRON VERB NOUN")]))["word_oov_r"] is not None
    train(again, steps=2)


@pytest.mark.parametrize("way", [through_bytes, through_disk, through_pickle])
def test_round_trips_before_initialization(tmp_path, way):
    again = way(blank(), tmp_path)
    train(again, steps=40)
    assert again.evaluate(examples(again))["word_f"] == 1.0


def test_not_initialized():
    nlp = blank(pos=None)
    with pytest.raises(ValueError, match="E109"):
        nlp("我爱")
    with pytest.raises(ValueError, match="E109"):
        nlp.update(examples(nlp))


# Other components


def test_words_for_the_components_behind():
    """A tagger that is trained on the words of the segmenter."""
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
