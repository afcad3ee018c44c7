"""A small pipeline with `lex_ner`, and texts to train it on."""

import pytest
import spacy
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import fix_random_seed
from tolerance import tolerance

HASH_EMBED_CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 32,
    "depth": 1,
    "embed_size": 300,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": False,
    "pretrained_vectors": None,
}
SUMS = 3 * 32  # the longest sum of HASH_EMBED_CNN: a window of three vectors
TEXTS = [
    ("张三在北京大学工作", [(0, 2, "PER"), (3, 7, "ORG")]),
    ("李四去南京", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("王五住在上海", [(0, 2, "PER"), (4, 6, "LOC")]),
    ("今天天气好", []),
    ("复旦大学在上海", [(0, 4, "ORG"), (5, 7, "LOC")]),
]


def blank(tagger="CRFTagger", tok2vec=None, name="lex_ner", **config):
    nlp = spacy.blank("zh")
    model = {"@architectures": f"spacy-lexner.{tagger}.v1", "tok2vec": tok2vec or HASH_EMBED_CNN}
    model |= {"dropout": None, "normalization": "mean"}
    nlp.add_pipe("lex_ner", name=name, config={"model": model, "threshold": 0.0, **config})
    return nlp


def examples(nlp, texts=TEXTS):
    return [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in texts]


def train(nlp, gold=None, steps=25):
    fix_random_seed(0)
    gold = examples(nlp) if gold is None else gold
    optimizer = nlp.initialize(lambda: gold)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        losses = nlp.update(gold, sgd=optimizer)
    return losses


def found(doc):
    return [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]


def scores(doc):
    return [ent._.lex_score for ent in doc.ents]


def rounding_of_odds(nlp, doc, n_terms=SUMS):
    """How far rounding may move the log odds of an entity: the scores of each token may be off both in the paths with
    the entity and in those without."""
    emissions, _ = nlp.get_pipe("lex_ner").model.predict([doc])
    return tolerance(2 * len(doc) * n_terms, emissions)


def near_scores(expected, nlp, doc, n_terms=SUMS):
    """For the right side of `==`: the probabilities of a Doc's entities, up to rounding."""
    off = rounding_of_odds(nlp, doc, n_terms)
    return [pytest.approx(p, rel=0, abs=p * (1 - p) * off + tolerance(len(doc), 1.0, "float64")) for p in expected]


def near_change(expected, nlp, doc, n_terms=SUMS):
    """For the right side of `==`: a difference of two probabilities, each off by at most a quarter of the odds."""
    return pytest.approx(expected, rel=0, abs=rounding_of_odds(nlp, doc, n_terms) / 2)


def span(doc, start, end, label=""):
    return Span(doc, start, end, label=label)
