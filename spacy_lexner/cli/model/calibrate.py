"""`spacy lexner calibrate`: make the scores of entities match how often such entities are right."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Dict, Optional, Sequence

import typer
from wasabi import msg

from ...integrity.pipelines import save
from ...pipeline.ner.calibration import Calibration, Scale, Threshold
from ...report.calibrate import MIN_EXAMPLES, best_thresholds, cross_fit, fit, rescore
from ...report.confidence import Judged, chance_error, expected_error, judge
from ...report.gold import read_gold
from ...report.predict import find_lex_ner, predict_uncalibrated
from ..shared import ForceOption, check_new, failing, load_pipeline, status, warn_of_failures


def calibrate_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with lex_ner, by folder or name")],
    dev: Annotated[
        Path,
        typer.Argument(metavar="DEV", help="Annotated texts it was not trained on: a .spacy file or a folder"),
    ],
    output: Annotated[
        Optional[Path],
        typer.Option(
            "--output", "-o", metavar="OUT", help="The folder for the calibrated pipeline; default: not saved"
        ),
    ] = None,
    thresholds: Annotated[
        bool, typer.Option("--thresholds", help="Also drop entities below the score with the best F1 for their label")
    ] = False,
    component: Annotated[
        Optional[str],
        typer.Option("--component", "-n", metavar="NAME", help="The component, if there is more than one lex_ner"),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", "-k", metavar="K", help="Fit on all but one of K parts, measure on it", min=2)
    ] = 2,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="Number of divisions into parts; scores are means", min=1)
    ] = 10,
    min_examples: Annotated[
        int, typer.Option(metavar="N", help="Labels with fewer predictions take the shared temperature", min=1)
    ] = MIN_EXAMPLES,
    seed: Annotated[int, typer.Option(help="Seed of the division into parts", min=0)] = 0,
    force: ForceOption = False,
) -> None:
    """Fit a temperature for each label, so that ent._.lex_score tells how often such entities are right.

    The score is 1 / (1 + exp(-(logit(p) / temperature + bias))), where p is the probability of the span. The
    calibration is fitted on all of DEV; the expected calibration error (ECE) is cross-fitted: measured on each of K
    parts of DEV after fitting on the others. "By chance" is the ECE of perfect scores on a sample of this size.

    A threshold for all labels (0.5 by default) stays: entities with a lower score are dropped, now by the new scores.
    Earlier thresholds per label, made for other scores, are dropped.

    \b
    Example:
      python -m spacy lexner calibrate training/model-best corpus/dev.spacy -o training/model-calibrated
    """
    with failing("Nothing was calibrated"):
        check_new(output, force, [dev])
        nlp = load_pipeline(model)
        ner = find_lex_ner(nlp, component)
        gold = list(read_gold(dev))
        predictions = predict_uncalibrated(nlp, ner, gold)
        warn_of_failures(predictions.failed)
        texts = predictions.outcomes(gold)
        divided = [cross_fit(texts, n_folds=folds, seed=seed + i, min_examples=min_examples) for i in range(repeats)]
        after = [judge(chain.from_iterable(scored)) for scored in divided]
        before = judge(chain.from_iterable(texts))
        calibration = fit(before, min_examples=min_examples)
        outcomes = rescore(list(chain.from_iterable(texts)), calibration)
        chosen = best_thresholds(outcomes, min_examples=min_examples) if thresholds else {}
        print_calibration(before, after, calibration, chosen)
        if output is not None:
            threshold = chosen or find_kept(ner.cfg["threshold"])
            ner.set_confidence(calibration, threshold)
            nlp.get_pipe_config(ner.name)["threshold"] = threshold
            with status(f"writing {output}"):
                save(nlp, output)
    if output is None:
        msg.info("Nothing was saved: --output saves the calibrated pipeline.")
    else:
        msg.good(f"{output}: the calibrated pipeline")


def find_kept(threshold: Threshold) -> Threshold:
    """RETURNS (Threshold): What is left of an earlier threshold once scores are others."""
    if not isinstance(threshold, dict):
        return threshold
    msg.warn("The thresholds per label were made for other scores and are dropped; --thresholds chooses new ones.")
    return 0.0


def print_calibration(
    before: Sequence[Judged],
    after: Sequence[Sequence[Judged]],
    calibration: Calibration,
    thresholds: Dict[str, float],
) -> None:
    """Print a row per label and one for all, from the predictions with the model's probabilities (`before`) and with
    cross-fitted scores, for each division into parts (`after`)."""
    rows = []
    for label in (*sorted({judged.label for judged in before}), None):
        own, *scored = ([each for each in part if label in (None, each.label)] for part in (before, *after))
        scale: Scale = calibration.labels.get(label or "", calibration.shared)
        note = "" if label is None or label in calibration.labels else " (shared)"
        cells = [str(len(own)), f"{100 * sum(each.right for each in own) / len(own):.1f}"]
        cells += [f"{scale.temperature:.2f}{note}", f"{scale.bias:+.2f}", f"{expected_error(own):.3f}"]
        cells += [f"{sum(map(measure, scored)) / len(scored):.3f}" for measure in (expected_error, chance_error)]
        cells += [f"{thresholds[label]:.2f}" if label in thresholds else ""] * bool(thresholds)
        rows.append(["all" if label is None else label, *cells])
    header = ["label", "found", "% right", "temperature", "bias", "ECE before", "after", "by chance"]
    header += ["threshold"] * bool(thresholds)
    msg.table(rows, header=header, divider=True, aligns=("l", *"r" * (len(header) - 1)))
