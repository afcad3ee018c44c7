"""Memory over a million short texts that keep bringing new words: tokenizer, `lex_matcher`, `lex_ner` on FLAT.

    python benchmarks/memory.py [--texts 1000000] [--width 128]

Each text has words of its own, in Latin and Chinese characters, beside lexicon words, one of which the FLAT was trained
to find, in a few steps. Each variant runs in a separate process: all texts with each batch in a memory zone, in words
of jieba and in characters; all texts through jieba's tokenizer alone, in zones too; a fifth of the texts, in words,
without zones. The last line is a JSON object: `growth_mb_per_million` (growth of resident memory per million texts with
zones, the slope after the first tenth, in words), of which `growth_mb_per_million_tokenizer` is spaCy's own,
`growth_mb_per_million_characters`, `growth_mb_per_million_without_zones`, `peak_mb` (with zones, in words).
"""

import argparse
import contextlib
import json
import random
import resource
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.training import Example

COMMON = [chr(code) for code in range(0x4E00, 0x4E00 + 2000)]
BATCH = 500
STEPS = 80
JIEBA = {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "jieba"}
CHARACTERS = {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}
PARTS = ["zones", "characters", "tokenizer", "without"]


def make_texts(n_texts: int, words: list[str]) -> Iterator[str]:
    rng = random.Random(0)
    for number in range(n_texts):
        latin = "".join(rng.choices(string.ascii_lowercase, k=4)) + str(number)
        chinese = "".join(rng.choices(COMMON, k=4))
        yield f"{chinese}在{rng.choice(words)}见{latin}"


def make_nlp(width: int, part: str) -> tuple["spacy.Language", list[str]]:
    rng = random.Random(1)
    words = ["".join(rng.choices(COMMON, k=rng.randint(2, 4))) for _ in range(50_000)]
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": CHARACTERS if part == "characters" else JIEBA}})
    if part == "tokenizer":
        return nlp, words
    nlp.add_pipe("lex_matcher").add_words(words)
    flat = {"@architectures": "spacy-lexner.FLAT.v1", "width": width}
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": flat}})
    examples = []
    for text in make_texts(60, words):
        span = (5, text.index("见"), "LOC")
        examples.append(Example.from_dict(nlp.make_doc(text), {"entities": [span]}))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    for _ in range(STEPS):
        nlp.update(examples, sgd=optimizer)
    return nlp, words


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text("utf8").split()[1])
    return pages * resource.getpagesize() / 2**20


def run(n_texts: int, width: int, part: str) -> None:
    nlp, words = make_nlp(width, part)
    texts = make_texts(n_texts, words)
    start, seen, step = time.perf_counter(), 0, max(BATCH, n_texts // 10)
    while seen < n_texts:
        with nlp.memory_zone() if part != "without" else contextlib.nullcontext():
            for doc in nlp.pipe((next(texts) for _ in range(BATCH)), batch_size=BATCH):
                assert part == "tokenizer" or doc.has_annotation("ENT_IOB")
        seen += BATCH
        if seen % step == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            seconds = time.perf_counter() - start
            row = {"texts": seen, "mb": resident_mb(), "peak_mb": peak, "strings": len(nlp.vocab.strings)}
            print(json.dumps({**row, "seconds": round(seconds, 1)}), flush=True)


def growth_per_million(rows: list[dict]) -> float:
    """The least-squares slope, in MB per million texts."""
    n = len(rows)
    mean_x, mean_y = sum(row["texts"] for row in rows) / n, sum(row["mb"] for row in rows) / n
    covariance = sum((row["texts"] - mean_x) * (row["mb"] - mean_y) for row in rows)
    return 1e6 * covariance / sum((row["texts"] - mean_x) ** 2 for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1_000_000, help="a multiple of 25,000")
    parser.add_argument("--width", type=int, default=128, help="width of the FLAT")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        run(args.texts, args.width, args.part)
        return
    rows: dict[str, list[dict]] = {}
    for part in PARTS:
        n_texts = args.texts // 5 if part == "without" else args.texts
        command = [sys.executable, __file__, "--texts", str(n_texts), "--width", str(args.width), "--part", part]
        rows[part] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                if line.startswith("{"):
                    rows[part].append(json.loads(line))
                    print(f"{part:10} {line}", end="", flush=True)
        if process.returncode:
            raise SystemExit(process.returncode)
    figures = {
        "growth_mb_per_million": growth_per_million(rows["zones"]),
        "growth_mb_per_million_characters": growth_per_million(rows["characters"]),
        "growth_mb_per_million_tokenizer": growth_per_million(rows["tokenizer"]),
        "growth_mb_per_million_without_zones": growth_per_million(rows["without"]),
        "peak_mb": rows["zones"][-1]["peak_mb"],
    }
    print(json.dumps({name: round(value, 1) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
