"""How well scores are calibrated: temperatures are fitted on one half of dev and measured on the other.

For each model: the expected calibration error before and after, averaged over random splits into halves, both of which
are measured in turn; and the error that perfect scores would show by chance with this number of entities. The last line
is JSON.
"""

import argparse
import json
import statistics
from itertools import chain
from pathlib import Path
from typing import Any, Dict

from pipelines import load_pipeline, read_pair

from spacy_lexner.report.calibrate import cross_fit
from spacy_lexner.report.confidence import chance_error, expected_error, judge
from spacy_lexner.report.gold import read_gold
from spacy_lexner.report.predict import find_lex_ner, predict_uncalibrated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=read_pair, metavar="MODEL=DEV", help="a pipeline, and its dev.spacy")
    parser.add_argument("--repeats", type=int, default=20, help="how often dev is halved")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("| model | entities found | ECE before | ECE after | by chance |")
    print("|---|---:|---:|---:|---:|")
    figures = {}
    for model, dev in arguments.models:
        figures[model] = row = measure(model, dev, arguments.repeats, arguments.seed)
        after = f"{row['after']:.3f} ± {row['spread']:.3f}"
        print(f"| {model} | {row['n']} | {row['before']:.3f} | {after} | {row['chance']:.3f} |", flush=True)
    print(json.dumps(figures))


def measure(model: str, dev: str, repeats: int, seed: int) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The number `n` of predictions; the errors `before`, `after` (mean, and `spread`) and
    by `chance`."""
    nlp = load_pipeline(Path(model))
    gold = list(read_gold(dev))
    texts = predict_uncalibrated(nlp, find_lex_ner(nlp), gold).outcomes(gold)
    before = judge(chain.from_iterable(texts))
    after = [judge(chain.from_iterable(cross_fit(texts, seed=seed + i))) for i in range(repeats)]
    errors = [expected_error(predictions) for predictions in after]
    return {
        "n": len(before),
        "before": round(expected_error(before), 4),
        "after": round(statistics.mean(errors), 4),
        "spread": round(statistics.pstdev(errors), 4),
        "chance": round(statistics.mean(chance_error(predictions) for predictions in after), 4),
    }


if __name__ == "__main__":
    main()
