"""A lexicon and the models that read it: links, copies, widths, and one lexicon for each Doc."""

import copy
import logging
import threading

import numpy as np
import pytest
import spacy
from small_ner import HASH_EMBED_CNN, TEXTS, blank, examples, found
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.ty import ListenedToComponent
from spacy.util import load_model_from_config
from thinc.api import Model

from spacy_lexner.candidates.lexicon_node import LexiconCandidates, RulesLink, training_matcher
from spacy_lexner.candidates.storage import get_candidates
from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError
from spacy_lexner.lexicon.rules import RuleReader
from spacy_lexner.pipeline.linked_pipe import LinkedPipe

WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "江大桥", "京"]
TEXT = "南京市长江大桥"
FOUND = ["南京", "南京市", "市长", "长江", "长江大桥", "江大桥", "大桥"]


def make_nlp(words=WORDS):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(words)
    return nlp


class Reader:
    """A component whose model reads candidate words."""

    def __init__(self, name):
        self.name = name
        self.model = Model("outer", lambda m, X, is_train: m.layers[0](X, is_train), layers=[LexiconCandidates()])

    def __call__(self, doc):
        doc.user_data["seen"] = self.model.predict([doc])[0]
        return doc


@spacy.Language.factory("test_lexicon_reader")
def make_reader(nlp, name):
    return Reader(name)


def make_linked():
    nlp = make_nlp()
    nlp.add_pipe("test_lexicon_reader", name="reader")
    nlp._link_components()
    return nlp


def test_linked_model_sees_the_words():
    nlp = make_linked()
    doc = nlp(TEXT)
    seen, _ = doc.user_data["seen"]
    assert [doc.text[a:b] for a, b in zip(seen.starts, seen.ends)] == FOUND
    assert list(nlp.get_pipe("lex_matcher").listener_map) == ["reader"]


def test_links_survive_loading_and_copies(tmp_path):
    nlp = make_linked()
    nlp.to_disk(tmp_path)
    for other in (spacy.load(tmp_path), copy.deepcopy(nlp)):
        assert len(other(TEXT).user_data["seen"][0].starts) == len(FOUND)
    copied = nlp.get_pipe("reader").model.copy()
    assert len(copied.predict([nlp.make_doc(TEXT)])[0][0].starts) == len(FOUND)


def test_a_copied_pipeline_has_a_lexicon_of_its_own():
    nlp = make_linked()
    copied = copy.deepcopy(nlp)
    copied.get_pipe("lex_matcher").set_lexicon(Lexicon.from_entries([LexiconEntry("南京")]))
    assert len(copied(TEXT).user_data["seen"][0].starts) == 1
    assert len(nlp(TEXT).user_data["seen"][0].starts) == len(FOUND)


def test_a_doc_that_the_matcher_has_not_seen_is_matched_by_the_model():
    nlp = make_linked()
    assert len(nlp.get_pipe("reader").model.predict([nlp.make_doc(TEXT)])[0][0].starts) == len(FOUND)
    other = make_nlp(["南京"])(TEXT)
    assert len(nlp.get_pipe("reader").model.predict([other])[0][0].starts) == len(FOUND)


def test_model_without_matcher_or_before_it():
    nlp = spacy.blank("zh")
    nlp.add_pipe("test_lexicon_reader", name="reader")
    with pytest.raises(ValueError, match="before the component"):
        nlp(TEXT)
    nlp.add_pipe("lex_matcher").add_words(WORDS)
    nlp._link_components()
    with pytest.raises(ValueError, match="before the component"):
        nlp(TEXT)


