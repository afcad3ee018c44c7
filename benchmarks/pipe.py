"""`nlp.pipe` in one process and in several, spaCy's way and ours, on short texts.

    python benchmarks/pipe.py MODEL TEXTS [--n-process 2] [--repeats 5]

The ways take turns. The last line is JSON: median characters per second of wall-clock time, and each way relative to
one process.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Callable, Dict, Iterator

import spacy
from spacy.tokens import Doc

import spacy_lexner
from spacy_lexner.cli.shared import read_texts


def main(model: str, path: str, n_process: int, repeats: int) -> None:
    nlp = spacy.load(model)
    texts = list(read_texts([Path(path)]))
    n_characters = sum(map(len, texts))
    ways: Dict[str, Callable[[], Iterator[Doc]]] = {
        "one_process": lambda: nlp.pipe(texts),
        "spacy_processes": lambda: nlp.pipe(texts, n_process=n_process),
        "our_processes": lambda: spacy_lexner.pipe(nlp, texts, n_process=n_process),
    }
    seconds: Dict[str, list] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, run in ways.items():
            start = time.perf_counter()
            for _ in run():
                pass
            if turn:  # the first is to warm up
                seconds[name].append(time.perf_counter() - start)
    speed = {name: round(n_characters / statistics.median(own)) for name, own in seconds.items()}
    print(json.dumps({**speed, **{f"{name}_x": round(own / speed["one_process"], 2) for name, own in speed.items()}}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts")
    parser.add_argument("--n-process", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    found = parser.parse_args()
    main(found.model, found.texts, found.n_process, found.repeats)
