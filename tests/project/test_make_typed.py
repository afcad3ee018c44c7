"""Tested with jackknife.py, which uses what make_typed.py writes; here only a part of the training texts."""

import spacy
from make_typed import find_names, main
from spacy.tokens import DocBin

from spacy_lexner.lexicon import Lexicon


def test_names_are_those_of_the_first_texts(tmp_path, monkeypatch):
    monkeypatch.setattr("make_typed.PROJECT", tmp_path)
    nlp, docs = spacy.blank("zh"), []
    for name in ("王明", "李小", "张三"):
        docs.append(nlp.make_doc(f"{name}来了"))
        docs[-1].set_ents([docs[-1].char_span(0, 2, "PER")])
    assert set(find_names(docs, 2)) == {"王明", "李小", "张三"}
    Lexicon.from_entries([]).save(tmp_path / "none")
    (tmp_path / "jieba.txt").write_text("跑步 3 v\n", "utf8")
    (tmp_path / "corpus" / "small").mkdir(parents=True)
    DocBin(docs=docs).to_disk(tmp_path / "corpus" / "small" / "train.spacy")
    main("small", str(tmp_path / "none"), str(tmp_path / "jieba.txt"), "nr", 2, 2)
    assert sorted(Lexicon.open(tmp_path / "lexicon" / "typed-small")) == sorted(["王明", "李小"])
