"""`spacy lexner debug-data`: checks a config's data (labels, alignment, lexicon coverage, text lengths)."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, List, NamedTuple, Optional, Set

import srsly
import typer
from spacy.cli._util import import_code, parse_config_overrides
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry, resolve_dot_names
from wasabi import msg

from ...lexicon.lexicon import Lexicon
from ...pipeline.lexicon_pipe import find_matchers
from ...pipeline.matcher.load_lexicon import configured_reader
from ..model.training_config import CodeOption
from ..shared import JsonOption, failing, progress

FEW = 50  # a label with fewer entities is hardly learned
MIN_COVERAGE = 0.2  # share of the unseen entities that the lexicon should have
N_SHOWN = 5
FINDERS = {"lex_ner", "ner", "beam_ner", "spancat", "spancat_singlelabel"}  # factories of what learns entities


class Split(NamedTuple):
    """The entities and lengths of one split."""

    labels: Counter[str]
    entities: List[str]  # texts, one for each entity
    misaligned: List[str]  # entities that do not begin and end with tokens of the pipeline
    lengths: List[int]  # of the texts, in tokens


def debug_data_cli(
    ctx: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="The config of the training")],
    code: CodeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the data of a config before training.

    It reports labels, entities off token borders, how many entities the lexicon has, seen and unseen in train, and
    lengths of texts against the window of the encoder. Give the same overrides as in spacy train.

    \b
    Example:
      python -m spacy lexner debug-data config.cfg --paths.train train.spacy --paths.dev dev.spacy --paths.lexicon
      my_lexicon
    """
    with failing("The data cannot be checked"):
        import_code(code)
        config = load_config(config_path, overrides=parse_config_overrides(ctx.args), interpolate=False)
        found = check_data(load_model_from_config(config, auto_fill=True))
    if as_json:
        typer.echo(srsly.json_dumps(found))
        return
    labels = sorted(found["train"]["labels"], key=lambda label: -found["train"]["labels"][label])
    labels += sorted(set(found["dev"]["labels"]) - set(labels))
    splits = ("train", "dev")
    msg.table(
        [[label, *(found[split]["labels"].get(label, 0) for split in splits)] for label in labels],
        header=["label", *splits],
        divider=True,
    )
    rows = [(name, *(found[split][name.replace(" ", "_")] for split in splits)) for name in ("texts", "entities")]
    rows += [("off token borders", *(found[split]["misaligned"] for split in splits))]
    rows += [("median length", *(found[split]["median_length"] for split in splits))]
    rows += [("longest text", *(found[split]["longest"] for split in splits))]
    msg.table(rows, header=["", *splits], divider=True)
    for kind, (n_known, n_all) in (found["coverage"] or {}).items():
        share = f" ({n_known / n_all:.0%})" if n_all else ""
        msg.text(f"In the lexicon: {n_known} of {n_all} entities {kind}{share}")
    for warning in found["warnings"]:
        msg.warn(warning)
    if not found["warnings"]:
        msg.good("Nothing looks wrong")


def check_data(nlp: Language) -> Dict[str, Any]:
    """Summarise the data of a pipeline's config, ready for JSON: `train` and `dev`, counts and lengths; `coverage`, for
    each kind of entity how many the lexicon has, and of how many (None without a lexicon); `windows` by component;
    `warnings`. Raises ValueError if there is no data."""
    config = nlp.config.interpolate()
    for block in config["corpora"].values():  # the texts as they are, not as training varies them
        block.pop("augmenter", None)
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    corpora = resolve_dot_names(config, [training["train_corpus"], training["dev_corpus"]])
    train, dev = (read_split(nlp, progress(corpus(nlp), "reading")) for corpus in corpora)
    seen = set(train.entities)
    lexicon, coverage = read_lexicon(nlp), None
    if lexicon is not None:
        new = [text for text in dev.entities if text not in seen]
        old = [text for text in dev.entities if text in seen]
        kinds = {"of train": train.entities, "of dev, seen in train": old, "of dev, unseen": new}
        coverage = {kind: [sum(text in lexicon for text in texts), len(texts)] for kind, texts in kinds.items()}
    components = config["components"]
    finds_entities = not FINDERS.isdisjoint(nlp.pipe_factories.values())
    warnings = [*_warn(train, dev, seen), *_warn_of_lexicon(coverage)] if finds_entities else []
    windows = {name: min(found) for name in nlp.pipe_names if (found := find_windows(components[name]))}
    return {
        "train": _figures(train),
        "dev": _figures(dev),
        "coverage": coverage,
        "windows": windows,
        "warnings": [*warnings, *_warn_of_lengths(train, dev, windows)],
    }


