"""CharTokenizer beside spaCy's own Chinese tokenizer (segmenter = "char"), on texts of growing length.

    python benchmarks/tokenizer.py

spaCy's takes about half a minute for 1,000,000 characters and is run only once there. The last line is JSON.
"""

import gzip
import json
import random
import statistics
import time

from real_text import DATA
from spacy.lang.zh import Chinese

from spacy_lexner.pipeline.char_tokenizer import CharTokenizer

SIZES = (10_000, 100_000, 1_000_000)
REPEATS = 5


def sample_text(size: int) -> str:
    """Real paragraphs if the data folder has any, otherwise random Han characters with some white space."""
    source = DATA / "text" / "lctt.txt.gz"
    if source.is_file():
        with gzip.open(source, "rt", encoding="utf-8") as file:
            text = file.read(size)
        if len(text) == size:
            return text
    generator = random.Random(0)
    return "".join(chr(generator.randint(0x4E00, 0x9FA5)) if generator.random() > 0.04 else " " for _ in range(size))


def seconds(tokenizer, text: str, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        tokenizer(text)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    nlp = Chinese()
    ours = CharTokenizer(nlp.vocab)
    text = sample_text(max(SIZES))
    print(f"{'characters':>12} {'ours s':>10} {'spaCy s':>10} {'ratio':>8}")
    for size in SIZES:
        part = text[:size]
        fast = seconds(ours, part, REPEATS)
        slow = seconds(nlp.tokenizer, part, REPEATS if size < 100_000 else 1)
        print(f"{size:>12,} {fast:>10.4f} {slow:>10.3f} {slow / fast:>8.1f}")
    head = text[:100_000]
    tokens = [[(token.text, token.whitespace_) for token in tokenize(head)] for tokenize in (ours, nlp.tokenizer)]
    if tokens[0] != tokens[1]:
        raise SystemExit("the tokens differ")
    print(json.dumps({"spacy_x": round(slow / fast, 1), "seconds_1m": round(fast, 3)}))


if __name__ == "__main__":
    main()
