from random import Random

import pytest
import spacy
from small_training import SURNAMES, save_config

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.formats.spacy_file import read_docs
from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.doubt import IMPROBABLE, LEAST, LEAST_WORDS, VERDICTS, Verdict, WordTrial
from spacy_lexner.weak.label import Labeller
from spacy_lexner.weak.settings import Settings, prepare_config
from spacy_lexner.weak.texts import label_texts

NLP = spacy.blank("zh")
NAMES = [f"{a}{b}" for a in SURNAMES for b in "伟芳娜敏静"][:40]
COMMON = ["天气", "今天"]  # words that the dictionary has as names, but that never are
WORDS = Dictionary({**dict.fromkeys([*NAMES, *COMMON], ("PER",)), "东山": ("LOC",)}, set())


def make_texts(n):
    random = Random(0)
    texts = []
    for _ in range(n):
        texts.append(f"我看见{random.choice(NAMES)}去东山了")
        texts.append(random.choice(["天气真好呀", "天气很冷呢", "不是今天吧", "就是今天啊"]))
    return texts


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    config = complete(read_base(str(save_config(tmp_path_factory.mktemp("config") / "c.cfg", training__max_steps=60))))
    return prepare_config(config, ["LOC", "PER"], Settings())


def trial(config, folder, labeller=None, texts=None, **settings):
    labeller = labeller or Labeller(WORDS)
    labels = label_texts(labeller, texts or make_texts(60), NLP.make_doc, folder / "labels")
    return WordTrial(config, labeller, labels.train, NLP.make_doc, folder / "words", **settings)


def forbid_training(monkeypatch):
    def refuse(*arguments, **settings):
        raise AssertionError("trained")

    monkeypatch.setattr("spacy_lexner.training.runs.train", refuse)


def test_words_that_never_look_like_names_are_improbable(config, tmp_path):
    verdicts = trial(config, tmp_path).run(2)
    assert {each.word for each in verdicts if each.is_improbable} == set(COMMON)
    assert {each.word for each in verdicts} <= {*NAMES, *COMMON}  # 东山 is the only word of its label: not judged
    assert [each.probability for each in verdicts] == sorted(each.probability for each in verdicts)
    assert sum(each.occurrences for each in verdicts) == 60 + 60
    names = [each.probability for each in verdicts if each.word in NAMES]
    assert min(names) > IMPROBABLE and sum(names) / len(names) > 0.5


def test_models_are_evaluated_on_a_sample_and_judge_all(config, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_lexner.weak.doubt.N_DEV", 7)
    verdicts = trial(config, tmp_path).run(2)
    assert sum(each.occurrences for each in verdicts) == 60 + 60
    assert [len(list(read_docs(file))) for file in tmp_path.glob("words/fold-*/dev.spacy")] == [7, 7]


def test_spellings_of_a_word_are_judged_together(config, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_lexner.weak.doubt.train_once", lambda *arguments, **settings: "")
    monkeypatch.setattr("spacy_lexner.weak.doubt.load_model", lambda path: None)
    scores = {"iPhone": 0.25, "IPHONE": 0.75}
    monkeypatch.setattr(
        "spacy_lexner.weak.doubt._occurrences",
        lambda nlp, docs: ((ent.text, scores.get(ent.text, 0.0)) for doc in docs for ent in doc.ents),
    )
    words = Dictionary(dict.fromkeys([*NAMES, "iPhone"], ("PER",)), normalization=Normalization(case=True))
    labeller = Labeller(words)
    labels = label_texts(labeller, ["我的iPhone坏了", "你的IPHONE呢"], NLP.make_doc, tmp_path / "labels")
    trial = WordTrial(config, labeller, labels.train, NLP.make_doc, tmp_path / "words")
    assert trial.run(1) == [Verdict("iphone", 2, 0.5)]


def test_finished_work_is_kept(config, tmp_path, monkeypatch):
    first = trial(config, tmp_path).run(2)
    forbid_training(monkeypatch)
    assert trial(config, tmp_path).run(2) == first
    (tmp_path / "words" / VERDICTS).write_bytes(b"")  # the same models judge again
    assert trial(config, tmp_path).run(2) == first


def test_an_interruption_loses_no_verdicts(config, tmp_path, monkeypatch):
    def interrupted(*paths):
        raise KeyboardInterrupt

    trying = trial(config, tmp_path)
    monkeypatch.setattr("os.replace", interrupted)
    monkeypatch.setattr(WordTrial, "_judge", lambda *arguments: [Verdict("天气", 60, 0.0)])
    with pytest.raises(KeyboardInterrupt):
        trying.run(1)
    assert not list((tmp_path / "words").iterdir())


def test_improbable_words_count_as_any_other_text():
    labeller = Labeller(WORDS)
    labeller.doubt(["天气"])
    [found] = labeller.label(["今天天气好"])
    assert [(each.word, each.kind) for each in found] == [("今天", "known"), ("天气", "improbable")]


@pytest.mark.parametrize(
    "occurrences, probability, expected",
    [(LEAST, IMPROBABLE, True), (LEAST - 1, 0.0, False), (100, IMPROBABLE + 0.01, False)],
)
def test_frequent_and_improbable(occurrences, probability, expected):
    assert Verdict("词", occurrences, probability).is_improbable == expected


def test_few_words_of_a_label_are_not_judged(config, tmp_path, monkeypatch):
    few = Labeller(Dictionary(dict.fromkeys([*NAMES[: LEAST_WORDS - 3], *COMMON], ("PER",)), set()))
    forbid_training(monkeypatch)
    assert trial(config, tmp_path, few, held=frozenset(NAMES[:5])).run(2) == []
    assert not list((tmp_path / "words").glob("fold-*"))


def test_no_model_is_trained_to_judge_words_that_do_not_occur(config, tmp_path, monkeypatch):
    forbid_training(monkeypatch)
    texts = [f"我看见他去东山了{i}" for i in range(9)]
    assert trial(config, tmp_path, texts=texts, held=frozenset(["东山"])).run(2) == []
