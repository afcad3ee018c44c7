import spacy
from thinc.api import Model, chain

from spacy_lexner.candidates.training_texts import ATTRIBUTE, TrainingTexts, pass_training_docs, show_training_docs


def make_node(**wanted):
    return Model("node", lambda model, docs, is_train: (docs, lambda d: d), attrs={ATTRIBUTE: TrainingTexts(**wanted)})


def test_every_node_that_wants_them_sees_all_docs():
    nlp = spacy.blank("zh")
    tokens, texts = make_node(tokens=True, texts=False), make_node(tokens=False, texts=True)
    show_training_docs(chain(tokens, texts), (nlp.make_doc(text) for text in ("南南京", "京")))
    tokens, texts = tokens.attrs[ATTRIBUTE], texts.attrs[ATTRIBUTE]
    assert tokens.n_docs == texts.n_docs == 2
    assert tokens.tokens == {"南": 2, "京": 2} and tokens.texts == []
    assert texts.texts == ["南南京", "京"] and not texts.tokens
    texts.clear()
    assert texts.n_docs == 0 and texts.texts == []


def test_without_such_nodes_no_doc_is_read():
    docs = iter([spacy.blank("zh").make_doc("南京")])
    show_training_docs(Model("node", lambda model, docs, is_train: (docs, lambda d: d)), docs)
    assert next(docs).text == "南京"


def test_docs_are_passed_on_once_shown():
    node = make_node(tokens=False, texts=True)
    passed = pass_training_docs(node, (spacy.blank("zh").make_doc(text) for text in ("南京", "北京")))
    assert [(doc.text, node.attrs[ATTRIBUTE].n_docs) for doc in passed] == [("南京", 1), ("北京", 2)]
    plain = Model("node", lambda model, docs, is_train: (docs, lambda d: d))
    assert [doc.text for doc in pass_training_docs(plain, [spacy.blank("zh").make_doc("南京")])] == ["南京"]


def test_texts_are_not_saved():
    node = make_node(tokens=True, texts=True)
    show_training_docs(node, [spacy.blank("zh").make_doc("南京")])
    loaded = make_node(tokens=True, texts=True).from_bytes(node.to_bytes())
    assert loaded.attrs[ATTRIBUTE].n_docs == 0
