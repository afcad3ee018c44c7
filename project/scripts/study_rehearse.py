"""Whether a label is learned without forgetting others: each text is annotated with only the old labels or the new one.

python scripts/study_rehearse.py split corpus/msra/train.spacy ORG corpus/msra-org
python -m spacy lexner train CONFIG --paths.train corpus/msra-org/old.spacy --output training/msra-old ...
python scripts/study_rehearse.py learn training/msra-old/model-best ORG corpus/msra-org corpus/msra/test.spacy

Without rehearsal: --no-rehearse. Joint training, to compare with: `lexner train` on corpus/msra/train.spacy.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from random import Random
from typing import Annotated, Any, Dict, List

import typer
from evaluate import evaluate
from pipelines import load_pipeline, read_examples
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed, minibatch
from thinc.api import Adam
from tqdm import tqdm
from wasabi import msg

from spacy_lexner.formats.spacy_file import read_docs

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)


@app.command("split")
def split_corpus(
    corpus: Annotated[Path, typer.Argument(help="Annotated texts, .spacy.")],
    label: Annotated[str, typer.Argument(help="The label to learn later.")],
    output: Annotated[Path, typer.Argument(help="Folder for old.spacy and new.spacy.")],
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
) -> None:
    """Write one half of the texts with all labels but one, the other half with only that one."""
    docs = list(read_docs(corpus))
    Random(seed).shuffle(docs)
    output.mkdir(parents=True, exist_ok=True)
    for name, half, wanted in (("old", docs[::2], False), ("new", docs[1::2], True)):
        for doc in half:
            doc.set_ents([ent for ent in doc.ents if (ent.label_ == label) is wanted], default="outside")
        DocBin(docs=half).to_disk(output / f"{name}.spacy")
        msg.good(f"{output / f'{name}.spacy'}: {len(half)} texts, {sum(len(doc.ents) for doc in half)} entities")


@app.command("learn")
def learn_label(
    model: Annotated[Path, typer.Argument(help="The pipeline trained on the old labels.")],
    label: Annotated[str, typer.Argument(help="The new label.")],
    corpus: Annotated[Path, typer.Argument(help="The folder that `split` wrote.")],
    test: Annotated[Path, typer.Argument(help="Texts with all labels, .spacy.")],
    rehearse: Annotated[bool, typer.Option(help="Rehearse on the old texts, without their annotation.")] = True,
    steps: Annotated[int, typer.Option(help="Number of updates.")] = 1000,
    batch: Annotated[int, typer.Option(help="Texts in a batch.")] = 16,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 0.0005,
    seed: Annotated[int, typer.Option(help="Seed of the batches.")] = 0,
    most: Annotated[int, typer.Option(help="Leave out test texts with more entities than this.")] = 1000,
) -> Dict[str, Any]:
    """Learn a label, and print the F1 of every label before and after."""
    fix_random_seed(seed)
    nlp = load_pipeline(model)
    ner: Any = nlp.get_pipe("lex_ner")
    examples = [example for example in read_examples(nlp, test) if len(example.reference.ents) <= most]
    before = evaluate(nlp, examples, set())["ents_per_type"]
    nlp.resume_training()
    ner.add_label(label)
    ner.annotated_labels = [label]
    optimizer = Adam(rate)
    news, olds = (batches(list(read_docs(corpus / f"{name}.spacy")), batch, seed) for name in ("new", "old"))
    for _ in tqdm(range(steps), unit=" steps", disable=None):
        nlp.update([Example(nlp.make_doc(doc.text), doc) for doc in next(news)], sgd=optimizer)
        if rehearse:
            raw = [nlp.make_doc(doc.text) for doc in next(olds)]
            ner.rehearse([Example(doc, doc.copy()) for doc in raw], sgd=optimizer)
    ner.annotated_labels = None
    after = evaluate(nlp, examples, set())["ents_per_type"]
    for name in sorted({*before, *after}):
        scores = (100 * side.get(name, {}).get("f", 0.0) for side in (before, after))
        print("{}: F1 {:.1f} before, {:.1f} after".format(name, *scores))
    return {"before": before, "after": after}


def batches(docs: List[Doc], size: int, seed: int) -> Any:
    """YIELDS (List[Doc]): Endless batches, in an order shuffled once."""
    Random(seed).shuffle(docs)
    return minibatch(cycle(docs), size)


if __name__ == "__main__":
    app()
