"""Splits: those of the source, or a dev set held out of train with a fixed seed."""

import pytest
import srsly
from convert_dataset import hold_out, main
from spacy.tokens import DocBin
from spacy.vocab import Vocab


def write(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join("".join(f"{character} O\n" for character in text) for text in texts), "utf8")


def read(path):
    return [doc.text for doc in DocBin().from_disk(path).get_docs(Vocab())]


TEXTS = [f"第{i}句" for i in range(50)]


def test_held_out_once_and_for_all(tmp_path):
    write(tmp_path / "in" / "msra" / "msra_train_bio", TEXTS)
    write(tmp_path / "in" / "msra" / "msra_test_bio", ["第7句", "新的"])
    for out in ("a", "b"):
        main("msra", tmp_path / "in", tmp_path / out)
    train, dev, test = (read(tmp_path / "a" / "msra" / f"{split}.spacy") for split in ("train", "dev", "test"))
    assert len(dev) == 5 and sorted(train + dev) == sorted(TEXTS) and test == ["第7句", "新的"]
    assert [read(tmp_path / "b" / "msra" / f"{split}.spacy") for split in ("train", "dev")] == [train, dev]
    assert sorted(TEXTS, key=TEXTS.index) == [text for text in TEXTS if text in {*train, *dev}]


def test_order_is_kept():
    kept, held_out = hold_out(list(range(100)), 1)  # type: ignore[arg-type]
    assert kept == sorted(kept) and held_out == sorted(held_out)


def test_given_splits_and_repeated_texts(tmp_path, capsys):
    for split, texts in (("train", TEXTS), ("dev", TEXTS[:3]), ("test", ["新的"])):
        write(tmp_path / "in" / "weibo" / f"{split}.char.bmes", texts)
    main("weibo", tmp_path / "in", tmp_path / "out")
    assert read(tmp_path / "out" / "weibo" / "dev.spacy") == TEXTS[:3]
    assert "3 of them verbatim in train" in " ".join(capsys.readouterr().out.split())


def test_own_data_is_converted_where_it_is(tmp_path):
    write(tmp_path / "my_train.conll", TEXTS)
    srsly.write_jsonl(tmp_path / "my_test.jsonl", [{"text": "新的", "label": {}}])
    sources = {"train": {"path": str(tmp_path / "my_train.conll")}, "test": {"path": str(tmp_path / "my_test.jsonl")}}
    (tmp_path / "in" / "mine").mkdir(parents=True)
    srsly.write_json(tmp_path / "in" / "mine" / "sources.json", sources)
    main("mine", tmp_path / "in", tmp_path / "out")
    splits = {split: read(tmp_path / "out" / "mine" / f"{split}.spacy") for split in ("train", "dev", "test")}
    assert {split: len(texts) for split, texts in splits.items()} == {"train": 45, "dev": 5, "test": 1}


def test_entities_that_overlap_are_kept(tmp_path):
    lines = [
        {"text": f"第{i}座南京大桥", "label": {"LOC": {"南京大桥": [[3, 6]], "南京": [[3, 4]]}}} for i in range(10)
    ]
    (tmp_path / "in" / "nested").mkdir(parents=True)
    for name in ("new_test", "new_eval"):
        srsly.write_jsonl(tmp_path / "in" / "nested" / f"{name}.json", lines)
    main("nested", tmp_path / "in", tmp_path / "out")
    for split, n in (("train", 9), ("dev", 1), ("test", 10)):
        docs = list(DocBin().from_disk(tmp_path / "out" / "nested" / f"{split}.spacy").get_docs(Vocab()))
        assert [[span.text for span in doc.spans["sc"]] for doc in docs] == [["南京", "南京大桥"]] * n


@pytest.mark.parametrize("name", ["ontonotes", "resume"])
def test_what_was_not_fetched(tmp_path, capsys, name):
    with pytest.raises(SystemExit):
        main(name, tmp_path / "none", tmp_path / "out")
    assert "'fetch' first" in capsys.readouterr().out


def test_words_between_spaces(tmp_path):
    (tmp_path / "in" / "bc5cdr").mkdir(parents=True)
    for split in ("train", "devel", "test"):
        lines = [f"{split}\tO", "causes\tO", "renal\tB-Disease", "failure\tI-Disease", "", "Old\tO", "one\tO", ""]
        (tmp_path / "in" / "bc5cdr" / f"{split}.tsv").write_text("\n".join(lines), "utf8")
    main("bc5cdr", tmp_path / "in", tmp_path / "out")
    for split, word in {"train": "train", "dev": "devel", "test": "test"}.items():
        docs = list(DocBin().from_disk(tmp_path / "out" / "bc5cdr" / f"{split}.spacy").get_docs(Vocab()))
        assert [doc.text.strip() for doc in docs] == [f"{word} causes renal failure", "Old one"]
        assert [(ent.text, ent.label_) for doc in docs for ent in doc.ents] == [("renal failure", "Disease")]


@pytest.mark.parametrize("n, n_train", [(2, 1), (4, 3), (1, None)])
def test_few_texts(tmp_path, capsys, n, n_train):
    """At least one is held out, and one is left to train on."""
    write(tmp_path / "in" / "msra" / "msra_train_bio", TEXTS[:n])
    write(tmp_path / "in" / "msra" / "msra_test_bio", ["新的"])
    if n_train is None:
        with pytest.raises(SystemExit):
            main("msra", tmp_path / "in", tmp_path / "out")
        assert "too few training texts to hold one out: 1" in capsys.readouterr().out
        return
    main("msra", tmp_path / "in", tmp_path / "out")
    assert [len(read(tmp_path / "out" / "msra" / f"{split}.spacy")) for split in ("train", "dev")] == [n_train, 1]
