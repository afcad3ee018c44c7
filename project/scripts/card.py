"""The model card of a trained pipeline: the facts of `pipeline_facts.py` as Markdown."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any, Dict, Iterator, Optional, Sequence

from evaluate import percent

from spacy_lexner.report.errors import CORRECT


def write_card(facts: Dict[str, Any], name: str, version: str) -> str:
    """RETURNS (str): The card, Markdown."""
    return "\n".join(
        [f"# {name} {version}", "", *_about(facts, name), *_scores(facts), *_limits(facts), *_again(facts)]
    )


def _about(facts: Dict[str, Any], name: str) -> Iterator[str]:
    source, lexicon = facts["source"], facts["lexicon"]
    what = "Words and parts of speech" if facts["words"] else "Named entities"
    yield f"{what} in Chinese, a spaCy pipeline that needs `spacy-lexner`: `spacy.load({name!r})`."
    yield from ("", "## Data", "", f"- Trained on {source['title']} {source.get('url', '')}".rstrip())
    yield f"- Licence of the data: {source.get('license', 'unknown')}. Check whether it covers the model."
    if lexicon:
        yield f"- Lexicon: {lexicon['words']:,} words, version `{lexicon['version']}`"
    made = facts["made_with"]
    yield f"- Built with spaCy {made['spacy']}, spacy-lexner {made['spacy_lexner']}; config `{facts['config']}`"


def _scores(facts: Dict[str, Any]) -> Iterator[str]:
    seeds, scores = facts["seeds"], facts["scores"]
    yield from ("", "## Scores", "", f"On the {facts['texts']:,} test texts, in percent, exact spans.")
    if seeds:
        yield f"± is the standard deviation over {len(seeds)} seeds; the figure before it is this pipeline's."
    else:
        yield "From a single training run; the spread over seeds is unknown."
    yield from ("", "| | P | R | F | in the test set |", "|---|---:|---:|---:|---:|")
    prefix, by_type = ("word", "word_pos_per_type") if facts["words"] else ("ents", "ents_per_type")
    total = {key: scores.get(f"{prefix}_{key}") for key in "prf"}
    yield _row("words" if facts["words"] else "all", total, [each["test"].get(f"{prefix}_f") for each in seeds])
    for label, row in sorted(facts["labels"].items()):
        yield _row(label, row, [each["test"].get(by_type, {}).get(label, {}).get("f") for each in seeds])
    yield ""
    if facts.get("interval"):
        low, high = facts["interval"]
        yield f"- F on 95 % of test sets resampled from these texts: {percent(low)} to {percent(high)}"
    what = "words" if facts["words"] else "entities"
    seen, unseen = percent(facts["recall_seen"]), percent(facts["recall_unseen"])
    yield f"- Recall of {what} seen in training: {seen}; unseen: {unseen}"
    if facts["calibration"]:
        error = percent(facts["calibration"]["ece"])
        yield f"- Calibration: scores are off by {error} points on average (expected calibration error)"
    yield f"- Speed: {facts['characters_per_second']:,} characters a second ({facts['processor']})"


def _row(title: str, row: Dict[str, Any], over_seeds: Sequence[Optional[float]]) -> str:
    values = [value for value in over_seeds if value is not None]
    deviation = f" ± {100 * stdev(values):.1f} (mean {100 * mean(values):.1f})" if len(values) > 1 else ""
    cells = [percent(row.get("p")), percent(row.get("r")), percent(row.get("f")) + deviation, str(row.get("n", "–"))]
    return f"| {title} | {' | '.join(cells)} |"


def _limits(facts: Dict[str, Any]) -> Iterator[str]:
    yield from ("", "## Known failures", "")
    if errors := sorted(((n, kind) for kind, n in facts["errors"].items() if kind != CORRECT and n), reverse=True):
        yield f"- Errors on the test set: {', '.join(f'{n} {kind}' for n, kind in errors)}"
    for n, gold, found in facts["confused"]:
        yield f"- {gold} mistaken for {found}: {n} times"
    rated = [(row["f"] or 0.0, label) for label, row in facts["labels"].items() if row.get("f") is not None]
    if rated:
        yield f"- Worst labels: {', '.join(f'{label} ({percent(f)})' for f, label in sorted(rated)[:3])}"
    yield f"- It was trained on texts {facts['source'].get('register', 'of one kind')}; expect lower scores on others."
    yield "- It finds only these labels. It may have memorised names of real people in the data."


def _again(facts: Dict[str, Any]) -> Iterator[str]:
    command = f"--vars.dataset {facts['dataset']} --vars.config {facts['config']} --vars.seed {facts['seed']}"
    yield from ("", "## Train it again", "", "```", f"python -m spacy project run train project {command}", "```", "")
    yield "The package's `config.cfg` holds every setting, including those given by `--vars.options`."
    yield ""
