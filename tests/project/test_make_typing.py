"""Entity typing: from entities to marked mentions, and a `textcat` that predicts their types."""

import make_typing
import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.vocab import Vocab

from configs import filled
from spacy_lexner.lexicon import Lexicon, LexiconEntry

TEXTS = {
    "train": [("张三在南京市工作", [(0, 2, "PER"), (3, 6, "LOC")]), ("李四去北京", [(0, 2, "PER"), (3, 5, "LOC")])] * 8,
    "dev": [("张三去北京", [(0, 2, "PER"), (3, 5, "LOC")])],
    "test": [("王五住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]), ("联合国", [(0, 3, "ORG")])],
}
SMALL = {
    "components.textcat.model.tok2vec.hidden_width": 16,
    "components.textcat.model.tok2vec.heads": 2,
    "components.textcat.model.tok2vec.intermediate_width": 16,
    "components.textcat.model.tok2vec.dropout": 0.0,
    "training.optimizer.learn_rate.initial_rate": 0.02,
}


@pytest.fixture
def corpus(tmp_path):
    for split, texts in TEXTS.items():
        bin_ = DocBin()
        for text, entities in texts:
            doc = Doc(Vocab(), list(text), spaces=[False] * len(text))
            doc.ents = [Span(doc, *entity) for entity in entities]
            bin_.add(doc)
        bin_.to_disk(tmp_path / f"{split}.spacy")
    return tmp_path


def read(path):
    return [(doc.text, doc.cats) for doc in DocBin().from_disk(path).get_docs(Vocab())]


def test_every_mention_is_a_text_with_its_type(corpus, capsys):
    make_typing.main(corpus, corpus / "out", context=2)
    dev, test = read(corpus / "out" / "dev.spacy"), read(corpus / "out" / "test.spacy")
    assert dev == [("【张三】去北", {"LOC": 0.0, "PER": 1.0}), ("三去【北京】", {"LOC": 1.0, "PER": 0.0})]
    assert [text for text, _ in test] == ["【王五】住在", "住在【南京市】"]
    assert "1 mentions skipped" in " ".join(capsys.readouterr().out.split())
    assert len(read(corpus / "out" / "train.spacy")) == 32
    make_typing.main(corpus, corpus / "few", limit=3)
    assert len(read(corpus / "few" / "train.spacy")) == 3


def test_a_corpus_without_entities_or_files_is_refused(corpus):
    (corpus / "dev.spacy").unlink()
    with pytest.raises(SystemExit):
        make_typing.main(corpus, corpus / "out")
    DocBin(docs=[Doc(Vocab(), ["无"])]).to_disk(corpus / "train.spacy")
    with pytest.raises(SystemExit):
        make_typing.main(corpus, corpus / "out")


@pytest.mark.parametrize("layers", [None, ["sim"]])
def test_textcat_on_ernie_and_on_its_bert_learns_types(corpus, layers):
    make_typing.main(corpus, corpus / "out")
    rng = np.random.default_rng(0)
    words = [LexiconEntry(w, rng.normal(size=8).astype("f4"), entity_id=w) for w in ("南京市", "北京", "张三")]
    Lexicon.from_entries(words).save(corpus / "lexicon")
    paths = {name: str(corpus / "out" / f"{name}.spacy") for name in ("train", "dev")}
    overrides = {**SMALL, **{f"paths.{name}": path for name, path in paths.items()}}
    overrides["paths.lexicon"] = str(corpus / "lexicon")
    overrides["components.textcat.model.tok2vec.layer_types"] = layers
    config = filled("typing", **overrides)
    nlp = spacy.training.initialize.init_nlp(config.interpolate())
    docs = list(DocBin().from_disk(paths["train"]).get_docs(nlp.vocab))
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.02
    for _ in range(12):
        losses = nlp.update([Example(nlp.make_doc(doc.text), doc) for doc in docs], sgd=optimizer)
    assert losses["textcat"] < 0.1
    predicted = list(nlp.pipe(doc.text for doc in docs))
    assert [max(doc.cats, key=doc.cats.get) for doc in predicted] == [max(doc.cats, key=doc.cats.get) for doc in docs]
    assert [entity.entity_id for entity in predicted[0]._.lex_entities] == ["张三", "南京市"]
