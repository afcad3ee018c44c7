"""Degenerate texts through a whole pipeline: how many seconds more they take than plain text of the same length.

    python benchmarks/degenerate.py MODEL [--characters 100000]

MODEL is a trained pipeline with `lex_matcher` and an encoder such as FLAT; words of one repeated character, up to 64
long, are added to its lexicon. The plain text is real if the data folder has the public data sets. The last line is a
JSON object: the seconds of `plain`, and how many more each other text takes; in CPU time, which other work on the
machine does not lengthen.
"""

import argparse
import json
import time

import spacy
from real_text import read_text

NESTED = 64
UNITS = {
    "line_ends": "\n",
    "marks": "e" + "\u0301" * 999,
    "joined_emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "nested_words": "哈",
    "spaces": "\u3000",
    "letters": "a",
}


def measure(nlp: "spacy.Language", text: str) -> float:
    start = time.process_time()
    nlp(text)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--characters", type=int, default=100_000)
    args = parser.parse_args()
    nlp = spacy.load(args.model)
    nlp.max_length = max(nlp.max_length, args.characters)
    nlp.get_pipe("lex_matcher").add_words(["哈" * length for length in range(1, NESTED + 1)])
    plain = read_text(args.characters)[: args.characters]
    measure(nlp, plain[:1000])
    result = {"characters": args.characters, "plain": round(measure(nlp, plain), 2)}
    for name, unit in UNITS.items():
        text = (unit * (args.characters // len(unit) + 1))[: args.characters]
        result[name] = round(measure(nlp, text) - result["plain"], 2)
        print(f"{name}: {result[name]:+.2f} s", flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
