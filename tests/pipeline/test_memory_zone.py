"""All components work in spaCy's memory zones, and leave nothing in the vocabulary."""

import pytest
import small_ner
import small_segmenter
import spacy

WORDS = ["北京大学", "南京", "上海"]
TEXTS = ["张三在北京大学工作", "李四去南京", "abc12在上海xyz34"]
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 16, "heads": 2}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", "hidden_width": 16, "depth": 1, "heads": 2}


def make_ner(encoder):
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    nlp.add_pipe("lex_matcher", config={"spans_key": "words"}).add_words(WORDS)
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": encoder}, "uncertain": [0.01, 0.99], "n_alternatives": 2})
    small_ner.train(nlp, steps=10)
    return nlp


def make_segmenter():
    nlp = small_segmenter.blank()
    nlp.add_pipe("lex_matcher", first=True).add_words(WORDS)
    small_segmenter.train(nlp, steps=10)
    return nlp


def read(doc):
    """What to keep of a Doc, as Python values."""
    ents = [(ent.text, ent.label_) for ent in doc.ents]
    words = [(match.start, match.end, match.word) for match in doc._.lex_matches]
    return doc.text, [token.pos_ for token in doc], ents, words, dict(doc.user_data)


@pytest.mark.parametrize("make", [lambda: make_ner(FLAT), lambda: make_ner(LEBERT), make_segmenter])
def test_same_annotation_and_no_new_strings(make):
    nlp = make()
    found = []
    for _ in range(3):
        before = len(nlp.vocab.strings)
        with nlp.memory_zone():
            found.append([read(doc) for doc in nlp.pipe(TEXTS)])
        assert len(nlp.vocab.strings) == before
    assert [read(doc)[:4] for doc in nlp.pipe(TEXTS)] == [row[:4] for row in found[0]]
    assert found[1] == found[2] == found[0]
