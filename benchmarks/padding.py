"""How much of a batch is padding: our batcher beside spaCy's, on the training sets of Weibo and MSRA.

    python benchmarks/padding.py [--max-tokens 2048]

Waste is the share of padding in all rows that a model computes. The texts are shuffled first, as in training.
The last line is JSON.
"""

import argparse
import json
import random
import time
from pathlib import Path
from typing import Callable, Iterable, List, Tuple

from real_text import DATA
from spacy.training.batchers import (
    configure_minibatch,
    configure_minibatch_by_padded_size,
    configure_minibatch_by_words,
)

from spacy_lexner.formats.conll import read_conll
from spacy_lexner.formats.record import ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.training.batchers import PaddedBatcher

SETS = {"weibo": "ner/weibo/train.conll", "msra": "ner/msra/train.conll.gz"}
BatcherT = Callable[[Iterable[range]], Iterable[List[range]]]


def read_texts(path: Path) -> List[range]:
    """Read texts, each as a range of its length."""
    return [range(len(record.text)) for record in read_conll(Source(path), ReadOptions(), Report())]


def measure(batcher: BatcherT, texts: List[range]) -> Tuple[float, int, int, float]:
    start = time.perf_counter()
    batches = list(batcher(texts))
    seconds = time.perf_counter() - start
    padded = [max(map(len, batch)) * len(batch) for batch in batches]
    assert sum(map(len, batches)) == len(texts), "every text is in exactly one batch"
    return 1 - sum(map(len, texts)) / sum(padded), len(batches), max(padded), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Padding waste of batchers")
    parser.add_argument("--max-tokens", type=int, default=2048)
    max_tokens = parser.parse_args().max_tokens
    waste = {}
    print(f"{'set':<6} {'batcher':<36} {'waste':>7} {'batches':>8} {'largest':>8} {'seconds':>8}")
    for name, file in SETS.items():
        texts = read_texts(DATA / file)
        random.Random(0).shuffle(texts)
        per_batch = max(1, max_tokens * len(texts) // sum(map(len, texts)))
        batchers = {
            "ours": PaddedBatcher(max_tokens, seed=0),
            "spacy.batch_by_padded, buffer 256": configure_minibatch_by_padded_size(
                size=max_tokens, buffer=256, discard_oversize=False
            ),
            "spacy.batch_by_words": configure_minibatch_by_words(
                size=max_tokens, tolerance=0.2, discard_oversize=False
            ),
            f"spacy.batch_by_sequence, {per_batch} texts": configure_minibatch(per_batch),
        }
        for label, batcher in batchers.items():
            share, n_batches, largest, seconds = measure(batcher, texts)
            waste.setdefault(f"waste_{name}", round(share, 4))  # the first one is ours
            print(f"{name:<6} {label:<36} {share:>7.1%} {n_batches:>8,} {largest:>8,} {seconds:>8.2f}")
    print(json.dumps(waste))


if __name__ == "__main__":
    main()
