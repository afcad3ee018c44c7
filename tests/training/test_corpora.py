import json
from itertools import islice

import pytest
import spacy
from spacy.training import Example
from spacy.util import registry

from spacy_lexner.formats.record import FormatError
from spacy_lexner.pretraining.text_corpus import TextCorpus
from spacy_lexner.training.batchers import LimitedBatcher
from spacy_lexner.training.corpora import RepeatedCorpus, create_clue_reader, create_tag_file_reader

CONLL = "南 B-GPE\n京 E-GPE\n的 O\n桥 S-LOC\n\n好 O\n"


@pytest.fixture
def nlp():
    return spacy.blank("zh")


@pytest.fixture
def conll(tmp_path):
    path = tmp_path / "train.bmes"
    path.write_text(CONLL)
    return path


@pytest.fixture
def clue(tmp_path):
    path = tmp_path / "train.json"
    lines = [
        {"text": "在南京 的桥", "label": {"GPE": {"南京": [[1, 2]]}, "X": {"京 的": [[2, 4]]}}},
        {"text": "无标注"},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_tag_files(nlp, conll):
    examples = list(create_tag_file_reader(conll)(nlp))
    assert all(isinstance(example, Example) for example in examples)
    assert [example.get_aligned_ner() for example in examples] == [["B-GPE", "L-GPE", "O", "U-LOC"], ["O"]]
    assert [example.predicted.text for example in examples] == ["南京的桥", "好"]
    assert not examples[0].predicted.ents
    assert [example.text for example in create_tag_file_reader(str(conll))(nlp)] == ["南京的桥", "好"], "a path as text"


def test_words_of_the_file_and_tokens_of_the_pipeline(nlp, tmp_path):
    (tmp_path / "words").write_text("南京 B-GPE\nab O\n")
    [example] = create_tag_file_reader(tmp_path / "words")(nlp)
    assert [token.text for token in example.reference] == ["南京", "ab"]
    assert [token.text for token in example.predicted] == ["南", "京", "a", "b"]
    assert example.get_aligned_ner() == ["B-GPE", "L-GPE", "O", "O"]


def test_clue(nlp, clue, caplog):
    first, second = create_clue_reader(clue)(nlp)
    assert first.get_aligned_ner() == ["O", "B-GPE", "L-GPE", "O", "O"]
    assert "entity that overlaps another one: left out: 1" in caplog.text
    assert second.get_aligned_ner() == [None] * 3, "not annotated"


def test_with_words_in_the_pipeline_all_entities_stay_in_the_reference(clue):
    [first, _] = create_clue_reader(clue)(spacy.blank("en"))
    assert [ent.text for ent in first.reference.ents] == ["南京"]
    assert len(first.predicted) == 2


def test_repair_limit_and_length(nlp, tmp_path, caplog):
    path = tmp_path / "train.bio"
    path.write_text("中 I-X\n\n国 O\n人 O\n\n好 O\n")
    with pytest.raises(FormatError, match=r"train\.bio:1: 中 I-X"):
        list(create_tag_file_reader(path)(nlp))
    assert [eg.text for eg in create_tag_file_reader(path, repair=True)(nlp)] == ["中", "国人", "好"]
    assert "entity that does not begin with B: started there: 1" in caplog.text
    assert [eg.text for eg in create_tag_file_reader(path, repair=True, limit=2)(nlp)] == ["中", "国人"]
    assert [eg.text for eg in create_tag_file_reader(path, repair=True, max_length=1)(nlp)] == ["中", "好"]
    assert "1 texts of more than 1 tokens left out" in caplog.text
    assert [eg.text for eg in create_tag_file_reader(path, repair=True, max_length=1, limit=2)(nlp)] == ["中", "好"]


@pytest.mark.parametrize("create", [create_tag_file_reader, create_clue_reader])
@pytest.mark.parametrize("name", ["limit", "max_length"])
def test_limits_are_not_negative(create, name):
    with pytest.raises(ValueError, match=f"{name} of the corpus train.bio is -1; expected 1 or more, or 0 for no"):
        create("train.bio", **{name: -1})


def test_it_can_be_read_again(nlp, conll):
    reader = create_tag_file_reader(conll)
    assert [eg.text for eg in reader(nlp)] == [eg.text for eg in reader(nlp)] == ["南京的桥", "好"]


@pytest.mark.parametrize("create", [create_tag_file_reader, create_clue_reader])
def test_without_a_path(create):
    with pytest.raises(ValueError, match="The corpus has no path"):
        create(None)


def test_a_missing_file(nlp, tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file or folder"):
        list(create_tag_file_reader(tmp_path / "nothing")(nlp))


CONFIG = """
[nlp]
lang = "zh"
pipeline = ["ner"]

[components]

[components.ner]
factory = "ner"

[corpora]

[corpora.train]
@readers = "spacy-lexner.TagFile.v1"
path = "{conll}"

[corpora.dev]
@readers = "spacy-lexner.ClueJsonl.v1"
path = "{clue}"
limit = 1

[training]
max_steps = 2
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"

[training.batcher]
@batchers = "spacy-lexner.batch_by_padded_tokens.v1"
max_tokens = 100

[training.optimizer]
@optimizers = "spacy-lexner.GroupedAdamW.v1"
"""


def test_in_spacy_train(conll, clue, tmp_path):
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import train

    config = spacy.util.load_config_from_str(CONFIG.format(conll=conll.as_posix(), clue=clue.as_posix()))
    nlp = init_nlp(spacy.blank("zh").config.merge(config))
    (tmp_path / "out").mkdir()
    trained, path = train(nlp, tmp_path / "out")
    assert set(trained.get_pipe("ner").labels) == {"GPE", "LOC"}
    assert path.exists()


@pytest.mark.parametrize("name", ["TagFile", "ClueJsonl"])
def test_registered(name, conll):
    reader = registry.resolve({"reader": {"@readers": f"spacy-lexner.{name}.v1", "path": str(conll)}})["reader"]
    assert callable(reader)


NLP = spacy.blank("zh")


def texts_of(examples):
    return [example.text for example in examples]


def test_begins_again_in_another_order(tmp_path):
    lines = [f"第{number}行" for number in "一二三四五六七八"]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", "utf8")
    corpus = RepeatedCorpus(TextCorpus(str(tmp_path), shuffle=True))
    read = texts_of(islice(corpus(NLP), 24))
    passes = [read[:8], read[8:16], read[16:]]
    assert all(sorted(part) == sorted(lines) for part in passes) and passes[0] != passes[1]


def test_an_epoch_is_a_number_of_batches(tmp_path):
    (tmp_path / "text.txt").write_text("甲乙\n丙丁\n戊己\n", "utf8")
    corpus = RepeatedCorpus(TextCorpus(str(tmp_path)))
    batcher = LimitedBatcher(lambda items: ([item] for item in items), 5)
    assert [texts_of(batch) for batch in batcher(corpus(NLP))] == [["甲乙"], ["丙丁"], ["戊己"], ["甲乙"], ["丙丁"]]


def test_nothing_to_repeat():
    def sometimes(nlp):
        yield from given

    doc = NLP.make_doc("甲")
    given = [Example(doc, doc)]
    endless = RepeatedCorpus(sometimes)(NLP)
    next(endless)
    given.clear()
    with pytest.raises(ValueError, match="The corpus to repeat has no texts"):
        next(endless)
