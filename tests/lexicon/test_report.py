import json

from spacy_lexner.lexicon.report import MAX_PLACES, BuildReport


def test_counts_all_and_remembers_the_first():
    report = BuildReport("words.txt")
    report.n_read = 40
    for line in range(1, 31):
        report.skip("empty", f"words.txt:{line}")
    report.skip("duplicate", "words.txt:40")
    assert report.n_skipped == 31 and report.skipped == {"empty": 30, "duplicate": 1}
    assert report.places["empty"] == [f"words.txt:{line}" for line in range(1, MAX_PLACES + 1)]
    text = str(report)
    assert "40 entries read, 31 skipped" in text
    assert "30 x empty word: words.txt:1, " in text and "words.txt:10, ..." in text
    assert "1 x duplicate of an earlier word: words.txt:40" in text


def test_json_round_trip():
    report = BuildReport("words.txt")
    report.n_read = 2
    report.skip("nul", "words.txt:2")
    copy = BuildReport.from_json(json.loads(json.dumps(report.to_json())))
    assert vars(copy) == vars(report)
