"""Turn a corpus with entities into one for entity typing, the classification of single mentions, with a `textcat`.

A text is one mention, between marks, with its context; its category is the entity's label.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Annotated, Iterator, List, Sequence, Tuple

import typer
from paths import SPLITS
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from wasabi import msg

from spacy_lexner.pipeline.char_tokenizer import CharTokenizer

MARKS = "【】"


def mark_mentions(docs: Sequence[Doc], context: int) -> Iterator[Tuple[str, str]]:
    """Mark each mention in Docs.

    docs (Sequence[Doc]): Docs with entities.
    context (int): Characters kept on either side of a mention.
    YIELDS (Tuple[str, str]): The mention between MARKS, with its context, and its label.
    """
    for doc in docs:
        for ent in doc.ents:
            before = doc.text[max(0, ent.start_char - context) : ent.start_char]
            after = doc.text[ent.end_char : ent.end_char + context]
            yield f"{before}{MARKS[0]}{ent.text}{MARKS[1]}{after}", ent.label_


def main(
    source: Annotated[Path, typer.Argument(help="Folder with train.spacy, dev.spacy and test.spacy.")],
    out: Annotated[Path, typer.Argument(help="Folder for the converted files, which have the same names.")],
    context: Annotated[int, typer.Option(help="Characters kept on either side of a mention.")] = 40,
    limit: Annotated[int, typer.Option(help="Maximum number of mentions per split, drawn at random; 0 for all.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
) -> None:
    """Write a corpus for `textcat`: one mention per text, with its type as the only category."""
    tokenizer = CharTokenizer(Vocab())
    labels: List[str] = []
    for split in SPLITS:
        path = source / f"{split}.spacy"
        if not path.is_file():
            msg.fail(f"{path} is missing", "Convert the data set first: project run data.", exits=1)
        mentions = list(mark_mentions(list(DocBin().from_disk(path).get_docs(Vocab())), context))
        if limit and len(mentions) > limit:
            mentions = Random(seed).sample(mentions, limit)
        labels = labels or sorted({label for _, label in mentions})
        known = [mention for mention in mentions if mention[1] in labels]
        if not known:
            msg.fail(f"{path} has no entities", "Entity typing needs a corpus with entities.", exits=1)
        bin_ = DocBin(store_user_data=False)
        for text, label in known:
            doc = tokenizer(text)
            doc.cats = {name: float(name == label) for name in labels}
            bin_.add(doc)
        out.mkdir(parents=True, exist_ok=True)
        bin_.to_disk(out / f"{split}.spacy")
        counts = ", ".join(f"{label} {count}" for label, count in sorted(Counter(label for _, label in known).items()))
        msg.good(f"{out / split}.spacy: {len(known)} mentions ({counts})")
        if len(known) < len(mentions):
            msg.warn(f"{len(mentions) - len(known)} mentions skipped: their types do not occur in train")


if __name__ == "__main__":
    typer.run(main)
