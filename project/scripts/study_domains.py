"""How well a pretrained masked language model knows texts of several domains: its loss, and the share of masked
wordpieces that it predicts, on texts it may not have seen. The last line is JSON.
"""

import argparse
import json
from pathlib import Path
from typing import Dict, Iterable, List

from pipelines import read_pair
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import fix_random_seed, load_config, minibatch
from thinc.api import Model

from spacy_lexner.pretraining.objective import load_objective
from spacy_lexner.pretraining.text_corpus import TextCorpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a run: config.cfg, model-last.bin")
    parser.add_argument("texts", nargs="+", type=read_pair, metavar="NAME=TEXTS", help="a text or .spacy file")
    parser.add_argument("--masking", default="piece", choices=["piece", "whole_word", "ngram"])
    parser.add_argument("--share", type=float, default=0.15, help="share of wordpieces to mask, the same for all runs")
    parser.add_argument("--characters", type=int, default=50_000, help="number of characters to read from each file")
    arguments = parser.parse_args()
    fix_random_seed(0)
    config = load_config(arguments.run / "config.cfg")
    config["pretraining"]["objective"].update(masking=arguments.masking, share=arguments.share)
    config["pretraining"]["objective"].update(log_every=0, progress_bar=False)
    nlp, model = load_objective(config, arguments.run / "model-last.bin")
    figures = {name: measure(model, read(nlp, path, arguments.characters)) for name, path in arguments.texts}
    print("| texts | loss | masked wordpieces found |\n|---|---:|---:|")
    for name, row in figures.items():
        print(f"| {name} | {row['loss']:.2f} | {100 * row['found']:.1f} % |")
    print(json.dumps(figures))


def read(nlp: Language, path: str, characters: int) -> List[Doc]:
    """RETURNS (List[Doc]): The first texts of a file, as Docs."""
    if path.endswith(".spacy"):
        texts: Iterable[str] = (doc.text for doc in DocBin().from_disk(path).get_docs(nlp.vocab))
    else:
        texts = (example.text for example in TextCorpus(path, shuffle=False)(nlp))
    docs, n = [], 0
    for text in texts:
        docs.append(nlp.make_doc(text))
        n += len(text)
        if n >= characters:
            break
    return docs


def measure(model: Model, docs: List[Doc]) -> Dict[str, float]:
    """RETURNS (Dict[str, float]): The mean `loss` of masked wordpieces, and the share `found`."""
    n_masked, loss, found = 0, 0.0, 0
    for batch in minibatch(docs, 32):
        head = model.predict(batch).parts["masked_lm"]
        n_masked += head.n_labels
        loss += float(head.loss.detach()) * head.n_labels
        found += int(head.n_correct)
    return {"loss": round(loss / n_masked, 4), "found": round(found / n_masked, 4)}


if __name__ == "__main__":
    main()
