import spacy

from spacy_lexner.pipeline.lexicon_provider import find_lexicon, find_matchers


def test_matchers():
    nlp = spacy.blank("zh")
    assert find_matchers(nlp) == {} and find_lexicon(nlp) is None
    empty = nlp.add_pipe("lex_matcher", name="empty")
    nlp.add_pipe("sentencizer")
    assert find_matchers(nlp) == {"empty": empty} and find_lexicon(nlp) is None
    matcher = nlp.add_pipe("lex_matcher", name="full")
    matcher.add_words(["南京"])
    assert list(find_matchers(nlp)) == ["empty", "full"] and find_lexicon(nlp) is matcher.lexicon
    with nlp.select_pipes(disable="full"):
        assert find_matchers(nlp) == {"empty": empty}
