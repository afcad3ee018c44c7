"""What encoders report about their attention to words."""

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from tolerance import near

N_TERMS = 2 * 100  # layers, and their longest sum: the vectors of a character and of its bigram
TEXTS = ["南京市长江大桥", "", "哈哈哈哈", "大桥很长", "长江 大桥"]
WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "哈哈", "哈哈哈"]
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", "hidden_width": 16, "heads": 2, "adapter_layers": [0, 1]}
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 16, "heads": 2, "layers": 2}


PIPELINES = []  # a model without its pipeline has no lexicon


def make(encoder, words=WORDS, texts=TEXTS):
    nlp = spacy.blank("zh")
    PIPELINES.append(nlp)
    nlp.add_pipe("lex_matcher").add_words(words)
    nlp.add_pipe("tok2vec", config={"model": encoder})
    torch.manual_seed(0)
    with pytest.warns(UserWarning, match="saw only a sample"):
        nlp.initialize(lambda: [spacy.training.Example.from_dict(nlp.make_doc(text), {}) for text in texts if text])
    node = next(node for node in nlp.get_pipe("tok2vec").model.walk() if node.name in ("lebert", "flat"))
    return node, [nlp.make_doc(text) for text in texts]


def table(attended, doc):
    """Weights by token and text of the word."""
    weights = {}
    for token, start, end, weight in zip(*(column.tolist() for column in attended)):
        key = (token, start, doc[start:end].text)
        weights[key] = weights.get(key, 0.0) + weight
    return weights


@pytest.mark.parametrize("options", [{}, {"max_batch_tokens": 12}, {"window": 6, "stride": 3}])
def test_lebert_attends_to_the_words_that_cover_a_token(options):
    node, docs = make({**LEBERT, **options})
    attended = node.attrs["attend"](node, docs)
    weights = table(attended[0], docs[0])
    assert {(token, word) for token, _, word in weights} == {
        *((token, word) for word, begin in (("南京", 0), ("南京市", 0), ("市长", 2), ("长江", 3), ("大桥", 5))
          for token in range(begin, begin + len(word))),
        *((token, "长江大桥") for token in range(3, 7)),
    }  # fmt: skip
    for doc, own in zip(docs, attended):
        for token in range(len(doc)):
            assert own.weights[own.tokens == token].sum() == near(1.0, N_TERMS) or token not in own.tokens
    assert table(attended[3], docs[3]) == near({(0, 0, "大桥"): 1.0, (1, 0, "大桥"): 1.0}, N_TERMS)
    # The same word may cover a token twice: each occurrence has its own weight.
    assert {first for token, first, word in table(attended[2], docs[2]) if token == 1 and word == "哈哈"} == {0, 1}


def test_lebert_means_over_its_adapters():
    node, docs = make(LEBERT)
    module, record = node.shims[0].module, []
    for adapter in module.adapters.values():
        attend = adapter.attend
        adapter.attend = lambda *args, attend=attend: record.append(args[3]) or attend(*args)
    weights = node.attrs["attend"](node, docs[:1])[0].weights
    assert len(record) == 2 and len(record[0]) == 2
    assert weights.sum() == near(7.0, N_TERMS)
    node.predict(docs)
    assert record[-1] is None  # prediction keeps nothing


@pytest.mark.parametrize(
    "options", [{}, {"max_batch_tokens": 16}, {"positions": {"kind": "scalar"}}, {"words": "frozen"}]
)
def test_flat_attends_to_all_words_of_a_window(options):
    node, docs = make({**FLAT, **options})
    attended = node.attrs["attend"](node, docs)
    weights = table(attended[0], docs[0])
    words = {(0, "南京"), (0, "南京市"), (2, "市长"), (3, "长江"), (3, "长江大桥"), (5, "大桥")}
    assert {(first, word) for _, first, word in weights} == words and len(weights) == 7 * len(words)
    for token in range(7):
        assert 0 < attended[0].weights[attended[0].tokens == token].sum() < 1  # the rest goes to characters
    alone = node.attrs["attend"](node, docs[:1])[0]
    assert table(alone, docs[0]) == near(weights, N_TERMS)
    assert node.attrs["attend"](node, []) == []


def test_tokens_of_several_characters_have_the_mean_of_their_characters():
    """Words within tokens and across their borders get attention, but do not align with tokens."""
    for encoder in (LEBERT, FLAT):
        node, docs = make(encoder)
        doc = Doc(docs[0].vocab, words=["南京市", "长江", "大桥"], spaces=[False] * 3)
        (attended,), (characters,) = (node.attrs["attend"](node, [each]) for each in (doc, docs[0]))
        weights, exact = table(attended, doc), table(characters, docs[0])
        assert {word for _, _, word in weights} == {"南京市", "长江", "长江大桥", "大桥"}
        for (token, start, word), weight in weights.items():
            first = [0, 3, 5][start]
            own = [exact.get((unit, first, word), 0.0) for unit in ([0, 1, 2], [3, 4], [5, 6])[token]]
            assert weight == near(np.mean(own), N_TERMS)


def test_encoders_without_words_say_nothing():
    assert "attend" not in make({**FLAT, "words": "none"})[0].attrs
    nlp = spacy.blank("zh")
    nlp.add_pipe("tok2vec", config={"model": {**LEBERT, "adapter_layers": []}})
    assert not any("attend" in node.attrs for node in nlp.get_pipe("tok2vec").model.walk())
