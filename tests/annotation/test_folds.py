import pytest
from small_training import make_docs, make_texts
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_lexner.annotation.folds import divide, write_fold

TEXTS = [f"{name}{i % 30}" for i in range(60) for name in "甲乙"]


def test_every_text_is_held_once_and_copies_stay_together():
    folds = divide(TEXTS, 5, seed=1)
    assert sorted(i for fold in folds for i in fold.held) == list(range(len(TEXTS)))
    for fold in folds:
        parts = [{TEXTS[i] for i in part} for part in fold]
        assert sorted(i for part in fold for i in part) == list(range(len(TEXTS)))
        assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2] and all(parts)


def test_white_space_does_not_make_another_text():
    folds = divide(["南京 市", "南京市", "武汉", "济南", "上海"], 2)
    assert any({0, 1} <= set(fold.held) for fold in folds)


def test_the_seed_decides():
    assert divide(TEXTS, 5, seed=1) == divide(TEXTS, 5, seed=1) != divide(TEXTS, 5, seed=2)


@pytest.mark.parametrize("n_folds", [1, 31])
def test_too_many_folds(n_folds):
    with pytest.raises(ValueError, match="60 different texts cannot be divided"):
        divide(TEXTS, n_folds)


def test_what_is_written(tmp_path):
    docs = make_docs(make_texts(30))
    [fold, _] = divide([doc.text for doc in docs], 2)
    write_fold(docs, fold, tmp_path / "corpus")
    write_fold([], fold, tmp_path / "corpus")  # is there already
    for name in ("train", "dev"):
        read = DocBin().from_disk(tmp_path / "corpus" / f"{name}.spacy").get_docs(Vocab())
        assert [doc.text for doc in read] == [docs[i].text for i in getattr(fold, name)]
