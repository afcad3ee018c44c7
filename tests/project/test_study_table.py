"""Tables of a study: means, differences and their intervals."""

import pytest
from study_file import Study, System
from study_table import by_type, compare, spread, summarise

STUDY = Study(
    description="",
    columns={"ents_f": "F1"},
    systems={name: System(title=name.upper(), config="flat") for name in ("lebert", "ner")},
)


def line(dataset, system, seed, f, counts=()):
    test = {"ents_f": f, "recall_unseen": None}
    kinds = {"dataset": dataset, "system": system, "seed": seed}
    return {**kinds, "dev": f, "test": test, "seconds": 60, "counts": list(counts)}


def test_table():
    lines = [line("weibo", "ner", seed, f) for seed, f in enumerate((0.4, 0.5, 0.6))]
    lines += [line("weibo", "lebert", 0, 0.7), line("resume", "ner", 0, 0.9), line("weibo", "other", 0, 0.9)]
    assert list(summarise(STUDY, lines))[2:] == [
        "| resume | NER | 90.0 | 90.0 | 1.0 | 1 |",
        "| weibo | LEBERT | 70.0 | 70.0 | 1.0 | 1 |",
        "| weibo | NER | 50.0 ± 10.0 | 50.0 ± 10.0 | 1.0 | 3 |",
    ]


def test_scores_of_dev_alone():
    only_dev = {**line("weibo", "ner", 0, 0.4), "test": {}}
    assert list(summarise(STUDY, [only_dev]))[2:] == ["| weibo | NER | – | 40.0 | 1.0 | 1 |"]
    assert list(compare([only_dev], "ner", "lebert"))[2:] == []


def test_nested_entities_are_compared_by_their_own_score():
    lines = [line("nested", system, 0, 0.0, [(1, 0, 1)] * 4) for system in ("a", "b")]
    lines[0]["test"]["spans_sc_f"], lines[1]["test"]["spans_sc_f"] = 0.5, 0.25
    [row] = list(compare(lines, "a", "b"))[2:]
    assert row.startswith("| nested | +25.0 |")


def test_types():
    lines = [line("weibo", "ner", seed, 0.5) for seed in (0, 1)] + [line("weibo", "lebert", 0, 0.5)]
    for each, scores in zip(lines, ({"PER": 0.4, "LOC": 0.5}, {"PER": 0.6}, {"PER": 1.0})):
        each["test"]["ents_per_type"] = {label: {"p": 0.0, "r": 0.0, "f": f} for label, f in scores.items()}
    only_dev = {**line("resume", "ner", 0, 0.4), "test": {}}
    assert list(by_type([*lines, only_dev], ["ner", "lebert"])) == [
        "| data set | type | `ner` | `lebert` |",
        "|---|---|---:|---:|",
        "| weibo | LOC | 50.0 | – |",
        "| weibo | PER | 50.0 ± 14.1 | 100.0 |",
    ]
    assert len(list(by_type(lines, ["lebert"]))) == 3


def test_spread():
    assert (spread([None]), spread([0.5]), spread([0.5, None])) == ("–", "50.0", "50.0")


def test_differences():
    good, bad = [[1, 0, 0]] * 50, [[1, 0, 0], [0, 1, 1]] * 25
    lines = [line("weibo", "lebert", seed, 1.0, good) for seed in (0, 1, 2)]
    lines += [line("weibo", "ner", seed, 0.5, bad) for seed in (0, 1)]
    [row] = list(compare(lines, "lebert", "ner"))[2:]
    cells = row.strip("| ").split(" | ")
    assert cells[:2] == ["weibo", "+50.0"] and cells[3:] == ["100 %", "2"]  # only seeds that both have
    low, high = (float(end) for end in cells[2].split(" to "))
    assert 30 < low < 50 < high < 70
    [same] = list(compare([*lines, line("weibo", "twin", 0, 1.0, good)], "lebert", "twin"))[2:]
    assert same == "| weibo | +0.0 | +0.0 to +0.0 | 50 % | 1 |"


def test_no_entities_at_all():
    lines = [line("weibo", system, 0, 0.0, [[0, 0, 0]]) for system in ("lebert", "ner")]
    [row] = list(compare(lines, "lebert", "ner"))[2:]
    assert row == "| weibo | +0.0 | – | – | 1 |"


@pytest.mark.parametrize("order", [("ner", "lebert"), ("lebert", "ner")])
def test_sign(order):
    lines = [line("weibo", "lebert", 0, 0.9, [[9, 1, 1]] * 3), line("weibo", "ner", 0, 0.5, [[5, 5, 5]] * 3)]
    [row] = list(compare(lines, *order))[2:]
    assert ("+40.0" in row) == (order[0] == "lebert")
