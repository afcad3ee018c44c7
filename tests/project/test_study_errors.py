import json

import study_errors
from small_training import make_docs, make_texts, save_docs
from study_errors import KINDS, corrupt, corrupt_corpus, measure


def test_what_is_corrupted():
    before, docs = make_docs(make_texts(200)), make_docs(make_texts(200))
    done = corrupt(docs, 0.1, 0)
    assert len(done) == round(0.1 * sum(len(doc.ents) for doc in before))
    assert {row["kind"] for row in done} == set(KINDS)
    changed = {row["number"]: row for row in done}
    for i, (old, new) in enumerate(zip(before, docs)):
        spans = [{(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents} for doc in (old, new)]
        if i not in changed:
            assert spans[0] == spans[1]
            continue
        row = changed[i]
        gone, come = ({tuple(side)} if side else set() for side in (row["before"], row["after"]))
        assert spans[0] - spans[1] == gone and spans[1] - spans[0] == come and gone != come


def test_measures(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(study_errors, "FIRST", 2)
    corpus = save_docs(tmp_path / "corpus.spacy", make_texts(100))
    truth = tmp_path / "truth.json"
    corrupt_corpus(corpus, tmp_path / "corrupted.spacy", truth, 0.1, 0, 0)
    rows = json.loads(truth.read_text("utf8"))["corrupted"]
    findings = []
    for row in rows:
        start, end, _ = row["after"] or row["before"]
        findings.append({"number": row["number"], "annotated": {"start": start, "end": end}, "proposed": None})
    findings.insert(1, {"number": rows[0]["number"], "annotated": {"start": 900, "end": 901}, "proposed": None})
    (tmp_path / "findings.jsonl").write_text("\n".join(map(json.dumps, findings)), "utf8")
    scores = measure(tmp_path / "findings.jsonl", truth)
    assert scores["precision of the first 100"] == 0.5 and scores["found at all"] == 1.0
    assert 0 < scores["found in the first 3 %"] < 1
    assert "found at all: 1.000" in capsys.readouterr().out


def test_precision_of_fewer_findings_than_a_hundred(tmp_path):
    corrupted = [{"number": 0, "before": [0, 2, "PER"], "after": None}]
    (tmp_path / "truth.json").write_text(json.dumps({"entities": 50, "corrupted": corrupted}), "utf8")
    finding = {"number": 0, "annotated": None, "proposed": {"start": 0, "end": 2}}
    for n, precision in ((1, 1.0), (2, 0.5), (0, 0.0)):
        rows = [{**finding, "number": i} for i in range(n)]
        (tmp_path / "findings.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf8")
        scores = measure(tmp_path / "findings.jsonl", tmp_path / "truth.json")
        assert scores["precision of the first 100"] == precision
