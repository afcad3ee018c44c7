"""Which rules apply to a Doc: those of one state of the lexicon, whatever changes meanwhile."""

import copy
import pickle
import threading

import pytest
import small_segmenter
import spacy
from small_ner import blank, examples, train
from thinc.api import Model

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.shared_matcher import REMEMBERED
from spacy_lexner.pipeline.rule_follower import MAX_WARNINGS, RuleFollower, get_conflicts, set_conflicts
from spacy_lexner.tagging.spans.word_rules import RuleConflict

TEXT = "张三在北京上海"
STATES = {
    "LOC": [("北京", "force", "LOC"), ("上海", "force", "LOC"), ("张三", "forbid")],
    "ORG": [("北京", "force", "ORG"), ("上海", "force", "ORG"), ("张三", "force", "ORG")],
    "PER": [("北京", "force", "PER"), ("上海", "force", "PER"), ("张三", "prefer", "PER", 50)],
}
EXPECTED = {"LOC": {("北京", "LOC"), ("上海", "LOC")}}
for label in ("ORG", "PER"):
    EXPECTED[label] = {(word, label) for word in ("张三", "北京", "上海")}


@pytest.fixture(scope="module")
def trained():
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京", "上海", "张三"])
    train(nlp)
    return nlp


@pytest.fixture
def nlp(trained):
    return copy.deepcopy(trained)


def words_of(doc):
    return {(ent.text, ent.label_) for ent in doc.ents if ent.text in ("张三", "北京", "上海")}


def test_every_doc_sees_one_state_while_others_change_it(nlp):
    matcher = nlp.get_pipe("lex_matcher")
    versions = {}
    for label, rules in STATES.items():
        matcher.add_rules(rules)
        versions[matcher.version] = label
    docs, errors, done = [], [], threading.Event()

    def annotate():
        try:
            for _ in range(4):
                docs.extend(nlp.pipe([TEXT] * 100, batch_size=16))
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=annotate)
    thread.start()
    n_changes = 0
    while not done.is_set():
        for rules in STATES.values():
            matcher.add_rules(rules)
            n_changes += 1
    thread.join()
    assert not errors and len(docs) == 400 and n_changes > 20
    for doc in docs:
        assert words_of(doc) == EXPECTED[versions[doc._.lex_version]]
    assert len({doc._.lex_version for doc in docs}) == 3


def test_a_doc_keeps_the_state_that_matched_it(nlp):
    matcher, ner = nlp.get_pipe("lex_matcher"), nlp.get_pipe("lex_ner")
    matcher.add_rules(STATES["LOC"])
    version, doc = matcher.version, matcher(nlp.make_doc(TEXT))
    matcher.add_rules(STATES["ORG"])
    assert words_of(ner(doc)) == EXPECTED["LOC"] and doc._.lex_version == version
    assert words_of(nlp(TEXT)) == EXPECTED["ORG"]


def test_a_state_that_was_forgotten_is_not_claimed(nlp):
    """The Doc is annotated with the current state, and names it."""
    matcher, ner = nlp.get_pipe("lex_matcher"), nlp.get_pipe("lex_ner")
    matcher.add_rules(STATES["LOC"])
    doc = matcher(nlp.make_doc(TEXT))
    for i in range(REMEMBERED):
        matcher.add_rules([(f"新词{i}", "force", "LOC")])
    matcher.add_rules([*STATES["ORG"], ("京上",)])
    ner(doc)
    assert words_of(doc) == EXPECTED["ORG"] and doc._.lex_version == matcher.version
    assert "京上" in [match.word for match in doc._.lex_matches]


def test_docs_that_no_matcher_has_seen(nlp):
    matcher = nlp.get_pipe("lex_matcher")
    matcher.add_rules(STATES["ORG"])
    doc = nlp.get_pipe("lex_ner")(nlp.make_doc(TEXT))
    assert words_of(doc) == EXPECTED["ORG"] and doc._.lex_version is None


def test_rules_survive_files_copies_and_pickling(nlp, tmp_path):
    file = tmp_path / "rules.tsv"
    file.write_text("北京\tforce\tORG\n", "utf8")
    nlp.get_pipe("lex_matcher").load_rules(file)
    nlp.get_pipe("lex_matcher").add_rules([("上海", "forbid"), ("张三", "force", "LOC")])
    nlp.to_disk(tmp_path / "model")
    expected = {("北京", "ORG"), ("张三", "LOC")}
    for again in (nlp, spacy.load(tmp_path / "model"), copy.deepcopy(nlp), pickle.loads(pickle.dumps(nlp))):
        doc = again(TEXT)
        assert words_of(doc) == expected and doc._.lex_version == again.get_pipe("lex_matcher").version
    changed = copy.deepcopy(nlp)
    changed.get_pipe("lex_matcher").add_rules(STATES["PER"])
    assert words_of(nlp(TEXT)) == expected and words_of(changed(TEXT)) == EXPECTED["PER"]


