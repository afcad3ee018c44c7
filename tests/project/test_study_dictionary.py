"""The study of dictionaries, on a pipeline of a few words."""

import json

import pytest
import study_dictionary
from small_ner import TEXTS, blank, examples, train
from spacy.tokens import DocBin
from study_dictionary import Occurrence, find_occurrences, is_consistent, main


@pytest.fixture
def project(tmp_path, monkeypatch):
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京大学", "南京", "上海"])
    train(nlp)
    nlp.to_disk(tmp_path / "model")
    monkeypatch.setattr(study_dictionary, "PROJECT", tmp_path)
    monkeypatch.setattr(study_dictionary, "MIN_LENGTH", 2)
    monkeypatch.setattr(study_dictionary, "PAUSE", 0.001)
    unseen = [("赵六在天津工作", [(0, 2, "PER"), (3, 5, "LOC")]), ("清华大学在北京", [(0, 4, "ORG"), (5, 7, "LOC")])]
    for split, texts in (("train", TEXTS), ("dev", unseen[:1]), ("test", unseen)):
        path = tmp_path / "corpus" / "small" / f"{split}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        DocBin(docs=[example.reference for example in examples(nlp, texts)]).to_disk(path)
    (tmp_path / "titles.txt").write_text("赵六\n天津\n清华大学\n大学\n上海\n没有\n", "utf8")
    return tmp_path


def test_all_of_it(project, capsys):
    out = project / "metrics" / "dictionary.json"
    main(project / "model", "small", out, project / "titles.txt")
    results = json.loads(out.read_text("utf8"))
    assert results["new_words"] == 5
    before, added, preferred = results["scores"].values()
    assert before["n_unseen"] == 4 and added["recall_unseen"] == before["recall_unseen"]
    assert preferred["recall_unseen"] >= before["recall_unseen"]
    assert results["rules"]["forbid"] == {
        **{"occurrences": 4, "followed": 4, "reported": 0, "unexplained": 0},
        "precision": 1.0,
    }
    force = results["rules"]["force"]
    assert (force["occurrences"], force["followed"], force["reported"], force["precision"]) == (4, 3, 1, 1.0)
    swaps = results["swaps"]
    assert swaps["inconsistent_docs"] == 0 < swaps["docs"] and swaps["change_ms"] > 0
    assert "4 entities in the test split of small are unseen in training" in capsys.readouterr().out


def test_occurrences():
    assert find_occurrences("AI和PAID里的AI，哈哈哈", ["AI", "哈哈"]) == [
        Occurrence(0, 2, "AI"),
        Occurrence(9, 11, "AI"),
        Occurrence(12, 14, "哈哈"),
        Occurrence(13, 15, "哈哈"),
    ]


def test_what_is_not_consistent(project):
    nlp = study_dictionary.load_pipeline(project / "model")
    nlp.get_pipe("lex_matcher").add_rules([("南京", "force", "PER")])
    doc = nlp("李四去南京")
    assert is_consistent(doc, ["南京", "天津"], "PER") and not is_consistent(doc, ["南京"], "LOC")
    assert not is_consistent(doc, ["南京"], None)
