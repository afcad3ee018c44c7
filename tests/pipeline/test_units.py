"""The units that a tagger reads: the setting, and the tokenizer where they are tokens."""

import logging

import pytest
import spacy
from small_ner import HASH_EMBED_CNN, TEXTS, blank, examples, train
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32, "upstream": "*"}
JIEBA = {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "jieba"}
CHAR_TOKENIZER = {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}


class InPairs:
    """A tokenizer that makes words of two characters."""

    def __init__(self, nlp):
        self.vocab = nlp.vocab

    def __call__(self, text):
        words = [text[i : i + 2] for i in range(0, len(text), 2)]
        return Doc(self.vocab, words, spaces=[False] * len(words))


def listening(**config):
    nlp = blank(tok2vec=LISTENER, **config)
    nlp.add_pipe("tok2vec", first=True, config={"model": HASH_EMBED_CNN})
    return nlp


def on_tokens():
    """A trained pipeline whose lex_ner tags the tokens of spaCy's char segmenter."""
    nlp = blank(units="tokens")
    train(nlp, steps=1)
    return nlp


def move(nlp, **config):
    """Another pipeline with the lex_ner of a trained one."""
    other = spacy.blank("zh", config={"nlp": config} if config else {})
    other.add_pipe("lex_ner", source=nlp)
    return other


def test_auto():
    assert blank().get_pipe("lex_ner").units == "characters"
    assert blank(units="tokens").get_pipe("lex_ner").units == "tokens"
    assert listening().get_pipe("lex_ner").units == "tokens", "a shared encoder has vectors of tokens"
    english = spacy.blank("en")
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": HASH_EMBED_CNN}
    assert english.add_pipe("lex_ner", config={"model": model}).units == "tokens"
    with pytest.raises(ValueError, match="the language is 'en'"):
        english.add_pipe("lex_ner", name="other", config={"model": model, "units": "characters"})
    with pytest.raises(ValueError, match="or the model has a listener"):
        listening(units="characters")


def test_what_is_settled_is_saved(tmp_path):
    nlp = blank()
    train(nlp, steps=1)
    assert (nlp.get_pipe("lex_ner").cfg["units"], nlp.get_pipe("lex_ner").cfg["tokenizer"]) == ("characters", None)
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("lex_ner").cfg["units"] == "characters"
    changed = spacy.load(tmp_path, config={"components": {"lex_ner": {"units": "tokens"}}})
    assert changed.get_pipe("lex_ner").units == "tokens", "a setting that says so wins"


def test_a_component_of_tokens_remembers_its_tokenizer(tmp_path, caplog):
    nlp = on_tokens()
    assert nlp.get_pipe("lex_ner").cfg["tokenizer"] == "ChineseTokenizer (segmenter = char)"
    nlp.to_disk(tmp_path)
    with caplog.at_level(logging.WARNING):
        spacy.load(tmp_path)
        spacy.load(tmp_path, config={"nlp": {"tokenizer": CHAR_TOKENIZER}})
        assert not caplog.records, "both give characters"
        spacy.load(tmp_path, config={"nlp": {"tokenizer": JIEBA}}, exclude=["tokenizer"])
    [record] = caplog.records
    for name in (
        "trained with the tokenizer ChineseTokenizer (segmenter = char)",
        "ChineseTokenizer (segmenter = jieba)",
    ):
        assert name in record.message


def test_a_custom_tokenizer_is_named(caplog):
    nlp = blank(units="tokens")
    nlp.tokenizer = InPairs(nlp)
    gold = [Example.from_dict(nlp.make_doc(text), {}) for text, _ in TEXTS]
    nlp.initialize(lambda: [*gold, *examples(spacy.blank("zh"))])
    assert nlp.get_pipe("lex_ner").cfg["tokenizer"] == "InPairs"


def test_sourced_into_another_tokenizer(caplog):
    nlp = on_tokens()
    other = move(nlp, tokenizer=JIEBA)
    with caplog.at_level(logging.WARNING):
        nlp("张三在北京大学工作")
        assert not caplog.records
        for _ in range(2):
            other("张三在北京大学工作")
    [record] = caplog.records
    assert "ChineseTokenizer (segmenter = char), which gives '张|三|在|北|京|大|学|工'" in record.message
    assert "one that gives '张三在|北京大学|工作'" in record.message


def test_sourced_into_the_same_tokenizer(caplog):
    other = move(on_tokens())  # its original pipeline is deleted
    with caplog.at_level(logging.WARNING):
        other("张三在北京大学工作")
    assert not caplog.records


def test_characters_do_not_care_for_tokenizers(caplog):
    nlp = blank()
    train(nlp, steps=1)
    other = move(nlp, tokenizer=JIEBA)
    with caplog.at_level(logging.WARNING):
        other("张三在北京大学工作")
    assert not caplog.records


def test_a_vocabulary_without_language_is_refused():
    nlp = blank()
    train(nlp, steps=1)
    with pytest.raises(ValueError, match=r"the vocabulary of the Doc '张三.*' has the language ''\. Make or load"):
        nlp.get_pipe("lex_ner")(Doc(Vocab(), words=["张三"]))
