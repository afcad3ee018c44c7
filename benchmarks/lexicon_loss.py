"""What a trained pipeline still finds without its lexicon words: F1 with all words, a random half, none.

    python benchmarks/lexicon_loss.py training/model-best corpus/dev.spacy --without training/no-words/model-best

JSON: `all`, `half` (the mean of several draws), `none`, and `without`, a model trained with an empty lexicon;
`half_way`, how much of the gain of all words over such a model (or over none) a half keeps, from 0 to 1.
"""

import argparse
import json
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
import spacy
from spacy.tokens import DocBin
from spacy.training import Example


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="pipelines with lex_matcher and lex_ner")
    parser.add_argument("corpus", type=Path, help="annotated texts, as .spacy")
    parser.add_argument("--without", help="a pipeline trained with an empty lexicon")
    parser.add_argument("--draws", type=int, default=3, help="number of random halves")
    arguments = parser.parse_args()
    without = None if arguments.without is None else f1(spacy.load(arguments.without), arguments.corpus)
    for model in arguments.models:
        print(json.dumps({"model": model, **measure(spacy.load(model), arguments.corpus, without, arguments.draws)}))


def measure(nlp: spacy.Language, corpus: Path, without: Optional[float] = None, draws: int = 3) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): F1 in percent with all words, a random half and none, and how much the half keeps."""
    matcher: Any = nlp.get_pipe("lex_matcher")
    lexicon = matcher.lexicon
    words = list(lexicon)
    scores = {"all": f1(nlp, corpus)}
    halves: List[float] = []
    for seed in range(draws):
        gone = np.random.default_rng(seed).random(len(words)) < 0.5
        matcher.set_lexicon(lexicon.without_words(word for word, out in zip(words, gone) if out))
        halves.append(f1(nlp, corpus))
    matcher.set_lexicon(lexicon.without_words(words))
    scores |= {"half": round(float(np.mean(halves)), 2), "none": f1(nlp, corpus)}
    matcher.set_lexicon(lexicon)
    least = scores["none"] if without is None else without
    if without is not None:
        scores["without"] = without
    way = scores["all"] - least
    return {**scores, "half_way": round((scores["half"] - least) / way, 2) if way else None}


def f1(nlp: spacy.Language, corpus: Path) -> float:
    """F1 of the entities, in percent."""
    gold = DocBin().from_disk(corpus).get_docs(nlp.vocab)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in gold]
    return round(100 * nlp.evaluate(examples)["ents_f"], 2)


if __name__ == "__main__":
    main()
