import pytest

from spacy_lexner.formats.report import N_PLACES, Report


def test_problems_are_counted_and_the_first_places_shown():
    report = Report()
    for i in range(N_PLACES + 2):
        report.add_problem("kind", f"file:{i}")
    report.add_problem("other", "file:9")
    first, second = report.describe()
    assert first == "kind: 7 (file:0; file:1; file:2; file:3; file:4, …)"
    assert second == "other: 1 (file:9)"


@pytest.mark.parametrize(
    "labels,n_inside,told",
    [
        (["NOUN", "VERB", "PUNCT"], 95, True),
        (["n", "vn", "uj"], 95, True),
        (["NN", "VV", "PU"], 95, True),
        (["NN", "VV", "PU"], 40, False),
        (["PER", "LOC"], 95, False),
        (["n", "brand"], 95, False),
    ],
)
def test_parts_of_speech_as_entities(labels, n_inside, told):
    report = Report()
    report.n_characters, report.n_inside = 100, n_inside
    report.labels.update(labels)
    assert [line.split(" of ")[0] for line in report.describe()] == (["95%"] if told else [])


def test_nothing_to_report():
    report = Report()
    assert report.describe() == [] and report.n_entities == report.n_texts == 0
