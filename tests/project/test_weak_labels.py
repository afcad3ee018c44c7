import pytest
import spacy
import srsly
from spacy.tokens import DocBin
from weak_labels import main

from spacy_lexner.lexicon.entry import hash_word

TEXT = "北京大学的北京人在远山大学"


def save(folder, places):
    doc = spacy.blank("zh").make_doc(TEXT)
    doc.set_ents([doc.char_span(*place, label="ORG") for place in places], default="missing")
    folder.mkdir(parents=True)
    DocBin(docs=[doc]).to_disk(folder / "0000.spacy")


@pytest.fixture
def run(tmp_path):
    """Of three known occurrences, one is an entity, one is none, one lies in one."""
    save(tmp_path / "labels/train", [(0, 4), (5, 7), (11, 13)])
    save(tmp_path / "gold", [(0, 4), (9, 13)])
    return tmp_path


def test_labels_are_compared_with_the_annotation(run, capsys):
    save(run / "words/labels/train", [(0, 4)])
    srsly.write_jsonl(run / "words" / "parts.jsonl", [{"text": hash_word(TEXT), "start": 11, "end": 13}])
    main(run, run / "gold" / "0000.spacy")
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| known | 3 | 1 | 1 | 1 |",
        "| improbable words | 1 | 0 | 0 | 1 |",
        "| parts of longer entities | 1 | 0 | 1 | 0 |",
        "| kept | 1 | 1 | 0 | 0 |",
    ]


def test_a_run_that_left_nothing_out_keeps_all(run, capsys):
    main(run, run / "gold" / "0000.spacy")
    known, improbable, parts, kept = capsys.readouterr().out.splitlines()[2:]
    assert known == "| known | 3 | 1 | 1 | 1 |" and kept == "| kept | 3 | 1 | 1 | 1 |"
    assert improbable.endswith("| 0 | 0 | 0 | 0 |") and parts.endswith("| 0 | 0 | 0 | 0 |")
