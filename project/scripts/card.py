"""The model card of a trained pipeline: the facts of `pipeline_facts.py` as Markdown."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any, Dict, Iterator, Optional, Sequence

from evaluate import percent
from pipeline_facts import KINDS
from training_command import OWN_LEXICON, write_command

from spacy_lexner.report.errors import CORRECT


def write_card(facts: Dict[str, Any], name: str, version: str) -> str:
    """RETURNS (str): The card, Markdown."""
    return "\n".join(
        [f"# {name} {version}", "", *_about(facts, name), *_scores(facts), *_limits(facts), *_again(facts)]
    )


def introduce(facts: Dict[str, Any]) -> str:
    """RETURNS (str): What a pipeline finds, and in which language: that of the data, if `sources.yml` names it."""
    return f"{KINDS[facts['kind']].title} in {facts['source'].get('language', facts['language'])}"


def _about(facts: Dict[str, Any], name: str) -> Iterator[str]:
    source, lexicon = facts["source"], facts["lexicon"]
    yield f"{introduce(facts)}, a spaCy pipeline that needs `spacy-lexner`: `spacy.load({name!r})`."
    yield from ("", "## Data", "", f"- Trained on {source['title']} {source.get('url', '')}".rstrip())
    yield f"- Licence of the data: {source.get('license', 'unknown')}. Check whether it covers the model."
    if lexicon:
        yield f"- Lexicon: {lexicon['words']:,} words, version `{lexicon['version']}`"
    made = facts["made_with"]
    yield f"- Built with spaCy {made['spacy']}, spacy-lexner {made['spacy_lexner']}; config `{facts['config']}`"


def _scores(facts: Dict[str, Any]) -> Iterator[str]:
    kind, seeds = KINDS[facts["kind"]], facts["seeds"]
    yield from ("", "## Scores", "", f"On the {facts['texts']:,} test texts, in percent, exact spans.")
    if len(seeds) > 1:
        yield f"± is the standard deviation over {len(seeds)} seeds; the figure before it is this pipeline's."
    else:
        yield "From a single training run; the spread over seeds is unknown."
    yield from ("", "| | P | R | F | in the test set |", "|---|---:|---:|---:|---:|")
    yield _row("all", facts["all"], [each["test"].get(kind.score) for each in seeds])
    for label, row in sorted(facts["labels"].items()):
        yield _row(label, row, [(each["test"].get(kind.by_type) or {}).get(label, {}).get("f") for each in seeds])
    yield ""
    if facts.get("interval"):
        low, high = facts["interval"]
        yield f"- F on 95 % of test sets resampled from these texts: {percent(low)} to {percent(high)}"
    seen, unseen = percent(facts["recall_seen"]), percent(facts["recall_unseen"])
    yield f"- Recall of {kind.noun} seen in training: {seen}; unseen: {unseen}"
    if facts["calibration"]:
        error = percent(facts["calibration"]["ece"])
        yield f"- Calibration: scores are off by {error} points on average (expected calibration error)"
    yield f"- Speed: {facts['characters_per_second']:,} characters a second ({facts['processor']})"


def _row(title: str, row: Dict[str, Any], over_seeds: Sequence[Optional[float]]) -> str:
    values = [value for value in over_seeds if value is not None]
    deviation = f" ± {100 * stdev(values):.1f} (mean {100 * mean(values):.1f})" if len(values) > 1 else ""
    cells = [percent(row.get("p")), percent(row.get("r")), percent(row.get("f")) + deviation, str(row["n"])]
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
    variables = facts["variables"]
    yield from ("", "## Train it again", "", "```", write_command(variables), "```", "")
    if variables.get("lexicon_folder", "").endswith(OWN_LEXICON):
        yield f"The lexicon in the command is that of this package, the folder `{OWN_LEXICON}`."
    yield "The package's `config.cfg` holds every setting."
    yield ""
