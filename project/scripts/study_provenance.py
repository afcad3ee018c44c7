"""Whether entities rest on the words that they attend to: how much their score changes when the word with the most
attention is removed from the lattice, and how much when another one is.

Only entities with two or more words on their tokens count. The last line is JSON.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any, Dict

from pipelines import load_pipeline, read_pair
from spacy.tokens import DocBin
from tqdm import tqdm

from spacy_lexner.pipeline.explain import explain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "models", nargs="+", type=read_pair, metavar="MODEL=TEXTS", help="a pipeline, and a .spacy file"
    )
    parser.add_argument("--limit", type=int, default=300, help="maximum number of texts per file")
    arguments = parser.parse_args()
    print("| model | entities with two or more words | change without the top word | without another |")
    print("|---|---:|---:|---:|")
    figures = {}
    for model, path in arguments.models:
        figures[model] = row = measure(model, path, arguments.limit)
        print(f"| {model} | {row['n']} | {row['top']:.3f} | {row['others']:.3f} |", flush=True)
    print(json.dumps(figures))


def measure(model: str, path: str, limit: int) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The number `n` of entities; the mean absolute change without the `top` word, and
    without one of the `others`."""
    nlp = load_pipeline(Path(model))
    texts = [doc.text for doc in DocBin().from_disk(path).get_docs(nlp.vocab)][:limit]
    top, others = [], []
    for doc in tqdm(nlp.pipe(texts), total=len(texts), desc=model, disable=None, leave=False):
        explain(nlp, doc)
        for words in (ent._.lex_words for ent in doc.ents):
            if len(words) > 1:
                changes = [abs(word.change) for word in words]
                top.append(changes[0])
                others.append(statistics.mean(changes[1:]))
    if not top:
        raise SystemExit(f"{model} finds no entity with two or more words in {path}.")
    return {"n": len(top), "top": round(statistics.mean(top), 4), "others": round(statistics.mean(others), 4)}


if __name__ == "__main__":
    main()
