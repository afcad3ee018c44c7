"""A language in which only the lexicon tells what a name is: words have vectors by kind, and the text around them is
noise. What a trained model finds there rests on lexicon words."""

import random

import numpy as np
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_lexner.lexicon import Lexicon, LexiconEntry

CHARACTERS = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥天地玄黄宇宙洪荒日月盈昃"
KINDS = ("PER", "LOC", "")
LEBERT = {
    "@architectures": "spacy-lexner.LEBERT.v1",
    "hidden_width": 32,
    "heads": 2,
    "intermediate_width": 64,
}
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "words": "frozen"}


def make_words(n=240, dim=16):
    chance, numbers = random.Random(1), np.random.default_rng(0)
    kinds = {kind: numbers.normal(size=dim) for kind in KINDS}
    words = {}
    while len(words) < n:
        words.setdefault("".join(chance.choices(CHARACTERS, k=chance.choice([2, 3]))), KINDS[len(words) % 3])
    entries = [
        LexiconEntry(word, vector=(kinds[kind] + 0.3 * numbers.normal(size=dim)).astype("f4"))
        for word, kind in words.items()
    ]
    return list(words.items()), Lexicon.from_entries(entries)


def make_texts(words, n, seed):
    chance, texts = random.Random(seed), []
    for _ in range(n):
        text, entities = "", []
        for _ in range(3):
            text += "".join(chance.choices(CHARACTERS, k=chance.randint(1, 3)))
            word, kind = chance.choice(words)
            entities += [(len(text), len(text) + len(word), kind)] if kind else []
            text += word
        texts.append((text, entities))
    return texts


def train(encoder, n=300, epochs=4, **config):
    """A trained pipeline, and texts with words unseen in training."""
    words, lexicon = make_words()
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").set_lexicon(lexicon)
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": encoder}
    nlp.add_pipe("lex_ner", config={"model": model, "threshold": 0.0, **config})
    texts = make_texts(words[:160], n, 3)
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in texts]
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.002
    for _ in range(epochs):
        for i in range(0, len(examples), 20):
            nlp.update(examples[i : i + 20], sgd=optimizer, drop=0.1)
    return nlp, make_texts(words[160:], 40, 4)
