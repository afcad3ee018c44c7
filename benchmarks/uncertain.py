"""Are the texts that `spacy lexner uncertain` selects worth labelling? Counts the model's errors and the new words in
them, compared with all texts.

    python benchmarks/uncertain.py training/model-best corpus/dev.spacy corpus/test.spacy --labelled corpus/train.spacy

The texts are annotated, so that errors can be counted; the selection does not see the annotation.
"""

import argparse
import json
from pathlib import Path

import spacy

from spacy_lexner.annotation.drafts import find_words, make_drafts
from spacy_lexner.annotation.select import choose
from spacy_lexner.report.errors import CORRECT, pair
from spacy_lexner.report.gold import read_gold
from spacy_lexner.visualize.lattice import Mark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a pipeline with lex_ner")
    parser.add_argument("corpus", type=Path, nargs="+", help="annotated texts, as .spacy")
    parser.add_argument("--labelled", type=Path, help="the model's training texts")
    parser.add_argument("-n", type=int, default=100, help="how many texts to select")
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.model)
    gold = [text for path in arguments.corpus for text in read_gold(path)]
    known = find_words(nlp, [text.text for text in read_gold(arguments.labelled)] if arguments.labelled else [])
    drafts = list(make_drafts(nlp, [text.text for text in gold], {}))
    errors = []
    for text, draft in zip(gold, drafts):
        found = [Mark(*entity) for entity in draft.task.record.entities or ()]
        errors.append(sum(outcome.kind != CORRECT for outcome in pair(text.marks, found)))
    chosen = {"all texts": list(range(len(gold)))}
    for diversity in (0.0, 0.5, 1.0):
        choices = choose([draft.candidate for draft in drafts], arguments.n, known=known, diversity=diversity)
        chosen[f"diversity {diversity}"] = [choice.number for choice in choices]
    print(f"{'':16}{'texts':>7}{'errors each':>13}{'with errors':>13}{'new words':>11}{'characters':>12}")
    figures = {}
    for name, numbers in chosen.items():
        row = {
            "texts": len(numbers),
            "errors": sum(errors[i] for i in numbers) / len(numbers),
            "with_errors": sum(errors[i] > 0 for i in numbers) / len(numbers),
            "new_words": len({word for i in numbers for word in drafts[i].words} - known),
            "characters": sum(len(gold[i].text) for i in numbers) / len(numbers),
        }
        figures[name] = row
        shown = f"{row['texts']:7}{row['errors']:13.2f}{row['with_errors']:13.0%}{row['new_words']:11}"
        print(f"{name:16}{shown}{row['characters']:12.0f}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
