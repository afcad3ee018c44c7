import pytest
import spacy
from spacy.training import Example

from spacy_lexner.pipeline.ner.note_words import note_words


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市"])
    nlp.add_pipe("lex_ner")
    example = Example.from_dict(nlp.make_doc("在南京市"), {"entities": [(1, 4, "GPE")]})
    optimizer = nlp.initialize(lambda: [example])
    for _ in range(40):
        nlp.update([example], sgd=optimizer)
    return nlp


def test_words_are_noted_for_a_while(nlp):
    assert nlp("在南京市").ents[0]._.lex_words is None
    with note_words(nlp):
        assert {word.word for word in nlp("在南京市").ents[0]._.lex_words} == {"南京", "南京市"}
    assert nlp("在南京市").ents[0]._.lex_words is None


def test_settings_come_back(nlp):
    nlp.get_pipe("lex_ner").note_words = True
    with pytest.raises(KeyError), note_words(nlp):
        raise KeyError
    assert nlp.get_pipe("lex_ner").note_words is True


def test_a_pipeline_without_lex_ner():
    with note_words(spacy.blank("zh")):
        pass
