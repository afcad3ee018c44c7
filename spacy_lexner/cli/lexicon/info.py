"""`spacy lexner lexicon info`: what is in a lexicon."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, Dict

import numpy as np
import srsly
import typer
from wasabi import msg

from ...lexicon.build import BuildReport
from ...lexicon.entry import REASONS, unpack_labels
from ...lexicon.lexicon import Lexicon
from ...lexicon.rules import MODES
from ...lexicon.storage import read_manifest
from ...lexicon.table import ENTITY_IDS, LABELS, vector_rows_of, weights_of
from ..shared import JsonOption, failing, status
from .folder import LexiconArgument, reading

N_LABELS = 20
N_FILES = 3


def info_cli(path: LexiconArgument, as_json: JsonOption = False) -> None:
    """Show what is in a lexicon: words by length and label, vectors, weights, file sizes, and what was left out.

    \b
    Example:
      python -m spacy lexner lexicon info lexicon
    """
    with failing("The lexicon cannot be read"), reading(path), status(f"reading {path}"):
        lexicon = Lexicon.open(path)
        parts = {part: entry["bytes"] for part, entry in read_manifest(path)["parts"].items()}
        summary = {**summarise(lexicon), "bytes": parts, "report": asdict(lexicon.report)}
    if as_json:
        typer.echo(srsly.json_dumps(summary))
        return
    msg.table(_rows(summary))
    msg.text(f"Built from {_describe_build(lexicon.report)}")


def summarise(lexicon: Lexicon) -> Dict[str, Any]:
    """Compute figures about a lexicon, ready for JSON: `lengths`, the number of words by length in characters;
    `labels`, by label, most frequent first; `rules`, by mode; `weight`, the minimum, median and maximum."""
    table = lexicon.table
    lengths = np.bincount(table.words.lengths())
    weights = weights_of(table) if table.size else np.ones(1, "f4")
    labels = Counter(label for text in table.column(LABELS).all() for label in unpack_labels(text))
    rules = Counter(rule.mode for entry in lexicon.ruled_words() for rule in entry.rules)
    return {
        "words": table.size,
        "dim": lexicon.dim,
        "dtype": str(table.vectors.dtype),
        "words_with_vector": int((vector_rows_of(table) >= 0).sum()),
        "words_with_entity_id": int((table.column(ENTITY_IDS).lengths() > 0).sum()),
        "lengths": {int(n): int(lengths[n]) for n in np.flatnonzero(lengths)},
        "labels": dict(labels.most_common()),
        "rules": {mode: rules[mode] for mode in MODES if rules[mode]},
        "weight": [float(weights.min()), float(np.median(weights)), float(weights.max())],
        "normalise_case": lexicon.normalization.case,
        "normalise_width": lexicon.normalization.width,
        "script": lexicon.normalization.script,
        "version": f"{lexicon.version:016x}",
    }


def _describe_build(report: BuildReport) -> str:
    """Summarise a lexicon's sources and what was left out, in short; --json has full paths and lists."""
    files = [Path(source).name for source in report.source.split(", ")]
    shown = ", ".join(files[:N_FILES]) + (f" and {len(files) - N_FILES} more" if len(files) > N_FILES else "")
    lines = [f"{shown}: {report.n_read} entries read, {report.n_skipped} skipped"]
    for reason, count in report.skipped.items():
        first = ", ".join(Path(place).name for place in report.places.get(reason, [])[:N_FILES])
        lines.append(
            f"  {count} x {REASONS.get(reason, reason)}"
            + (f": {first}" + (", ..." if count > N_FILES else "") if first else "")
        )
    return "\n".join(lines)


def _rows(summary: Dict[str, Any]) -> Dict[str, str]:
    """Format the figures as rows of a table."""
    words = summary["words"]
    labels = [f"{label} {count}" for label, count in list(summary["labels"].items())[:N_LABELS]]
    more = [f"and {len(summary['labels']) - N_LABELS} more"] if len(summary["labels"]) > N_LABELS else []
    normalised = [name for name in ("case", "width") if summary[f"normalise_{name}"]]
    normalised += [f"script ({summary['script']})"] if summary["script"] else []
    parts = ", ".join(f"{part} {size / 1e6:.1f}" for part, size in summary["bytes"].items())
    return {
        "Words": f"{words}",
        "Version": summary["version"],
        "Lengths": ", ".join(f"{length}: {count}" for length, count in summary["lengths"].items()) or "–",
        "Vectors": f"{summary['words_with_vector']} of {summary['dim']} dimensions, {summary['dtype']}",
        "Labels": ", ".join(labels + more) or "–",
        "Rules": ", ".join(f"{mode} {count}" for mode, count in summary["rules"].items()) or "–",
        "Entity ids": f"{summary['words_with_entity_id']}",
        "Weights": "{:g} to {:g}, median {:g}".format(*(summary["weight"][i] for i in (0, 2, 1))),
        "Normalised": " and ".join(normalised) or "nothing",
        "On disk": f"{sum(summary['bytes'].values()) / 1e6:.1f} MB ({parts})",
    }
