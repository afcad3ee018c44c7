"""One Doc of a million characters through the tokenizer and the matcher, and through a small LEBERT.

    python benchmarks/long_doc.py [--characters 1000000]

Each part runs in a separate process, so that peak memory is its own. Text and lexicon are real if the data folder has
the public data sets, otherwise random. The last line is a JSON object: `seconds_tokenise_match` (median of 5),
`peak_mb` (the most that predicting adds to the memory of the loaded pipeline).
"""

import argparse
import gzip
import json
import random
import resource
import statistics
import subprocess
import sys
import time

import spacy
from real_text import DATA, read_text
from spacy.training import Example

from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon

ARCHITECTURE = "spacy-lexner.LEBERT.v1"
TRAINED_LENGTH = 100  # length of a training text in characters: the tagger reads long texts in segments of that length


def read_words(text: str) -> list[str]:
    path = DATA / "lexicon" / "jieba_words.tsv.gz"
    if not path.is_file():
        rng = random.Random(0)
        return [text[i : i + rng.randint(2, 4)] for i in rng.choices(range(len(text)), k=100_000)]
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [line.split("\t")[0] for line in file]


def make_nlp(text: str) -> "spacy.Language":
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    entries = (LexiconEntry(word) for word in read_words(text))
    nlp.add_pipe("lex_matcher").set_lexicon(Lexicon.from_entries(entries))
    return nlp


def tokenise_and_match(text: str) -> None:
    nlp = make_nlp(text)
    nlp(text[:1000])
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        doc = nlp(text)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(seconds), "tokens": len(doc), "words": len(doc._.lex_matches)}))


def predict(text: str) -> None:
    nlp = make_nlp(text)
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": {"@architectures": ARCHITECTURE}}}).add_label("PER")
    texts = [nlp.make_doc(text[i : i + TRAINED_LENGTH]) for i in range(0, 5000, TRAINED_LENGTH)]
    nlp.initialize(lambda: [Example.from_dict(doc, {"entities": []}) for doc in texts])
    nlp(text[:5000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    doc = nlp(text)
    seconds = time.perf_counter() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"seconds": seconds, "tokens": len(doc), "peak_mb": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--part", choices=["match", "predict"])
    args = parser.parse_args()
    if args.part:
        {"match": tokenise_and_match, "predict": predict}[args.part](read_text(args.characters))
        return
    results = {}
    for part in ("match", "predict"):
        command = [sys.executable, __file__, "--characters", str(args.characters), "--part", part]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results[part] = json.loads(output.splitlines()[-1])
        print(f"{part:10} {results[part]}", flush=True)
    figures = {"seconds_tokenise_match": results["match"]["seconds"], "peak_mb": results["predict"]["peak_mb"]}
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
