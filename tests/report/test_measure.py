from dataclasses import replace

import numpy as np
import pytest
import spacy

from spacy_lexner.report.errors import Outcome
from spacy_lexner.report.measure import Settings, find_worst, measure
from spacy_lexner.visualize.lattice import Mark, Track

SETTINGS = Settings(seen={"王明", "南京"}, n_samples=20)


def test_figures(nlp, gold):
    measured = measure(nlp, gold, SETTINGS)
    figures = measured.figures
    assert (figures["all"]["found"], figures["all"]["wrong"], figures["all"]["missed"]) == (2, 4, 4)
    assert figures["all"]["f"] == pytest.approx(1 / 3) and len(figures["all"]["spread"]["f"]) == 2
    assert sorted(figures["labels"]) == ["GPE", "ORG", "PER"]
    assert (figures["seen"]["r"], figures["unseen"]["r"]) == (1.0, 0.0)
    assert figures["errors"] == {
        "correct": 2, "type": 1, "boundary": 1, "type and boundary": 1, "missed": 1, "spurious": 1
    }  # fmt: skip
    assert figures["confusions"]["ORG"] == {"GPE": 1, "ORG": 0, "PER": 1, "": 0}
    assert figures["confidence"]["n"] == 6
    assert figures["lexicon"]["words"] == 3 and figures["failed"] == {}
    assert measured.samples.shape == (20, 6, 3)


def test_the_worst_texts(nlp, gold):
    measured = measure(nlp, gold, SETTINGS)
    worst = measured.figures["worst"]
    assert [text["number"] for text in worst] == [1, 4, 5, 3], "most errors first, then those it was surest of"
    assert worst[0]["text"] == "李雷去南京市"
    assert worst[0]["errors"] == [
        {
            "kind": "boundary",
            "gold": describe(3, 6, "GPE", None, "南京市"),
            "predicted": describe(3, 5, "GPE", 0.9, "南京"),
        },
        {"kind": "missed", "gold": describe(0, 2, "PER", None, "李雷"), "predicted": None},
    ]
    assert worst[0]["words"] == [[3, 5], [3, 6]]
    assert [track.name for track in measured.worst[0].tracks] == ["gold", "model"]
    assert measured.worst[0].tracks[1] == Track("model", [Mark(3, 5, "GPE", 0.9)])
    assert len(measure(nlp, gold, replace(SETTINGS, n_worst=1)).worst) == 1


def describe(start, end, label, score, text):
    return {"start": start, "end": end, "label": label, "score": score, "text": text}


def test_any_pipeline(gold):
    """Without scores, without a lexicon, without entities."""
    measured = measure(spacy.blank("en"), gold, Settings(n_samples=5))
    figures = measured.figures
    assert (figures["all"]["p"], figures["all"]["r"]) == (None, 0.0)
    assert figures["confidence"] is None and figures["lexicon"] is None and figures["seen"] is None
    assert figures["errors"]["missed"] == 6 and all(not lattice.words for lattice in measured.worst)
    assert not np.isnan(measured.samples[:, 0, 1]).any()


def test_ranking():
    right, wrong = Outcome("correct", Mark(0, 1, "X"), Mark(0, 1, "X", 1.0)), Outcome("missed", Mark(0, 1, "X"), None)
    sure, unsure = (Outcome("spurious", None, Mark(0, 1, "X", score)) for score in (0.9, 0.2))
    assert find_worst([[right], [wrong], [unsure], [sure], [], [wrong, right, wrong]], 9) == [5, 3, 2, 1]
    assert find_worst([[wrong]], 0) == []
