"""One encoder for entities, words and parts of speech, trained on Docs that have one or the other."""

import pytest
import spacy
from spacy.cli.train import train
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Corpus

from configs import filled
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon

WORDS = [
    ("张三 在 上海 工作", "PROPN ADP PROPN VERB"),
    ("南京市 长江 大桥 很 长", "PROPN PROPN NOUN ADV ADJ"),
    ("我 爱 北京 天安门", "PRON VERB PROPN PROPN"),
    ("iPhone15 是 手机", "PROPN VERB NOUN"),
]
ENTITIES = [
    ("张三在上海工作", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("李四爱南京市", [(0, 2, "PER"), (3, 6, "LOC")]),
    ("我爱北京", [(2, 4, "LOC")]),
    ("手机很好", []),
]
SMALL = {
    "components.tok2vec.model.hidden_width": 32,
    "components.tok2vec.model.depth": 1,
    "components.tok2vec.model.heads": 2,
    "components.tok2vec.model.intermediate_width": 32,
    "components.tok2vec.model.dropout": 0.0,
    "components.tok2vec.model.attention_dropout": 0.0,
    "training.dropout": 0.0,
    "training.optimizer.learn_rate.total_steps": 60,
    "training.eval_frequency": 30,
    "training.optimizer.learn_rate.initial_rate": 0.01,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Corpora, a lexicon, and the pipeline trained on them."""
    folder = tmp_path_factory.mktemp("joint")
    nlp = spacy.blank("zh")
    (folder / "corpus").mkdir()
    segmented, annotated = DocBin(attrs=["POS"]), DocBin(attrs=["ENT_IOB", "ENT_TYPE"])
    for text, pos in WORDS:
        words = text.split()
        segmented.add(Doc(nlp.vocab, words, spaces=[False] * len(words), pos=pos.split()))
    for text, entities in ENTITIES:
        doc = nlp.make_doc(text)
        doc.ents = [Span(doc, *entity) for entity in entities]
        annotated.add(doc)
    segmented.to_disk(folder / "corpus" / "words.spacy")
    annotated.to_disk(folder / "corpus" / "entities.spacy")
    Lexicon.from_entries(map(LexiconEntry, ["南京市", "长江", "大桥", "北京", "张三"])).save(folder / "lexicon")
    paths = {"paths.train": folder / "corpus", "paths.dev": folder / "corpus", "paths.lexicon": folder / "lexicon"}
    filled("joint", **{key: str(path) for key, path in paths.items()}, **SMALL).to_disk(folder / "joint.cfg")
    train(folder / "joint.cfg", folder / "out")
    return folder


@pytest.fixture(scope="module")
def nlp(folder):
    return spacy.load(folder / "out" / "model-best")


def test_both_tasks_are_learned(nlp, folder):
    gold = list(Corpus(folder / "corpus")(nlp))
    assert nlp.evaluate(gold)["ents_f"] == 1.0
    with nlp.select_pipes(disable="lex_ner"):  # which knows nothing of the entities in the other texts
        assert nlp.evaluate(gold)["word_f"] == nlp.evaluate(gold)["word_pos_f"] == 1.0
    doc = nlp("张三在上海工作")
    assert [token.text for token in doc] == ["张三", "在", "上海", "工作"]
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("张三", "PER"), ("上海", "LOC")]
    assert [match.word for match in doc._.lex_matches] == ["张三"]


def test_one_encoder(nlp):
    assert nlp.get_pipe("tok2vec").listening_components == ["lex_ner", "lex_segmenter"]
    for name in ("lex_ner", "lex_segmenter"):
        assert isinstance(nlp.get_pipe(name).model.get_ref("tok2vec"), Tok2VecListener)


def test_rows_of_the_encoder_are_those_of_words(nlp):
    doc = nlp(ENTITIES[0][0])
    assert doc.tensor.shape == (len(doc), 32)


def test_several_processes(nlp):
    def describe(docs):
        return [[(t.text, t.pos_, t.ent_iob_, t.ent_type_) for t in doc] for doc in docs]

    texts = [text for text, _ in ENTITIES] * 3
    assert describe(nlp.pipe(texts, n_process=2, batch_size=4)) == describe(map(nlp, texts))


def test_the_encoder_may_be_copied_into_a_component(folder):
    nlp = spacy.load(folder / "out" / "model-best")
    nlp.replace_listeners("tok2vec", "lex_segmenter", ["model.tok2vec"])
    doc = nlp("张三在上海工作")
    assert " ".join(token.text for token in doc) == WORDS[0][0]
    nlp.to_disk(folder / "replaced")
    assert [token.pos_ for token in spacy.load(folder / "replaced")("张三在上海工作")] == WORDS[0][1].split()
