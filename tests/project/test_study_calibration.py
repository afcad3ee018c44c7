import json
import sys

import pytest
import study_calibration
from small_ner import TEXTS, blank, train
from spacy.tokens import DocBin


def test_a_row_for_each_model(tmp_path, monkeypatch, capsys):
    nlp = blank()
    train(nlp)
    nlp.to_disk(tmp_path / "model")
    docs = [nlp.make_doc(text) for text, _ in TEXTS * 4]
    for doc, (_, entities) in zip(docs, TEXTS * 4):
        doc.set_ents([doc.char_span(*entity) for entity in entities])
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    pair = f"{tmp_path / 'model'}={tmp_path / 'dev.spacy'}"
    monkeypatch.setattr(sys, "argv", ["study_calibration.py", pair, "--repeats", "3"])
    study_calibration.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith(f"| {tmp_path / 'model'} | 32 |")
    (figures,) = json.loads(lines[-1]).values()
    assert figures["n"] == 32 and 0 <= figures["after"] <= 1 and figures["chance"] > 0
    monkeypatch.setattr(sys, "argv", ["study_calibration.py", "model"])
    with pytest.raises(SystemExit):
        study_calibration.main()
