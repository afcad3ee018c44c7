import numpy as np
import pytest
import spacy
from small_ner import TEXTS, blank, examples, found, train
from tolerance import near

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.tagging import tagger

ENCODERS = {
    "FLAT": {"@architectures": "spacy-lexner.FLAT.v1", "width": 32, "heads": 2, "words": "none"},
    "LEBERT": {
        "@architectures": "spacy-lexner.LEBERT.v1",
        "adapter_layers": [],
        "hidden_width": 32,
        "intermediate_width": 64,
        "heads": 2,
        "depth": 1,
    },
    "ERNIE": {
        "@architectures": "spacy-lexner.ERNIE.v1",
        "hidden_width": 32,
        "intermediate_width": 64,
        "heads": 2,
        "layer_types": ["sim", "mix"],
    },
    "ELMo": {
        "@architectures": "spacy-lexner.ELMo.v1",
        "projection_dim": 16,
        "cell_dim": 32,
        "embedding_dim": 8,
        "filters": [[1, 16]],
    },
}


@pytest.fixture(scope="module", params=ENCODERS)
def nlp(request):
    nlp = blank(tok2vec=ENCODERS[request.param])
    if request.param == "ERNIE":
        names = [LexiconEntry(word, vector=np.ones(4), entity_id=word) for word in ("北京", "上海")]
        nlp.add_pipe("lex_matcher", first=True).set_lexicon(Lexicon.from_entries(names))
    train(nlp, steps=60 if request.param == "ELMo" else 20)
    return nlp


def shifted(spans, offset):
    return [(start + offset, end + offset, label) for start, end, label in spans]


def test_lines_have_the_entities_and_scores_of_texts(nlp, tmp_path):
    docs = list(nlp.pipe(text for text, _ in TEXTS * 4))
    joined = nlp("\n".join(doc.text for doc in docs) + "\n")
    offsets = np.cumsum([0, *(len(doc.text) + 1 for doc in docs)]).tolist()
    expected = [span for doc, offset in zip(docs, offsets) for span in shifted(found(doc), offset)]
    assert found(joined) == expected and len(expected) > 8
    scores = [ent._.lex_score for doc in docs for ent in doc.ents]
    # logarithms of probabilities are differences of sums over a path, in which scores are of the order of 10
    assert np.log([ent._.lex_score for ent in joined.ents]).tolist() == near(np.log(scores).tolist(), 32 * 9, 10.0)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert found(again(joined.text)) == expected


@pytest.mark.parametrize("end, between", [("。", ""), ("！", "\u3000"), ("", " ")])
def test_sentences_have_the_entities_of_texts(nlp, end, between):
    texts = [text + end for text, _ in TEXTS * 4]
    docs = list(nlp.pipe(texts))
    joined = nlp(between.join(texts))
    offsets = np.cumsum([0, *(len(text) + len(between) for text in texts)]).tolist()
    expected = [span for doc, offset in zip(docs, offsets) for span in shifted(found(doc), offset)]
    assert found(joined) == expected and len(expected) > 8


def test_what_is_read_at_once_is_bounded(nlp):
    (limits,) = {tuple(node.attrs["limits"]) for node in nlp.get_pipe("lex_ner").model.walk() if "limits" in node.attrs}
    assert limits == (16, False, " 。！？", 5)  # the least; the training texts are shorter
    doc = nlp("，".join(text for text, _ in TEXTS * 20))
    assert len(doc.ents) > 80


def test_segments_are_encoded_some_at_a_time(nlp, monkeypatch):
    text = "，".join(text for text, _ in TEXTS * 20)
    at_once, sizes = found(nlp(text)), []
    tok2vec = nlp.get_pipe("lex_ner").model.layers[0]
    encode = tok2vec._func
    monkeypatch.setattr(tagger, "READ_AT_ONCE", 7)

    def counted(node, docs, is_train):
        sizes.append(len(docs))
        return encode(node, docs, is_train)

    monkeypatch.setattr(tok2vec, "_func", counted)
    assert found(nlp(text)) == at_once and max(sizes) == 7 < sum(sizes)


@pytest.mark.parametrize("text", ["", "\n", "\n\n张三在北京大学工作\n \n", " "])
def test_texts_of_line_ends(nlp, text):
    assert nlp(text).text == text


def test_a_long_text_trains(nlp):
    long = ["，".join(text for text, _ in TEXTS), "\n".join(text for text, _ in TEXTS)]
    losses = [nlp.update(examples(nlp, [(text, [(0, 2, "PER")]) for text in long])) for _ in range(2)]
    assert all(np.isfinite(loss["lex_ner"]) for loss in losses)
