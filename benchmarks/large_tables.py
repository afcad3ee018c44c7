"""A step of training FLAT with a large table of bigrams, in which only rows that move are updated, against updates of
the whole table.

    OMP_NUM_THREADS=1 python benchmarks/large_tables.py [--bigrams 290000] [--steps 200] [--repeats 5]

Texts of random characters, as many as give the table the rows that 46,000 texts of MSRA give it, drawn with frequencies
that fall as 1 / rank, so that about as many rows move as on MSRA (48,000); 750 characters a batch; the encoder's
defaults; AdamW with averages. The last line is a JSON object: milliseconds of the processor for a step, `rows_ms` and
`whole_ms` (medians, the two by turns), and their ratio `rows_x`.
"""

import argparse
import json
import random
import time
from statistics import median
from unittest.mock import patch

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_lexner.training.optimizers.adamw import GroupedAdamW

CHARACTERS = [chr(code) for code in range(0x4E00, 0x4E00 + 4000)]
LENGTH, BATCH = 50, 15  # characters in a text, texts in a batch


def make_nlp(n_bigrams: int) -> tuple[Language, list[Example]]:
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["".join(random.choices(CHARACTERS, k=2)) for _ in range(50_000)])
    nlp.add_pipe("lex_ner")
    examples = []
    for _ in range(n_bigrams // LENGTH):
        doc = nlp.make_doc("".join(random.choices(CHARACTERS, k=LENGTH)))
        examples.append(Example.from_dict(doc, {"entities": [(10, 12, "PER")]}))
    nlp.initialize(lambda: examples)
    return nlp, examples


def seconds_per_step(nlp: Language, optimizer: GroupedAdamW, examples: list[Example], steps: int) -> float:
    shares = [1 / rank for rank in range(1, len(examples) + 1)]
    start = time.process_time()
    for _ in range(steps):
        nlp.update(random.choices(examples, shares, k=BATCH), sgd=optimizer)
    return (time.process_time() - start) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bigrams", type=int, default=290_000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    fix_random_seed(0)
    nlp, examples = make_nlp(args.bigrams)
    optimizer = GroupedAdamW(0.0015, weight_decay=0.0, use_averages=True)
    times: dict[str, list[float]] = {"rows": [], "whole": []}
    for turn in range(args.repeats + 1):
        rows = seconds_per_step(nlp, optimizer, examples, args.steps)
        with patch.object(GroupedAdamW, "change_rows", return_value=False):
            whole = seconds_per_step(nlp, optimizer, examples, args.steps)
        if turn:  # the first warms up
            times["rows"].append(rows)
            times["whole"].append(whole)
            print(f"rows {1000 * rows:.0f} ms, whole {1000 * whole:.0f} ms", flush=True)
    rows_ms, whole_ms = (1000 * median(times[name]) for name in ("rows", "whole"))
    result = {"rows_ms": round(rows_ms, 1), "whole_ms": round(whole_ms, 1), "rows_x": round(whole_ms / rows_ms, 2)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