def read_split(nlp: Language, examples: Iterable[Example]) -> Split:
    """Read the examples of a corpus, and compare their entities with the pipeline's tokens."""
    split = Split(Counter(), [], [], [])
    for example in examples:
        split.lengths.append(len(example.predicted))
        for ent in example.reference.ents:
            split.labels[ent.label_] += 1
            split.entities.append(ent.text)
            if example.predicted.char_span(ent.start_char, ent.end_char) is None:
                split.misaligned.append(f"{ent.label_} {ent.text!r}")
    if not split.lengths:
        raise ValueError("A corpus has no texts. Give --paths.train and --paths.dev as in spacy train.")
    return split


def read_lexicon(nlp: Language) -> Optional[Lexicon]:
    """The lexicon that training would use; None if the pipeline has no `lex_matcher`."""
    for name, matcher in find_matchers(nlp).items():
        reader = configured_reader(nlp, name)
        return matcher.lexicon if reader is None else reader(nlp)
    return None


def find_windows(block: Dict[str, Any]) -> List[int]:
    """The windows of the encoders in a block of a config, in characters or wordpieces."""
    own = [block["window"]] if isinstance(block.get("window"), int) else []
    return own + [window for inner in block.values() if isinstance(inner, dict) for window in find_windows(inner)]


def _figures(split: Split) -> Dict[str, Any]:
    return {
        "texts": len(split.lengths),
        "entities": len(split.entities),
        "labels": dict(split.labels),
        "misaligned": len(split.misaligned),
        "median_length": sorted(split.lengths)[len(split.lengths) // 2],
        "longest": max(split.lengths),
    }


def _warn(train: Split, dev: Split, seen: Set[str]) -> Iterable[str]:
    if not train.entities:
        yield "train has no entities: convert annotated files (`spacy lexner convert`)"
    if not dev.entities:
        yield "dev has no entities, so it cannot show which model is best: give annotated texts that have some"
    if few := [f"{label} ({count})" for label, count in train.labels.items() if count < FEW]:
        yield f"few examples in train (below {FEW}): {', '.join(few)}"
    if unknown := sorted(set(dev.labels) - set(train.labels)):
        yield f"in dev only, so never learned: {', '.join(unknown)}"
    for name, split in (("train", train), ("dev", dev)):
        if split.misaligned:
            yield (
                f"{name}: {len(split.misaligned)} entities do not begin and end with tokens "
                f"({', '.join(split.misaligned[:N_SHOWN])}): use spacy-lexner.CharTokenizer.v1"
            )
    if dev.entities and all(text in seen for text in dev.entities):
        yield "every entity of dev occurs in train: dev cannot show what the model does with new ones"


def _warn_of_lexicon(coverage: Optional[Dict[str, List[int]]]) -> Iterable[str]:
    if coverage is not None:
        (train_known, n_train), (_, _), (known, n_unseen) = coverage.values()
        if n_unseen and known < MIN_COVERAGE * n_unseen:
            yield f"the lexicon has {known} of the {n_unseen} unseen entities of dev: more words would help"
        if n_unseen and n_train and train_known / n_train > 0.5 + known / n_unseen:
            yield (
                f"the lexicon has {train_known / n_train:.0%} of the entities of train, {known / n_unseen:.0%} of the "
                "unseen ones of dev: is it made of train? The model would trust it too much"
            )


def _warn_of_lengths(train: Split, dev: Split, windows: Dict[str, int]) -> Iterable[str]:
    for name, window in windows.items():
        longer = sum(length > window for length in train.lengths)
        if longer:
            yield f"{name}: {longer} texts of train are longer than its window of {window}: read in parts that overlap"
    longest = max(train.lengths)
    if max(dev.lengths) > 2 * longest:
        yield f"dev has texts of {max(dev.lengths)} tokens, train none above {longest}: train on such lengths too"
