from itertools import islice

import pytest
import spacy
from spacy.training import Example

from spacy_lexner.pretraining.text_corpus import create_text_corpus
from spacy_lexner.training.limit_batches import create_limited_batcher
from spacy_lexner.training.repeated_corpus import create_repeated_corpus

NLP = spacy.blank("zh")


def texts_of(examples):
    return [example.text for example in examples]


def test_begins_again_in_another_order(tmp_path):
    lines = [f"第{number}行" for number in "一二三四五六七八"]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", "utf8")
    corpus = create_repeated_corpus(create_text_corpus(str(tmp_path), shuffle=True))
    read = texts_of(islice(corpus(NLP), 24))
    passes = [read[:8], read[8:16], read[16:]]
    assert all(sorted(part) == sorted(lines) for part in passes) and passes[0] != passes[1]


def test_an_epoch_is_a_number_of_batches(tmp_path):
    (tmp_path / "text.txt").write_text("甲乙\n丙丁\n戊己\n", "utf8")
    corpus = create_repeated_corpus(create_text_corpus(str(tmp_path)))
    batcher = create_limited_batcher(lambda items: ([item] for item in items), 5)
    assert [texts_of(batch) for batch in batcher(corpus(NLP))] == [["甲乙"], ["丙丁"], ["戊己"], ["甲乙"], ["丙丁"]]


def test_nothing_to_repeat():
    def sometimes(nlp):
        yield from given

    doc = NLP.make_doc("甲")
    given = [Example(doc, doc)]
    endless = create_repeated_corpus(sometimes)(NLP)
    next(endless)
    given.clear()
    with pytest.raises(ValueError, match="The corpus to repeat gave no text at all"):
        next(endless)
