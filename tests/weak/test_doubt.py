from random import Random

import pytest
import spacy
from small_training import SURNAMES, save_config

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.formats.spacy_file import read_all, read_docs
from spacy_lexner.lexicon.entry import hash_word
from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.doubt import (
    IMPROBABLE,
    LEAST,
    LEAST_LONGER,
    LEAST_WORDS,
    PARTS,
    VERDICTS,
    Judgement,
    Reading,
    Verdict,
    WordTrial,
)
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


def reading(word, probability, longer=0.0, entity="", text=0, start=0):
    return Reading(text, start, start + len(word), word, probability, longer, entity)


def forbid_training(monkeypatch):
    def refuse(*arguments, **settings):
        raise AssertionError("trained")

    monkeypatch.setattr("spacy_lexner.training.runs.train", refuse)


def test_words_that_never_look_like_names_are_improbable(config, tmp_path):
    verdicts = trial(config, tmp_path).run(2).words
    assert {each.word for each in verdicts if each.is_improbable} == set(COMMON)
    assert {each.word for each in verdicts} <= {*NAMES, *COMMON}  # 东山 is the only word of its label: not judged
    assert [each.probability for each in verdicts] == sorted(each.probability for each in verdicts)
    assert sum(each.occurrences for each in verdicts) == 60 + 60
    names = [each.probability for each in verdicts if each.word in NAMES]
    assert min(names) > IMPROBABLE and sum(names) / len(names) > 0.5


def test_models_are_evaluated_on_a_sample_and_judge_all(config, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_lexner.weak.doubt.N_DEV", 7)
    verdicts = trial(config, tmp_path).run(2).words
    assert sum(each.occurrences for each in verdicts) == 60 + 60
    assert [len(list(read_docs(file))) for file in tmp_path.glob("words/fold-*/dev.spacy")] == [7, 7]


def test_models_learn_from_and_judge_all_texts(config, tmp_path, monkeypatch):
    def untrained(*arguments, **settings):
        raise KeyboardInterrupt

    trying = trial(config, tmp_path)
    monkeypatch.setitem(
        label_texts.__kwdefaults__, "limit", 7
    )  # a run may have more texts than are labelled by default
    monkeypatch.setattr("spacy_lexner.weak.doubt.train_once", untrained)
    with pytest.raises(KeyboardInterrupt):
        trying.run(2)
    assert len(list(read_all(tmp_path / "words" / "fold-0" / "labels" / "train"))) == 120


def test_spellings_of_a_word_are_judged_together(config, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_lexner.weak.doubt.train_once", lambda *arguments, **settings: "")
    monkeypatch.setattr("spacy_lexner.weak.doubt.load_model", lambda path: None)
    scores = {"iPhone": 0.25, "IPHONE": 0.75}
    monkeypatch.setattr(
        "spacy_lexner.weak.doubt._read",
        lambda nlp, docs: (reading(ent.text, scores.get(ent.text, 0.0)) for doc in docs for ent in doc.ents),
    )
    words = Dictionary(dict.fromkeys([*NAMES, "iPhone"], ("PER",)), normalization=Normalization(case=True))
    labeller = Labeller(words)
    labels = label_texts(labeller, ["我的iPhone坏了", "你的IPHONE呢"], NLP.make_doc, tmp_path / "labels")
    trial = WordTrial(config, labeller, labels.train, NLP.make_doc, tmp_path / "words")
    assert trial.run(1).words == [Verdict("iphone", 2, 0.5)]


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
    monkeypatch.setattr(WordTrial, "_judge", lambda *arguments: [reading("天气", 0.0)])
    with pytest.raises(KeyboardInterrupt):
        trying.run(1)
    assert not list((tmp_path / "words").iterdir())


def test_improbable_words_count_as_any_other_text():
    labeller = Labeller(WORDS)
    labeller.doubt(["天气"])
    [found] = labeller.label(["今天天气好"])
    assert [(each.word, each.kind) for each in found] == [("今天", "known"), ("天气", "improbable")]


@pytest.mark.parametrize(
    "probability, longer, expected",
    [(0.2, LEAST_LONGER, True), (0.0, LEAST_LONGER - 0.01, False), (0.5, 0.4, False), (0.4, 0.5, True)],
)
def test_parts_are_probable_and_the_likelier_reading(probability, longer, expected):
    assert reading("公司", probability, longer).is_part == expected


def test_words_inside_names_that_the_dictionary_lacks(config, tmp_path):
    """The dictionary has 公司, and half of the names that end in it."""
    names = [f"{a}{b}公司" for a in "长远大新华" for b in "江山海天地风云"]
    words = Dictionary({**dict.fromkeys([*names[::2], "公司", *NAMES[:10]], ("LOC",))}, set())
    texts = [f"{before}{name}{after}" for name in names for before in ("我去", "在", "看") for after in ("了", "上班")]
    labeller = Labeller(words)
    judged = trial(config, tmp_path, labeller, texts).run(2)
    places = {(hash_word(text), text.index("公司"), text.index("公司") + 2): text for text in texts}
    found = [places[each.place] for each in judged.parts if each.word == "公司"]
    assert found
    assert {each.entity for each in judged.parts} & set(names[1::2])
    labeller.doubt_places(each.place for each in judged.parts)
    kinds = {kind for own in labeller.label(found) for _, _, word, _, kind in own if word == "公司"}
    assert kinds == {"part of a longer entity"}


def test_a_held_out_word_is_judged_by_the_mean_of_all_models():
    held = WordTrial(None, None, None, None, None, held=frozenset(["公司"]))
    models = [reading("公司", 0.1, 0.6, "长江公司", text=1), reading("公司", 0.5, 0.2, "长江公司的", text=1)]
    again = [reading("公司", 0.8, 0.1, text=2), reading("公司", 0.0, 0.4, "远山公司", text=2)]
    judged = held._decide([*models, *again])
    assert judged == Judgement([], [reading("公司", 0.3, 0.4, "长江公司", text=1)])


def test_missing_parts_are_judged_again(config, tmp_path):
    first = trial(config, tmp_path).run(2)
    (tmp_path / "words" / PARTS).unlink()
    assert trial(config, tmp_path).run(2) == first and (tmp_path / "words" / PARTS).is_file()


@pytest.mark.parametrize(
    "occurrences, probability, expected",
    [(LEAST, IMPROBABLE, True), (LEAST - 1, 0.0, False), (100, IMPROBABLE + 0.01, False)],
)
def test_frequent_and_improbable(occurrences, probability, expected):
    assert Verdict("词", occurrences, probability).is_improbable == expected


def test_few_words_of_a_label_are_not_judged(config, tmp_path, monkeypatch):
    few = Labeller(Dictionary(dict.fromkeys([*NAMES[: LEAST_WORDS - 3], *COMMON], ("PER",)), set()))
    forbid_training(monkeypatch)
    assert trial(config, tmp_path, few, held=frozenset(NAMES[:5])).run(2) == Judgement([], [])
    assert not list((tmp_path / "words").glob("fold-*"))


def test_no_model_is_trained_to_judge_words_that_do_not_occur(config, tmp_path, monkeypatch):
    forbid_training(monkeypatch)
    texts = [f"我看见他去东山了{i}" for i in range(9)]
    assert trial(config, tmp_path, texts=texts, held=frozenset(["东山"])).run(2) == Judgement([], [])
