import pytest
import spacy

from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pipeline.matcher.load_lexicon import create_lexicon_loader


def read_lexicon(nlp):
    return Lexicon.from_entries([LexiconEntry("长江大桥"), LexiconEntry("南京市")])


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    return nlp


def test_the_lexicon_arrives_while_all_pipes_are_disabled(nlp):
    with nlp.select_pipes(enable=[]):
        assert create_lexicon_loader(read_lexicon)(nlp) is nlp
    assert "长江大桥" in nlp.get_pipe("lex_matcher").lexicon


def test_the_reader_of_the_component_is_the_default(nlp, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("长江\n大桥\n", "utf8")
    reader = {"@readers": "spacy-lexner.WordList.v1", "path": str(words)}
    nlp.config["initialize"]["components"]["lex_matcher"] = {"lexicon": reader}
    with nlp.select_pipes(enable=[]):
        create_lexicon_loader()(nlp)
    assert sorted(nlp.get_pipe("lex_matcher").lexicon) == ["大桥", "长江"]


def test_a_sourced_component_keeps_its_lexicon(nlp):
    nlp.get_pipe("lex_matcher").add_words(["北京"])
    target = spacy.blank("zh")
    target.add_pipe("lex_matcher", source=nlp)
    create_lexicon_loader()(target)
    assert list(target.get_pipe("lex_matcher").lexicon) == ["北京"]


def test_nothing_to_load_is_an_error_with_the_remedy(nlp):
    with pytest.raises(ValueError, match=r"no lexicon for 'lex_matcher'.*initialize.components.lex_matcher.lexicon"):
        create_lexicon_loader()(nlp)


def test_it_must_be_clear_which_component_is_meant(nlp):
    with pytest.raises(ValueError, match=r"needs one lex_matcher .*there is none \(components: \)"):
        create_lexicon_loader(read_lexicon)(spacy.blank("zh"))
    nlp.add_pipe("lex_matcher", name="second")
    with pytest.raises(ValueError, match="there are lex_matcher, second"):
        create_lexicon_loader(read_lexicon)(nlp)
    create_lexicon_loader(read_lexicon, component="second")(nlp)
    assert nlp.get_pipe("second").source.matcher is not None
    assert nlp.get_pipe("lex_matcher").source.matcher is None
    with pytest.raises(ValueError, match="a lex_matcher called 'third'"):
        create_lexicon_loader(read_lexicon, component="third")(nlp)
