"""The results of a study: tables of means, and of differences with their intervals over test sets."""

from __future__ import annotations

import statistics
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
from study_file import Study

from spacy_lexner.report.bootstrap import difference, resample
from spacy_lexner.report.counts import ALL, Counts

N_SAMPLES = 2000
Line = Dict[str, Any]


def summarise(study: Study, lines: Sequence[Line]) -> Iterator[str]:
    """YIELDS (str): The lines of a Markdown table: mean and standard deviation over seeds, in percent."""
    yield f"| data set | system | {' | '.join(study.columns.values())} | on dev | minutes | seeds |"
    yield f"|---|---|{'---:|' * (len(study.columns) + 3)}"
    groups: Dict[Tuple[str, str], List[Line]] = {}
    for line in lines:
        groups.setdefault((line["dataset"], line["system"]), []).append(line)
    order = {name: i for i, name in enumerate(study.systems)}
    known = [group for group in groups if group[1] in order]
    for dataset, system in sorted(known, key=lambda group: (group[0], order[group[1]])):
        group = groups[dataset, system]
        cells = [spread([line["test"].get(key) for line in group]) for key in study.columns]
        cells.append(spread([line["dev"] for line in group]))
        minutes = statistics.mean(line["seconds"] for line in group) / 60
        yield f"| {dataset} | {study.systems[system].title} | {' | '.join(cells)} | {minutes:.1f} | {len(group)} |"


def by_type(lines: Sequence[Line], systems: Sequence[str]) -> Iterator[str]:
    """YIELDS (str): The lines of a Markdown table: F1 of each entity type with each system, mean and standard deviation
    over seeds, in percent. A run counts for a type only if it has or finds entities of it."""
    yield f"| data set | type | {' | '.join(f'`{name}`' for name in systems)} |"
    yield f"|---|---|{'---:|' * len(systems)}"
    scores: Dict[Tuple[str, str], Dict[str, List[float]]] = {}
    for line in lines:
        if line["system"] in systems:
            for label, score in line["test"].get("ents_per_type", {}).items():
                scores.setdefault((line["dataset"], label), {}).setdefault(line["system"], []).append(score["f"])
    for (dataset, label), found in sorted(scores.items()):
        yield f"| {dataset} | {label} | {' | '.join(spread(found.get(name, [])) for name in systems)} |"


def spread(values: Sequence[Optional[float]]) -> str:
    """RETURNS (str): Mean ± standard deviation, in percent; only the mean of a single value."""
    numbers = [100 * value for value in values if value is not None]
    if not numbers:
        return "–"
    deviation = f" ± {statistics.stdev(numbers):.1f}" if len(numbers) > 1 else ""
    return f"{statistics.mean(numbers):.1f}{deviation}"


def compare(lines: Sequence[Line], first: str, second: str) -> Iterator[str]:
    """YIELDS (str): The lines of a Markdown table: the gain in F1 of one system over another on each data set, over the
    seeds that both have, with an interval over test sets (paired bootstrap)."""
    yield f"| data set | {first} − {second} | in 95 of 100 test sets | better in | seeds |"
    yield "|---|---:|---|---:|---:|"
    found = {(line["dataset"], line["system"], line["seed"]): line for line in lines if line["counts"]}
    for dataset in sorted({key[0] for key in found}):
        seeds = sorted(seed for name, system, seed in found if (name, system) == (dataset, first))
        pairs = [(found[dataset, first, s], found[dataset, second, s]) for s in seeds if (dataset, second, s) in found]
        if pairs:
            gains = [100 * (f1(one) - f1(other)) for one, other in pairs]
            samples = [resample(pool([pair[side] for pair in pairs]), N_SAMPLES) for side in (0, 1)]
            interval, share = difference(*samples)
            ends = "–" if interval is None else " to ".join(f"{100 * end:+.1f}" for end in interval)
            wins = "–" if share is None else f"{100 * share:.0f} %"
            yield f"| {dataset} | {statistics.mean(gains):+.1f} | {ends} | {wins} | {len(pairs)} |"


def f1(line: Line) -> float:
    """RETURNS (float): F1 on test, of the spans of a `spancat` if the pipeline has one, otherwise of entities."""
    return line["test"].get("spans_sc_f", line["test"]["ents_f"])


def pool(lines: Sequence[Line]) -> Counts:
    """RETURNS (Counts): The counts of each text, summed over seeds."""
    return Counts([ALL], np.array([line["counts"] for line in lines]).sum(0)[:, np.newaxis])
