"""SoftLexicon against spaCy's default `ner` and FLAT: characters per second of CPU time through the whole pipeline, on
one core, each trained briefly, so that it finds about as many entities as there are. The systems alternate in each
round; speeds, and their ratios to that of `ner` in the same round, are medians over the rounds.

OMP_NUM_THREADS=1 python benchmarks/soft_lexicon.py project/lexicon/small project/corpus/weibo/train.spacy
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import Any, Dict, List, Optional

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lexner.lexicon import Lexicon

STEPS, BATCH = 60, 32
SOFT, FLAT = "spacy-lexner.SoftLexicon.v1", "spacy-lexner.FLAT.v1"
SYSTEMS: Dict[str, Optional[Dict[str, Any]]] = {
    "spacy_ner": None,
    "soft_lstm": {"@architectures": SOFT},
    "soft_cnn": {"@architectures": SOFT, "network": "cnn", "layers": 3},
    "flat": {"@architectures": FLAT},
}


def make_pipeline(encoder: Optional[Dict[str, Any]], lexicon: Lexicon, gold: List[Doc]) -> Language:
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    if encoder is None:
        nlp.add_pipe("ner")
    else:
        nlp.add_pipe("lex_matcher", config={"min_length": 1}).set_lexicon(lexicon)
        model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": encoder}
        nlp.add_pipe("lex_ner", config={"model": model})
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in gold]
    optimizer = nlp.initialize(lambda: examples)
    for step in range(STEPS):
        start = step * BATCH % len(examples)
        nlp.update(examples[start : start + BATCH], sgd=optimizer, annotates=["lex_matcher"] if encoder else [])
    return nlp


def measure(nlp: Language, texts: List[str]) -> float:
    """Characters per second of CPU time."""
    start = time.process_time()
    for _ in nlp.pipe(texts, batch_size=256):
        pass
    return sum(map(len, texts)) / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--texts", type=int, default=1350)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    lexicon = Lexicon.open(args.lexicon)
    gold = list(DocBin().from_disk(args.corpus).get_docs(spacy.blank("zh").vocab))[: args.texts]
    texts = [doc.text for doc in gold]
    names = ["spacy_ner", *(name for name in args.systems if name != "spacy_ner")]
    pipelines = {name: make_pipeline(SYSTEMS[name], lexicon, gold) for name in names}
    rounds = [{name: measure(nlp, texts) for name, nlp in pipelines.items()} for _ in range(args.rounds)]
    speeds = {name: round(median(each[name] for each in rounds)) for name in names}
    ratios = {f"{name}_x": round(median(each[name] / each["spacy_ner"] for each in rounds), 2) for name in names[1:]}
    print(json.dumps({**speeds, **ratios}))


if __name__ == "__main__":
    main()
