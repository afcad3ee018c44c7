"""SoftLexicon.v1 in spaCy: configs, pipes, training, saving."""

import pytest
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import ConfigValidationError

SOFT = {"@architectures": "spacy-lexner.SoftLexicon.v1", "width": 32, "dropout": 0.0}
TEXTS = [("小明住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]), ("小红去北京了", [(0, 2, "PER"), (3, 5, "LOC")])]
TEXTS += [("今天没有事", []), ("", [])]
WORDS = ["南京", "南京市", "北京", "小明", "小红", "事"]
ENGLISH = [("He left New York.", [(8, 16, "GPE")]), ("New ideas from Boston", [(15, 21, "GPE")])]


def train(nlp, texts, steps=60):
    fix_random_seed(0)
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in texts]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, drop=0.0, annotates=["lex_matcher"])
    return nlp


def ner_with(language="zh", lexicon=WORDS, **settings):
    nlp = spacy.blank(language)
    nlp.add_pipe("lex_matcher", config={"min_length": 1}).add_words(lexicon)
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": {**SOFT, **settings}}
    nlp.add_pipe("lex_ner", config={"model": model})
    return nlp


def entities(nlp, texts=TEXTS):
    return [[(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] for doc in nlp.pipe(t for t, _ in texts)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"network": "cnn", "layers": 3},
        {"words": "frozen", "layers": 2, "smoothing": 0.0, "embedding": {"bigrams": False}},
    ],
)
def test_lex_ner_learns_and_comes_back_from_disk(tmp_path, settings):
    nlp = train(ner_with(**settings), TEXTS)
    gold = [spans for _, spans in TEXTS]
    assert entities(nlp) == gold
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert entities(loaded) == gold
    scores = [[ent._.lex_score for ent in pipeline("小红去南京市").ents] for pipeline in (nlp, loaded)]
    assert scores[0] == scores[1] != []


def test_english_tokens():
    nlp = train(ner_with("en", ["New York", "Boston"]), ENGLISH)
    assert entities(nlp, ENGLISH) == [spans for _, spans in ENGLISH]


def test_as_a_shared_tok2vec_pipe():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(WORDS)
    nlp.add_pipe("tok2vec", config={"model": SOFT})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    nlp.add_pipe("tagger", config={"model": {"tok2vec": listener}})
    doc = nlp.make_doc("小明来了")
    example = Example.from_dict(doc, {"tags": ["N", "N", "V", "U"]})
    with pytest.warns(UserWarning, match=r"(?s)SoftLexicon makes its vocabulary.*collect_texts\.v1"):
        optimizer = nlp.initialize(lambda: [example])
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update([example], sgd=optimizer, drop=0.0, annotates=["lex_matcher"])
    assert [token.tag_ for token in nlp("小明来了")] == ["N", "N", "V", "U"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"width": 33}, "width = 33 is odd"),
        ({"network": "gru"}, r"network\s+at root: 'gru' is not typing.Literal\['lstm', 'cnn'\]"),
        ({"smoothing": -1.0}, r"smoothing\s+got -1.0, expected float of at least 0"),
        ({"dropout": 1.5}, r"dropout\s+got 1.5, expected float from 0 to 1"),
        ({"token_dropout": 1.5}, r"token_dropout\s+got 1.5, expected float from 0 to 1"),
        ({"window": 0}, r"window\s+got 0, expected int of at least 1"),
        ({"bigrams": False}, r"\[...embedding\] bigrams"),
        ({"embedding": {"bigram": False}}, r"embedding -> bigram\s+unknown option"),
    ],
)
def test_config_errors_name_the_argument(change, named):
    with pytest.raises((ConfigValidationError, ValueError), match=named):
        ner_with(**change)
