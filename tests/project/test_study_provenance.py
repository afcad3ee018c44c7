import json
import sys

import pytest
import study_provenance
from small_words import FLAT, train
from spacy.tokens import DocBin


def test_a_row_for_each_model(tmp_path, monkeypatch, capsys):
    nlp, texts = train(FLAT, n=100, epochs=6)
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=[nlp.make_doc(text) for text, _ in texts]).to_disk(tmp_path / "test.spacy")
    pair = f"{tmp_path / 'model'}={tmp_path / 'test.spacy'}"
    monkeypatch.setattr(sys, "argv", ["study_provenance.py", pair])
    study_provenance.main()
    (figures,) = json.loads(capsys.readouterr().out.splitlines()[-1]).values()
    assert figures["n"] > 0 and figures["top"] > 0 and figures["others"] > 0
    monkeypatch.setattr(sys, "argv", ["study_provenance.py", pair, "--limit", "0"])
    with pytest.raises(SystemExit, match="finds no entity"):
        study_provenance.main()
