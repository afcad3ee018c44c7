"""Time that a report takes beyond that of the model.

    python benchmarks/report.py training/model-best corpus/test.spacy --texts 5000

The texts of the corpus are repeated until there are enough. Timed is everything that `spacy lexner report` does from
the loaded pipeline to the written page; the model's own time is that of `nlp.pipe` over the texts. Medians of the
rounds.
"""

import argparse
import json
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import spacy

from spacy_lexner.report.gold import mentions, read_gold
from spacy_lexner.report.measure import Settings
from spacy_lexner.report.page import make_page
from spacy_lexner.report.report import make_report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a pipeline")
    parser.add_argument("corpus", type=Path, help="annotated texts, as .spacy")
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.model)
    corpus = list(read_gold(arguments.corpus))
    gold = list(islice(cycle(corpus), arguments.texts))
    settings = Settings(seen=mentions(corpus[::2]))
    rounds = []
    for _ in range(arguments.rounds):
        begin = time.perf_counter()
        report = make_report([("model", nlp)], gold, settings)
        with tempfile.TemporaryDirectory() as folder:
            page = make_page(report)
            (Path(folder) / "report.html").write_text(page, "utf8")
            (Path(folder) / "report.json").write_text(json.dumps(report.to_json()), "utf8")
        whole = time.perf_counter() - begin
        rounds.append((whole, report.models["model"].figures["seconds"], len(page)))
    whole, model = median(row[0] for row in rounds), median(row[1] for row in rounds)
    beyond = median(row[0] - row[1] for row in rounds)
    print(f"{arguments.texts} texts, {sum(len(text.text) for text in gold)} characters")
    print(f"{'whole':10}{whole:8.1f} s\n{'model':10}{model:8.1f} s\n{'beyond it':10}{beyond:8.1f} s")
    figures = {"texts": len(gold), "seconds": whole, "model_seconds": model, "seconds_beyond": beyond}
    print(json.dumps({**figures, "page_bytes": rounds[-1][2]}))


if __name__ == "__main__":
    main()
