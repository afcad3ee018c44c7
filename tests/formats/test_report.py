from spacy_lexner.formats.report import N_PLACES, Report


def test_problems_are_counted_and_the_first_places_shown():
    report = Report()
    for i in range(N_PLACES + 2):
        report.add_problem("kind", f"file:{i}")
    report.add_problem("other", "file:9")
    first, second = report.describe()
    assert first == "kind: 7 (file:0; file:1; file:2; file:3; file:4, …)"
    assert second == "other: 1 (file:9)"


def test_nothing_to_report():
    report = Report()
    assert report.describe() == [] and report.n_entities == report.n_texts == 0
