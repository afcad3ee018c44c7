"""Tested with jackknife.py, which uses what make_typed.py writes; here only --limit."""

import pytest
import spacy
import srsly
import typer
from make_typed import find_names, main, make_folds
from spacy.tokens import DocBin

from spacy_lexner.lexicon import Lexicon, Normalization


def test_names_are_those_of_the_first_texts(tmp_path, monkeypatch):
    monkeypatch.setattr("make_typed.PROJECT", tmp_path)
    nlp, docs = spacy.blank("zh"), []
    for name in ("王明", "李小", "张三"):
        docs.append(nlp.make_doc(f"{name}来了"))
        docs[-1].set_ents([docs[-1].char_span(0, 2, "PER")])
    assert set(find_names(docs, make_folds([doc.text for doc in docs], 2, False))) == {"王明", "李小", "张三"}
    Lexicon.from_entries([]).save(tmp_path / "none")
    (tmp_path / "jieba.txt").write_text("跑步 3 v\n", "utf8")
    (tmp_path / "corpus" / "small").mkdir(parents=True)
    DocBin(docs=docs).to_disk(tmp_path / "corpus" / "small" / "train.spacy")
    main("small", str(tmp_path / "none"), str(tmp_path / "jieba.txt"), "nr", 2, 2)
    assert sorted(Lexicon.open(tmp_path / "lexicon" / "typed-small")) == sorted(["王明", "李小"])


def test_folds_of_documents_and_case(tmp_path, monkeypatch):
    monkeypatch.setattr("make_typed.PROJECT", tmp_path)
    nlp, docs = spacy.blank("en"), []
    for text, end in (("Fever lasts", 5), ("The fever rose", 0), ("fever again", 5), ("Old cough", 9)):
        docs.append(nlp.make_doc(text))
        docs[-1].set_ents([docs[-1].char_span(0, end, "D")] if end else [])
    folds = make_folds([doc.text for doc in docs], 2, True)
    assert list(folds.values()) == [0, 0, 1, 1]
    assert find_names(docs, folds, Normalization(case=True)) == {"fever": {"D": {0, 1}}, "old cough": {"D": {1}}}
    Lexicon.from_entries([]).save(tmp_path / "none")
    (tmp_path / "corpus" / "small").mkdir(parents=True)
    DocBin(docs=docs).to_disk(tmp_path / "corpus" / "small" / "train.spacy")
    main("small", str(tmp_path / "none"), None, "", 2, 0, True, True)
    assert "FEVER" in Lexicon.open(tmp_path / "lexicon" / "typed-small")
    folds = srsly.read_json(tmp_path / "lexicon" / "folds-small.json")
    assert folds["folds"] == [{}, {"old cough": None}]


@pytest.mark.parametrize("dataset, words", [("unknown", None), ("small", "none.txt"), ("small", None)])
def test_what_is_missing(tmp_path, monkeypatch, capsys, dataset, words):
    """A corpus, a word list, a lexicon: nothing is written."""
    monkeypatch.setattr("make_typed.PROJECT", tmp_path)
    (tmp_path / "corpus" / "small").mkdir(parents=True)
    DocBin(docs=[spacy.blank("zh").make_doc("王明来了")]).to_disk(tmp_path / "corpus" / "small" / "train.spacy")
    if words:
        Lexicon.from_entries([]).save(tmp_path / "none")
    with pytest.raises(typer.Exit):
        main(dataset, str(tmp_path / "none"), words and str(tmp_path / words), "nr", 2, 0)
    assert "No typed dictionary was made" in capsys.readouterr().out and not (tmp_path / "lexicon").exists()
