"""Words and parts of speech from the config, with a small encoder and on real data."""

import numpy as np
import pytest
import spacy
from spacy.cli.train import train
from spacy.training import Corpus

from configs import filled
from spacy_lexner.cli.data.convert import convert
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pipeline.segmenter.constraints import Constraints
from spacy_lexner.pipeline.segmenter.gold_words import JOINED_WORD
from spacy_lexner.pipeline.segmenter.word_search import read_path
from spacy_lexner.tagging.spans.word_borders import fixed_borders

SMALL = {
    "components.lex_segmenter.model.tok2vec.hidden_width": 32,
    "components.lex_segmenter.model.tok2vec.depth": 1,
    "components.lex_segmenter.model.tok2vec.intermediate_width": 64,
    "training.optimizer.learn_rate.total_steps": 30,
    "training.eval_frequency": 30,
    "training.optimizer.learn_rate.initial_rate": 0.01,
    "corpora.train.limit": 300,
    "corpora.dev.limit": 50,
}


@pytest.fixture(scope="module")
def corpus(data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("udc")
    list(convert(data_dir / "originals" / "udc", folder))
    return folder


@pytest.mark.parametrize("split, n_texts, n_words", [("train", 3997, 98608), ("dev", 500, 12663), ("test", 500, 12012)])
def test_the_words_of_universal_dependencies(corpus, split, n_texts, n_words):
    """Only one word contradicts the rules, and everything is recovered."""
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    pipe = nlp.add_pipe("lex_segmenter")
    gold = list(Corpus(corpus / f"{split}.spacy")(nlp))
    labels = pipe.find_labels(gold)
    report = pipe.gold_report
    assert len(gold) == n_texts and report.total == n_words
    assert report.problems == ({JOINED_WORD: 1} if split == "train" else {})
    for label in sorted(labels):
        pipe.add_label(label)
    some = gold[:500]
    for example in some:
        known = Constraints(fixed_borders(example.predicted), np.zeros(0, dtype=np.int64))
        tags = (pipe.gold(example) & pipe.training_constraint(example.predicted)).argmax(1)
        example.predicted = pipe.annotate(example.predicted, read_path(tags, known))
    scores = pipe.score(some)
    assert scores["word_f"] == scores["word_pos_f"] == 1.0


def test_trained_for_a_moment(corpus, tmp_path):
    """Far above what the rules and single characters alone would give."""
    Lexicon.from_entries(map(LexiconEntry, ["中国", "北京", "公司"])).save(tmp_path / "lexicon")
    paths = {"train": corpus / "train.spacy", "dev": corpus / "dev.spacy", "lexicon": tmp_path / "lexicon"}
    overrides = {f"paths.{name}": str(path) for name, path in paths.items()}
    filled("segmenter", **overrides, **SMALL).to_disk(tmp_path / "segmenter.cfg")
    train(tmp_path / "segmenter.cfg", tmp_path / "out")
    nlp = spacy.load(tmp_path / "out" / "model-best")
    scores = nlp.evaluate(list(Corpus(corpus / "dev.spacy", limit=100)(nlp)))
    assert scores["word_f"] > 0.7 and scores["word_pos_f"] > 0.5
