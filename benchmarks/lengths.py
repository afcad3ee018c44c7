"""How F1 changes when several texts are joined into one Doc.

    python benchmarks/lengths.py training/model-best corpus/test.spacy

Texts are joined 2, 5, 20 and 500 at a time, with a newline, a space, a full stop or nothing between them. JSON:
`worst_drop`, the greatest loss of F1, in points, with a separator, and `worst_drop_none`, without one.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any, Dict, List, Sequence

import spacy

from spacy_lexner.report.gold import read_gold

SEPARATORS = {"line end": "\n", "space": " ", "full stop": "。", "nothing": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a pipeline with lex_ner")
    parser.add_argument("corpus", type=Path, help="annotated texts, as .spacy")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 5, 20, 500], help="texts per Doc")
    parser.add_argument("--limit", type=int, help="use only this many texts, drawn at random")
    parser.add_argument("--length", type=int, help="tokens per segment, instead of the model's own setting")
    parser.add_argument("--whole", action="store_true", help="no segments, only the encoder's windows")
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.model)
    if arguments.whole or arguments.length:
        for _, pipe in nlp.pipeline:
            for node in pipe.model.walk() if getattr(pipe, "model", None) else ():
                if "limits" in node.attrs:
                    node.attrs["limits"] = None if arguments.whole else [arguments.length, False]
    texts = [text for text in read_gold(arguments.corpus) if text.text]
    random.Random(0).shuffle(texts)
    texts = texts[: arguments.limit]
    alone = f1(nlp, texts, 1, "")
    figures: Dict[str, Any] = {"texts": len(texts), "alone": alone}
    print(f"{'texts in a Doc':16}" + "".join(f"{size:>7}" for size in [1, *arguments.sizes]))
    for name, separator in SEPARATORS.items():
        row = [f1(nlp, texts, size, separator) for size in arguments.sizes]
        figures[name] = dict(zip(map(str, arguments.sizes), row))
        print(f"{name:16}" + "".join(f"{score:7.1f}" for score in [alone, *row]), flush=True)
    between = [min(figures[name].values()) for name in SEPARATORS if name != "nothing"]
    figures["worst_drop"] = round(alone - min(between), 2)
    figures["worst_drop_none"] = round(alone - min(figures["nothing"].values()), 2)
    print(json.dumps(figures))


def f1(nlp: spacy.Language, texts: Sequence[Any], size: int, separator: str) -> float:
    """F1 by characters, in percent, on texts joined `size` at a time."""
    joined, gold = [], []
    for first in range(0, len(texts), size):
        text, marks = "", set()
        for part in texts[first : first + size]:
            text += separator if text else ""
            marks |= {(mark.start + len(text), mark.end + len(text), mark.label) for mark in part.marks}
            text += part.text
        joined.append(text)
        gold.append(marks)
    found: List[Any] = [
        {(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents} for doc in nlp.pipe(joined, batch_size=64)
    ]
    right = sum(len(a & b) for a, b in zip(gold, found))
    return round(200 * right / max(1, sum(map(len, gold)) + sum(map(len, found))), 2)


if __name__ == "__main__":
    main()
