"""SoftLexicon against spaCy's default `ner` and FLAT: characters per second through the whole pipeline, on one core,
each trained briefly, so that it finds about as many entities as there are.

OMP_NUM_THREADS=1 python benchmarks/soft_lexicon.py project/lexicon/small project/corpus/weibo/train.spacy
"""

import argparse
import json
import time
from pathlib import Path
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


def measure(nlp: Language, texts: List[str], repeats: int) -> float:
    """The best speed, in characters per second of CPU time."""
    best = 0.0
    for _ in range(repeats):
        start = time.process_time()
        for _ in nlp.pipe(texts, batch_size=256):
            pass
        best = max(best, sum(map(len, texts)) / (time.process_time() - start))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--texts", type=int, default=1350)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    lexicon = Lexicon.open(args.lexicon)
    gold = list(DocBin().from_disk(args.corpus).get_docs(spacy.blank("zh").vocab))[: args.texts]
    texts = [doc.text for doc in gold]
    speeds = {
        name: measure(make_pipeline(SYSTEMS[name], lexicon, gold), texts, args.repeats)
        for name in ["spacy_ner", *(name for name in args.systems if name != "spacy_ner")]
    }
    result = {name: round(speed) for name, speed in speeds.items()}
    print(json.dumps({**result, **{f"{name}_x": round(s / speeds["spacy_ner"], 2) for name, s in speeds.items()}}))


if __name__ == "__main__":
    main()
