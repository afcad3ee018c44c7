import copy
import pickle

import pytest
import spacy
from spacy.lang.zh import Chinese
from spacy.training import Example
from thinc.api import Adam

from spacy_lexner.candidates.lexicon_node import LexiconLink, RulesLink
from spacy_lexner.candidates.storage import find_candidates, renew_candidates, set_candidates
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher
from spacy_lexner.lexicon.shared_matcher import REMEMBERED, SharedMatcher

NOT_MATCHED = r"its `lex_matcher` has not run on '南京市长江大桥'.*enable it.*source it too"


def matcher(*words):
    return Matcher(Lexicon.from_entries(map(LexiconEntry, words)))


@pytest.fixture
def doc():
    return spacy.blank("zh")("南京市长江大桥")


def matched(doc, by):
    set_candidates(doc, by.version, find_candidates(by, [doc])[0])
    return doc


def test_vectors_need_a_lexicon_and_rules_do_not(doc):
    with pytest.raises(ValueError, match="no lexicon is linked to it"):
        LexiconLink().require()
    assert RulesLink().matchers([doc, doc]) == [None, None]
    with RulesLink().pinned():
        pass


def test_the_state_that_holds_for_a_doc(doc):
    link, first, second = RulesLink(), matcher("南京"), matcher("长江")
    link.source = SharedMatcher()
    assert link.matchers([doc]) == [None]
    link.source.set(first)
    assert link.matchers([doc]) == [first]
    matched(doc, first)
    link.source.set(second)
    assert link.matchers([doc]) == [first] and link.matchers([doc.copy()]) == [first]
    for i in range(REMEMBERED):
        link.source.set(matcher(f"词{i}"))
    assert link.matchers([doc]) == [link.source.matcher]


def trained():
    """A trained pipeline whose `ner` of spaCy's own reads words."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市", "长江大桥"])
    encoder = {"@architectures": "spacy-lexner.LEBERT.v1", "hidden_width": 8, "intermediate_width": 8, "heads": 1}
    tagger = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": encoder}
    nlp.add_pipe("lex_ner", config={"model": tagger})
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": encoder}})
    annotation = {"entities": [(0, 3, "LOC")], "tags": list("abcdefg")}
    example = Example.from_dict(nlp.make_doc("南京市长江大桥"), annotation)
    with pytest.warns(UserWarning, match="saw only a sample"):
        nlp.initialize(lambda: [example])
    return nlp


@pytest.mark.parametrize("component", ["lex_ner", "tagger"])
@pytest.mark.parametrize("alive", [True, False])
def test_sourced_without_its_matcher(component, alive):
    """The first text fails, whether the other pipeline still exists or not."""
    nlp = trained()
    other = spacy.blank("zh", vocab=True if alive else nlp.vocab)
    other.add_pipe(component, source=nlp)
    if not alive:
        del nlp
    with pytest.raises(ValueError, match=NOT_MATCHED):
        other("南京市长江大桥")
    if alive:
        assert nlp("南京市长江大桥")._.lex_matches, "the other pipeline still works"
        other.add_pipe("lex_matcher", source=nlp, first=True)
        assert other("南京市长江大桥")._.lex_matches
        with other.select_pipes(disable="lex_matcher"), pytest.raises(ValueError, match=NOT_MATCHED):
            other("南京市长江大桥")


def test_a_sourced_pipeline_learns_without_annotating_components():
    nlp, other = trained(), spacy.blank("zh")
    for name in ("lex_matcher", "lex_ner"):
        other.add_pipe(name, source=nlp)
    example = Example.from_dict(other.make_doc("南京市长江大桥"), {"entities": [(0, 3, "LOC")]})
    assert other.update([example], sgd=Adam(0.001))["lex_ner"] > 0
    assert other("南京市长江大桥")._.lex_matches


def test_sourced_by_a_config_without_its_matcher(tmp_path):
    trained().to_disk(tmp_path)
    config = {"nlp": {"lang": "zh", "pipeline": ["lex_ner"]}, "components": {"lex_ner": {"source": str(tmp_path)}}}
    other = Chinese.from_config(config)
    with pytest.raises(ValueError, match=NOT_MATCHED):
        other("南京市长江大桥")
    config["nlp"]["pipeline"].insert(0, "lex_matcher")
    config["components"]["lex_matcher"] = {"source": str(tmp_path)}
    assert Chinese.from_config(config)("南京市长江大桥")._.lex_matches


def test_links_of_copies_and_pickles():
    nlp = trained()
    for other in (copy.deepcopy(nlp), pickle.loads(pickle.dumps(nlp))):
        doc = other.make_doc("南京市长江大桥")
        assert not other.get_pipe("lex_ner").model.attrs["link"].is_stale(doc)
        other.get_pipe("lex_ner").predict([doc])
        assert len(other.get_pipe("lex_ner")(other.make_doc("南京"))) == 2
    assert [len(doc) for doc in nlp.pipe(["南京市"] * 4, n_process=2)] == [3] * 4


def test_rules_of_a_matcher_that_is_not_there_do_not_hold():
    nlp = trained()
    nlp.get_pipe("lex_matcher").add_rules([("长江", "force", "LOC")])
    link = nlp.get_pipe("lex_ner").model.attrs["link"]
    assert link.matchers([nlp.make_doc("长江")]) == [nlp.get_pipe("lex_matcher").matcher]
    assert link.matchers([spacy.blank("zh").make_doc("长江")]) == [None]


def test_within_pinned_nothing_changes(doc):
    link, first = RulesLink(), matcher("南京")
    link.source = SharedMatcher(first)
    with link.pinned():
        link.source.set(matcher("长江"))
        assert link.matchers([doc]) == [first]
    assert link.matchers([doc]) != [first]


def test_candidates_are_renewed_only_for_another_state(doc):
    first, second = matcher("南京"), matcher("长江")
    renew_candidates(doc, first)
    assert not doc.user_data, "no matcher has run on it"
    matched(doc, first)
    before = dict(doc.user_data)
    renew_candidates(doc, first)
    assert doc.user_data == before
    renew_candidates(doc, second)
    assert doc.user_data == matched(doc.copy(), second).user_data != before
