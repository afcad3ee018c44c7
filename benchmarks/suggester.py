"""Suggesters for `spancat` on a corpus with gold spans: how many of the spans they suggest, with how many suggestions
per token, and how fast an untrained `spancat` on FLAT is with them. With a trained `lex_ner`, its uncertain spans too.

    python benchmarks/suggester.py project/lexicon/study project/corpus/nested/test.spacy [--ner PIPELINE]
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lexner.lexicon import Lexicon

OURS, THEIRS = "spacy-lexner.lexicon_suggester.v1", "spacy.ngram_range_suggester.v1"
SUGGESTERS: Dict[str, Dict[str, Any]] = {
    "words": {"@misc": OURS, "max_words": 1, "max_ngram": 0},
    "runs_of_4_words": {"@misc": OURS, "max_words": 4, "max_ngram": 0},
    "runs_of_4_words_ngrams_3": {"@misc": OURS, "max_words": 4, "max_ngram": 3},
    "runs_of_4_words_ngrams_6": {"@misc": OURS, "max_words": 4, "max_ngram": 6},
    **{f"ngrams_{n}": {"@misc": THEIRS, "min_size": 1, "max_size": n} for n in (3, 4, 6, 8, 10)},
}
GROUP = "lex_uncertain"
UNSURE: Dict[str, Dict[str, Any]] = {
    "unsure": {"@misc": OURS, "max_words": 0, "max_ngram": 0, "groups": [GROUP]},
    **{f"{name}_unsure": {**SUGGESTERS[name], "groups": [GROUP]} for name in SUGGESTERS if "runs" in name},
}


def find_unsure(folder: Path, gold: List[Doc], least: float) -> List[Any]:
    """The spans of each text to which a trained `lex_ner` gives a probability of at least `least`."""
    nlp = spacy.load(folder, config={"components": {"lex_ner": {"uncertain": [least, 1.0]}}})
    docs = nlp.pipe(doc.text for doc in gold)
    return [[(span.start_char, span.end_char) for span in doc.spans[GROUP]] for doc in docs]


def measure(
    suggester: Dict[str, Any], lexicon: Lexicon, gold: List[Doc], width: int, unsure: Optional[List[Any]] = None
) -> Dict[str, float]:
    """Seconds are CPU time, without that of `lex_ner`."""
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    matcher = nlp.add_pipe("lex_matcher")
    matcher.set_lexicon(lexicon)
    encoder = {"@architectures": "spacy-lexner.FLAT.v1", "width": width, "heads": 4}
    config = {"suggester": suggester, "model": {"tok2vec": encoder}}
    pipe = nlp.add_pipe("spancat_singlelabel", name="spancat", config=config)
    docs = list(matcher.pipe(nlp.make_doc(doc.text) for doc in gold))
    for doc, places in zip(docs, unsure or ()):
        doc.spans[GROUP] = [doc.char_span(start, end, alignment_mode="expand") for start, end in places]
    nlp.initialize(lambda: [Example(doc, reference) for doc, reference in zip(docs, gold)])

    start = time.process_time()
    found = pipe.suggester(docs)
    suggested = time.process_time()
    for begin in range(0, len(docs), 64):
        pipe.predict(docs[begin : begin + 64])
    predicted = time.process_time()

    hits = total = first = 0
    for reference, count in zip(gold, found.lengths.tolist()):
        known = set(map(tuple, found.dataXd[first : first + count].tolist()))
        spans = [(span.start, span.end) for span in reference.spans["sc"]]
        hits, total, first = hits + sum(span in known for span in spans), total + len(spans), first + count
    n_tokens = sum(map(len, docs))
    return {
        "recall": round(hits / total, 4),
        "per_token": round(first / n_tokens, 2),
        "suggest_us_per_token": round(1e6 * (suggested - start) / n_tokens, 2),
        "predict_us_per_token": round(1e6 * (predicted - suggested) / n_tokens, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lexicon", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--width", type=int, default=64, help="width of the FLAT")
    parser.add_argument("--ner", type=Path, help="a pipeline with a trained lex_ner")
    parser.add_argument("--least", type=float, default=0.01, help="minimum probability of its spans")
    args = parser.parse_args()
    lexicon = Lexicon.open(args.lexicon)
    gold = list(DocBin().from_disk(args.corpus).get_docs(spacy.blank("zh").vocab))
    results = {name: measure(own, lexicon, gold, args.width) for name, own in SUGGESTERS.items()}
    if args.ner is not None:
        unsure = find_unsure(args.ner, gold, args.least)
        results.update((name, measure(own, lexicon, gold, args.width, unsure)) for name, own in UNSURE.items())
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
