"""A small pipeline with `spancat`, and texts with nested entities to train it on."""

import small_ner
import spacy
from small_ner import HASH_EMBED_CNN
from spacy.tokens import Span
from spacy.training import Example

TEXTS = [
    ("南京市长江大桥", [(0, 2, "GPE"), (0, 3, "GPE"), (0, 7, "FAC"), (3, 7, "FAC")]),
    ("他在南京大学", [(2, 4, "GPE"), (2, 6, "ORG")]),
    ("今天天气好", []),
    ("上海大学在上海", [(0, 2, "GPE"), (0, 4, "ORG"), (5, 7, "GPE")]),
]


def blank():
    nlp = spacy.blank("zh")
    suggester = {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 6}
    model = {"scorer": {"@layers": "Softmax.v2", "nI": None, "nO": None}, "tok2vec": HASH_EMBED_CNN}
    nlp.add_pipe("spancat_singlelabel", name="spancat", config={"suggester": suggester, "model": model})
    return nlp


def examples(nlp, texts=TEXTS):
    found = []
    for text, spans in texts:
        doc = nlp.make_doc(text)
        doc.spans["sc"] = [Span(doc, *span) for span in spans]
        found.append(Example(nlp.make_doc(text), doc))
    return found


def train(nlp, gold=None, steps=60):
    return small_ner.train(nlp, examples(nlp) if gold is None else gold, steps)
