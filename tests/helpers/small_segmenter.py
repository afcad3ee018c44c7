"""A small pipeline with `lex_segmenter`, and texts to train it on."""

import small_ner
import spacy
from small_ner import HASH_EMBED_CNN
from spacy.tokens import Doc
from spacy.training import Example

TEXTS = [
    ("我 爱 北京 天安门", "PRON VERB PROPN PROPN"),
    ("南京市 长江 大桥 很 长", "PROPN PROPN NOUN ADV ADJ"),
    ("他 在 上海 工作", "PRON ADP PROPN VERB"),
    ("iPhone15 是 手机 。", "PROPN VERB NOUN PUNCT"),
    ("北京 大学生 爱 手机", "PROPN NOUN VERB NOUN"),
]
PLAIN = [text.replace(" ", "") for text, _ in TEXTS]
TAGS = {"PRON": "PN", "VERB": "VV", "PROPN": "NR", "NOUN": "NN", "ADV": "AD", "ADJ": "VA", "ADP": "P", "PUNCT": "PU"}


def blank(tagger="CRFTagger", tok2vec=None, name="lex_segmenter", **config):
    nlp = spacy.blank("zh")
    model = {"@architectures": f"spacy-lexner.{tagger}.v1", "tok2vec": tok2vec or HASH_EMBED_CNN}
    nlp.add_pipe("lex_segmenter", name=name, config={"model": model, **config})
    return nlp


def reference(nlp, words, pos=None):
    """An annotated Doc, without spaces."""
    words = words.split()
    pos = None if pos is None else pos.split()
    tags = None if pos is None else [TAGS.get(p, "") for p in pos]
    return Doc(nlp.vocab, words, spaces=[False] * len(words), pos=pos, tags=tags)


def examples(nlp, texts=TEXTS):
    docs = [reference(nlp, *text) for text in texts]
    return [Example(nlp.make_doc(doc.text), doc) for doc in docs]


def train(nlp, gold=None, steps=25):
    return small_ner.train(nlp, examples(nlp) if gold is None else gold, steps)


def words(doc):
    return " ".join(token.text for token in doc)


def parts(doc):
    return " ".join(token.pos_ or "-" for token in doc)


def everything(doc):
    return words(doc), parts(doc)


def steer(pipe, tag):
    """Make the model prefer this tag to all others."""
    output = pipe.model.get_ref("output_layer")
    for name in output.param_names:
        output.get_param(name)[:] = 0
    output.get_param("emission_b")[pipe.scheme.tags.index(tag)] = 9


def describe(doc):
    """A Doc's tokens, parts of speech, entities and word spans."""
    spans = [[span.text, span.label_] for span in doc.spans.get("lex_words", ())]
    return [words(doc), [token.pos_ for token in doc], [[ent.text, ent.label_] for ent in doc.ents], spans]