def test_sourcing_shares_the_component():
    nlp = make_linked()
    other = spacy.blank("zh")
    other.add_pipe("lex_matcher", source=nlp)
    assert other.get_pipe("lex_matcher") is nlp.get_pipe("lex_matcher")
    assert [match.word for match in other(TEXT)._.lex_matches] == FOUND


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A saved pipeline whose `lex_ner` listens to a tok2vec."""
    nlp = blank(tok2vec={"@architectures": "spacy.Tok2VecListener.v1", "width": 32})
    nlp.add_pipe("tok2vec", first=True, config={"model": HASH_EMBED_CNN})
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京大学"])
    nlp.initialize(lambda: examples(nlp))
    path = tmp_path_factory.mktemp("shared")
    nlp.to_disk(path)
    return path


def linked_components(nlp):
    matcher = nlp.get_pipe("lex_matcher")
    assert isinstance(matcher, ListenedToComponent)
    return list(matcher.listener_map)


def test_the_lexicon_is_no_shared_encoder_to_copy(shared):
    source = {"source": str(shared)}
    components = {"lex_matcher": source, "lex_ner": {**source, "replace_listeners": ["model.tok2vec"]}}
    config = {"nlp": {"lang": "zh", "pipeline": list(components)}, "components": components}
    nlp = load_model_from_config(config, auto_fill=True)
    assert nlp.get_pipe_config("lex_ner")["model"]["tok2vec"]["@architectures"] == "spacy.HashEmbedCNN.v2"
    assert linked_components(nlp) == ["lex_ner"]
    texts = [text for text, _ in TEXTS]
    assert list(map(found, nlp.pipe(texts))) == list(map(found, spacy.load(shared).pipe(texts)))


@pytest.mark.parametrize("frozen", [["lex_ner"], ["lex_matcher"]])
def test_freezing_beside_the_lexicon_is_no_mistake(shared, frozen, tmp_path, caplog):
    nlp = spacy.load(shared)
    nlp.replace_listeners("tok2vec", "lex_ner", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    nlp.to_disk(tmp_path / "nlp")
    DocBin(docs=[example.reference for example in examples(nlp)]).to_disk(tmp_path / "train.spacy")
    config = nlp.config.copy()
    config["components"] = {name: {"source": str(tmp_path / "nlp")} for name in nlp.pipe_names}
    config["paths"] |= dict.fromkeys(("train", "dev"), str(tmp_path / "train.spacy"))
    config["training"]["frozen_components"] = frozen
    with caplog.at_level(logging.WARNING, logger="spacy"):
        other = init_nlp(config)
    assert linked_components(other) == ["lex_ner"]
    assert not [record.message for record in caplog.records if "W08" in record.message]


def test_links_follow_the_names_of_components(shared):
    nlp = spacy.load(shared)
    assert linked_components(nlp) == ["lex_ner"] == nlp.get_pipe("tok2vec").listening_components
    nlp.rename_pipe("lex_ner", "names")
    nlp._link_components()
    assert linked_components(nlp) == ["names"]
    assert "lex_matcher" in nlp.analyze_pipes()["summary"]
    nlp.remove_pipe("names")
    nlp._link_components()
    assert linked_components(nlp) == []


def test_another_width_than_in_training_is_refused():
    nlp = make_linked()
    matcher, wide = nlp.get_pipe("lex_matcher"), LexiconEntry("南京", np.ones(3, "f4"))
    training_matcher(matcher.listeners[0])
    version = matcher.version
    for change in (lambda: matcher.set_lexicon(Lexicon.from_entries([wide])), lambda: matcher.add_words([wide])):
        with pytest.raises(ValueError, match="3 dimensions, but reader was trained with 0"):
            change()
    assert matcher.version == version
    matcher.set_lexicon(Lexicon.from_entries([]))
    matcher.set_lexicon(Lexicon.from_entries(map(LexiconEntry, WORDS)))
    nlp.initialize()
    assert matcher.version == version


def test_any_width_fits_before_training():
    nlp = make_linked()
    nlp.get_pipe("lex_matcher").set_lexicon(Lexicon.from_entries([LexiconEntry("南京", np.ones(3, "f4"))]))
    assert nlp.get_pipe("lex_matcher").lexicon.dim == 3


def test_every_doc_sees_one_lexicon_during_swaps():
    nlp = make_linked()
    matcher = nlp.get_pipe("lex_matcher")
    small, large = Lexicon.from_entries([LexiconEntry("南京")]), Lexicon.from_entries(map(LexiconEntry, WORDS))
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            matcher.set_lexicon(small)
            matcher.set_lexicon(large)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        docs = list(nlp.pipe([TEXT] * 200, batch_size=3))
    finally:
        stop.set()
        thread.join()
    for doc in docs:
        (seen, lexicon), stored = doc.user_data["seen"], get_candidates(doc)
        assert len(seen.starts) == len(stored[1].starts) in (1, len(FOUND))
        assert (lexicon.rows(seen.hashes) >= 0).all()
        assert len(lexicon) == {1: 1, len(FOUND): len(WORDS)}[len(seen.starts)]


def test_nodes_are_registered_once():
    pipe, link = LinkedPipe("owner"), RulesLink()
    node = Model("tagger", lambda model, X, is_train: (X, lambda dY: dY), attrs={"link": link})
    pipe.add_listener(node, "lex_ner")
    pipe.add_listener(node, "lex_ner")
    assert pipe.listeners == [node] and pipe.rules_links == [link] and pipe.rule_readers == []
    link.reader = RuleReader("lex_ner", frozenset(["LOC"]), frozenset())
    assert pipe.rule_readers == [link.reader] and list(pipe.listener_map) == ["lex_ner"]
    assert pipe.remove_listener(node, "lex_ner") and not pipe.remove_listener(node, "lex_ner")
    assert pipe.listeners == pipe.rule_readers == [] and not pipe.listener_map


def make_two_matchers(*names, **labels):
    """A pipeline of these components; those with labels are `lex_ner`."""
    nlp = spacy.blank("zh")
    for name in names:
        if name in labels:
            nlp.add_pipe("lex_ner", name=name).add_label(labels[name])
        else:
            nlp.add_pipe("lex_matcher", name=name).add_words(WORDS)
    nlp._link_components()
    return nlp


def test_each_component_follows_the_rules_of_the_matcher_before_it(caplog):
    nlp = make_two_matchers("first", "places", "second", "people", places="LOC", people="PER")
    first, second = nlp.get_pipe("first"), nlp.get_pipe("second")
    with pytest.raises(LexiconError, match="'force PER' of '长江' applies to no component: places has the labels LOC"):
        first.add_rules([("长江", "force", "PER")])
    first.add_rules([("长江", "force", "LOC")])
    with pytest.raises(LexiconError, match="people has the labels PER"):
        second.add_rules([("长江", "force", "LOC")])
    second.add_rules([("长江", "force", "PER")])
    with nlp.select_pipes(enable=["first", "second"]):
        nlp(TEXT)
    assert not caplog.records
    nlp.remove_pipe("second")
    first.add_rules([("长江", "force", "PER")])


def test_only_the_matcher_that_a_model_reads_must_have_vectors_of_its_width():
    nlp = make_two_matchers("first", "second", "places", places="LOC")
    first, second = nlp.get_pipe("first"), nlp.get_pipe("second")
    for node in second.listeners:
        if not isinstance(node.attrs["link"], RulesLink):
            training_matcher(node)
    wide = Lexicon.from_entries([LexiconEntry("南京", np.ones(3, "f4"))])
    with pytest.raises(ValueError, match="places was trained with 0"):
        second.set_lexicon(wide)
    first.set_lexicon(wide)


def test_words_and_rules_that_no_component_reads(caplog):
    nlp = make_two_matchers("first", "second", "places", "people", places="LOC", people="PER")
    message = "'长江' apply to no component: places, people read the lexicon of 'second', not that of 'first'"
    with pytest.raises(LexiconError, match=message):
        nlp.get_pipe("first").add_rules([("长江", "force", "LOC")])
    with nlp.select_pipes(enable=["first", "second"]):
        nlp(TEXT)
        nlp(TEXT)
    expected = "first: no component reads its words: places, people read the lexicon of 'second'."
    assert [record.message.startswith(expected) for record in caplog.records] == [True]
    del caplog.records[:]
    nlp = make_two_matchers("first", "second")
    nlp(TEXT)
    assert not caplog.records