def test_rules_reach_worker_processes(nlp):
    nlp.get_pipe("lex_matcher").add_rules(STATES["ORG"])
    for doc in nlp.pipe([TEXT] * 4, n_process=2, batch_size=1):
        assert words_of(doc) == EXPECTED["ORG"] and doc._.lex_version == nlp.get_pipe("lex_matcher").version


def test_unknown_labels_are_errors_once_labels_are_known(nlp):
    matcher = nlp.get_pipe("lex_matcher")
    with pytest.raises(
        LexiconError, match="'force SHIP' of '北京' applies to no component: lex_ner has the labels LOC"
    ):
        matcher.add_rules([("北京", "force", "SHIP")])
    nlp.get_pipe("lex_ner").add_label("SHIP")
    matcher.add_rules([("北京", "force", "SHIP")])
    assert ("北京", "SHIP") in words_of(nlp(TEXT))


def test_errors_name_a_renamed_component(nlp):
    nlp.rename_pipe("lex_ner", "names")
    nlp._link_components()
    with pytest.raises(LexiconError, match="applies to no component: names has the labels"):
        nlp.get_pipe("lex_matcher").add_rules([("北京", "force", "SHIP")])


@pytest.mark.parametrize("line", ["北京\tforce\tSHIP", "北京\tforce\tLOC\n北京\tforbid"])
def test_rules_of_the_config_are_checked_when_labels_are_known(tmp_path, line):
    file = tmp_path / "rules.tsv"
    file.write_text(line + "\n", "utf8")
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True)
    nlp.config["initialize"]["components"]["lex_matcher"] = {"rules": str(file)}
    with pytest.raises(LexiconError, match="北京"):
        nlp.initialize(lambda: examples(nlp))


def test_all_components_have_a_say(tmp_path, caplog):
    """A rule is invalid only if it concerns none of them, so the last one to get its labels checks."""
    file = tmp_path / "rules.tsv"
    file.write_text("北京\tforce\tPROPN\n北京\tforce\tLOC\n上海\tforce\tLOC\n我\tforbid\tWORD\n", "utf8")
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True)
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": small_segmenter.HASH_EMBED_CNN}
    nlp.add_pipe("lex_segmenter", config={"model": model})
    nlp.config["initialize"]["components"]["lex_matcher"] = {"rules": str(file)}
    nlp.initialize(lambda: [*examples(nlp), *small_segmenter.examples(nlp)])
    doc = nlp("我在北京上海")
    assert ("上海", "LOC") in [(ent.text, ent.label_) for ent in doc.ents]
    assert ("北京", "PROPN") in [(token.text, token.pos_) for token in doc]
    assert "我" not in [token.text for token in doc] and doc._.lex_conflicts == []
    assert not caplog.records
    file.write_text("北京\tforce\tPLACE\n", "utf8")
    with pytest.raises(LexiconError, match=r"lex_ner has the labels LOC.*; lex_segmenter has the labels"):
        nlp.get_pipe("lex_matcher").reload()


def test_a_pipe_without_a_matcher_follows_no_rules():
    nlp = blank()
    train(nlp, steps=1)
    [(words, matcher)] = nlp.get_pipe("lex_ner").rules.find([nlp.make_doc(TEXT)])
    assert not words and matcher is None


def conflict(word="长江", reason="overlap", component="ner"):
    return RuleConflict(word, "force LOC", 0, 2, reason, "江大", component)


@pytest.fixture
def doc():
    return spacy.blank("zh")("长江大桥")


def test_each_component_has_its_own(doc):
    RuleFollower(Model("tagger", lambda model, X, is_train: (X, lambda dY: dY)))  # adds doc._.lex_conflicts
    set_conflicts(doc, "ner", [conflict()])
    set_conflicts(doc, "words", [conflict("大桥", "tokens", "words")])
    assert doc._.lex_conflicts == [conflict(), conflict("大桥", "tokens", "words")]
    set_conflicts(doc, "ner", [])
    assert get_conflicts(doc) == [conflict("大桥", "tokens", "words")]
    again = spacy.tokens.Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert again._.lex_conflicts == doc._.lex_conflicts
    set_conflicts(doc, "words", [])
    assert doc._.lex_conflicts == [] and doc.user_data == {}


def test_there_is_one_warning_per_word(doc, caplog):
    rules = RuleFollower(Model("tagger", lambda model, X, is_train: (X, lambda dY: dY)))
    for _ in range(3):
        rules.report(doc, "ner", None, [conflict(), conflict(reason="tokens"), conflict("大桥")])
    assert len(caplog.records) == 3
    for i in range(100):
        rules.report(doc, "ner", None, [conflict(f"词{i}")])
    assert len(caplog.records) == MAX_WARNINGS
    assert caplog.records[-1].message.endswith("There will be no further warnings.")
