import pytest
import spacy
from small_training import make_texts
from spacy.tokens import DocBin
from tolerance import sampling_error

from spacy_lexner.weak import texts as texts_module
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.label import Labeller
from spacy_lexner.weak.protected import ProtectedTexts
from spacy_lexner.weak.texts import choose_texts, draw_texts, hold_out, label_texts

NLP = spacy.blank("zh")
DICTIONARY = Dictionary({"王伟": ("PER",), "东山市": ("LOC",), "西海县": ("LOC",), "好": ("X",)}, set())
TEXTS = ["王伟去东山市了", "我在西海县看见王伟", "没有人来", "天气好"]


def read(path):
    files = sorted(path.rglob("*.spacy")) if path.is_dir() else [path]
    return [doc for file in files for doc in DocBin().from_disk(file).get_docs(NLP.vocab)]


def label(folder, texts=TEXTS, dictionary=DICTIONARY, **settings):
    return label_texts(Labeller(dictionary), texts, NLP.make_doc, folder, **settings)


def test_files_and_statistics(tmp_path):
    labels = label(tmp_path / "labels", held=frozenset(["西海县"]))
    docs = read(labels.train)
    assert [doc.text for doc in docs] == TEXTS
    assert [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs[:2]] == [
        [("王伟", "PER"), ("东山市", "LOC")],
        [("王伟", "PER")],
    ]
    assert not any(token.ent_iob == 2 for doc in docs for token in doc)  # nothing is outside
    [held] = read(labels.held)
    assert [ent.text for ent in held.ents] == ["西海县"]
    found = labels.statistics
    assert (found["texts"], found["known"], found["labels"]["LOC"]) == (4, 4, {"known": 2, "words": 2})
    assert found["doubtful"]["common word"] == 1
    assert found["doubtful_words"] == [{"word": "好", "reason": "common word", "labels": ["X"], "count": 1}]


def test_known_words_inside_tokens_are_counted(tmp_path):
    by_words = spacy.blank("en").make_doc
    texts = ["王伟 在 东山市", "王伟在东山市", "王伟在 东山市"]
    labels = label_texts(Labeller(DICTIONARY), texts, by_words, tmp_path / "labels")
    assert (labels.statistics["known"], labels.statistics["inside_tokens"]) == (6, 3)
    assert [len(doc.ents) for doc in read(labels.train)] == [2, 0, 1]
    assert label(tmp_path / "characters", texts).statistics["inside_tokens"] == 0


def test_what_is_there_is_not_made_again(tmp_path):
    label(tmp_path / "labels")

    def refuse():
        raise AssertionError("read again")
        yield

    assert len(read(label(tmp_path / "labels", refuse()).train)) == 4


def test_an_interruption_leaves_nothing(tmp_path):
    def interrupted():
        yield from TEXTS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        label(tmp_path / "labels", interrupted())
    assert not (tmp_path / "labels").exists()


def test_many_texts_are_a_stream_of_which_some_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(texts_module, "SHARD", 7)
    texts = [text for text, _ in make_texts(300)]
    labels = label(tmp_path / "labels", iter(texts), limit=20, seed=1)
    drawn = [doc.text for doc in read(labels.train)]
    assert labels.statistics["texts"] == 300 and len(drawn) == 20 and set(drawn) <= set(texts)
    assert len(list(labels.train.glob("*.spacy"))) == 3
    again = label(tmp_path / "again", iter(texts), limit=20, seed=1)
    assert [doc.text for doc in read(again.train)] == drawn


def test_held_words_are_drawn_by_a_seed():
    many = Dictionary({f"词{i}": ("X",) for i in range(1000)}, set())
    held = hold_out(many, 0.2, 0)
    assert 150 < len(held) < 250 and held == hold_out(many, 0.2, 0) != hold_out(many, 0.2, 1)
    assert hold_out(many, 0.0, 0) == frozenset()


def test_every_label_keeps_a_word_to_learn():
    dictionary = Dictionary({"北京": ("LOC",), "上海": ("LOC",), "王伟": ("PER",), "长江": ("LOC", "ORG")})
    left = set(dictionary.labels) - hold_out(dictionary, 1.0, 0)
    assert left < set(dictionary.labels)
    assert {label for word in left for label in dictionary.labels[word]} == {"LOC", "ORG", "PER"}


@pytest.mark.parametrize(
    "texts, labels, message",
    [
        ([], {"王伟": ("PER",)}, "no text to label"),
        (["没有人"], {"王伟": ("PER",)}, "in 1 texts \\(none occurs\\)"),
        (["你好"], {"好": ("PER",)}, "all occurrences are doubtful: 好"),
        (["王伟王伟王伟"], {"王伟": ("PER",)}, "cover 100 % of the characters"),
    ],
)
def test_dictionaries_that_match_nothing_or_everything(tmp_path, texts, labels, message):
    with pytest.raises(ValueError, match=message):
        label(tmp_path / "labels", texts, Dictionary(labels, set()))
    assert not (tmp_path / "labels").exists()


def test_each_text_once():
    assert list(choose_texts(["王伟", "王 伟", "张伟"], None)) == ["王伟", "张伟"]


def test_texts_of_a_dev_split_are_refused():
    text = "王伟去东山市了，我在西海县看见王伟，今天的天气非常好，没有人来这里。"
    protected = ProtectedTexts([("dev.spacy", text)])
    with pytest.raises(ValueError, match="overlaps dev"):
        list(choose_texts(["没有人", f"据说{text}"], protected))
    assert list(choose_texts(["没有人", f"据说{text}"], protected, skip_shared=True)) == ["没有人"]


def test_texts_are_drawn_evenly():
    texts = [str(i) for i in range(50)]
    assert sorted(draw_texts(iter(texts), 60, 0)) == sorted(texts)
    drawn = [text for seed in range(400) for text in draw_texts(iter(texts), 10, seed)]
    assert len(drawn) == 4000 and draw_texts(texts, 10, 3) == draw_texts(texts, 10, 3)
    share = drawn.count("0") / 400
    assert share == pytest.approx(0.2, abs=sampling_error(0.2, 400))
