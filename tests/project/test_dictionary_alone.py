"""A dictionary as a baseline: the longest labelled words are entities."""

import pytest
import spacy
import typer
from dictionary_alone import main
from spacy.tokens import DocBin

from spacy_lexner.lexicon import Lexicon, LexiconEntry


def test_scores(tmp_path, capsys):
    nlp = spacy.blank("en")
    texts = [("acute renal failure and fever", [(0, 19), (24, 29)]), ("no renal failures", []), ("fever", [])]
    docs = [nlp.make_doc(text) for text, _ in texts]
    for doc, (_, places) in zip(docs, texts):
        doc.set_ents([doc.char_span(*place, label="D") for place in places])
    DocBin(docs=docs).to_disk(tmp_path / "test.spacy")
    words = [LexiconEntry(word, label="D") for word in ("renal failure", "acute renal failure", "fever")]
    Lexicon.from_entries([*words, LexiconEntry("no")]).save(tmp_path / "lexicon")
    scores = main(tmp_path / "lexicon", tmp_path / "test.spacy", "en")
    assert scores["ents_p"] == pytest.approx(2 / 3) and scores["ents_r"] == 1.0
    assert capsys.readouterr().out == "P 66.7 R 100.0 F1 80.0\n"


def test_no_lexicon_and_no_entities(tmp_path, capsys):
    nlp = spacy.blank("en")
    DocBin(docs=[nlp.make_doc("fever")]).to_disk(tmp_path / "test.spacy")
    with pytest.raises(typer.Exit):
        main(tmp_path / "lexicon", tmp_path / "test.spacy", "en")
    assert "no lexicon here" in capsys.readouterr().out
    Lexicon.from_entries([LexiconEntry("no")]).save(tmp_path / "lexicon")
    main(tmp_path / "lexicon", tmp_path / "test.spacy", "en")
    assert capsys.readouterr().out == "P – R – F1 –\n"
