"""From the converted files of a data set to train, dev and test; a missing dev split is held out of train."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Annotated, Dict, List, NamedTuple, Optional, Tuple

import typer
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from wasabi import msg

DEV_SHARE = 0.1


class Files(NamedTuple):
    """Which file of a set is which split."""

    train: str = "train"
    test: str = "test"
    dev: Optional[str] = None


DATASETS = {
    "weibo": Files(dev="dev"),
    "resume": Files(dev="dev"),
    "cluener": Files(test="dev"),  # the labels of its own test split are not public
    "msra": Files("msra_train_bio", "msra_test_bio"),
    "udc": Files(dev="dev"),
}


def hold_out(docs: List[Doc], seed: int) -> Tuple[List[Doc], List[Doc]]:
    """Split Docs in two, each part in its old order.

    docs (List[Doc]): The Docs.
    seed (int): The seed.
    RETURNS (Tuple[List[Doc], List[Doc]]): What stays, and the `DEV_SHARE` that is held out.
    """
    chosen = set(Random(seed).sample(range(len(docs)), round(len(docs) * DEV_SHARE)))
    return [doc for i, doc in enumerate(docs) if i not in chosen], [docs[i] for i in sorted(chosen)]


def main(
    name: Annotated[str, typer.Argument(help="Data set.")],
    source: Annotated[Path, typer.Argument(help="Folder with the converted files of the set.")],
    out: Annotated[Path, typer.Argument(help="Folder for train.spacy, dev.spacy and test.spacy.")],
    seed: Annotated[int, typer.Option(help="Seed of the dev split, where one is held out.")] = 0,
) -> None:
    """Write train, dev and test of a data set."""
    if name not in DATASETS:
        msg.fail(f"Unknown data set '{name}'", f"Known are {', '.join(DATASETS)}.", exits=1)
    vocab = Vocab()
    splits: Dict[str, List[Doc]] = {}
    for split, file in DATASETS[name]._asdict().items():
        if file is not None:
            path = source / f"{file}.spacy"
            if not path.is_file():
                msg.fail(f"{path} is missing", "Run the command 'convert' first.", exits=1)
            splits[split] = list(DocBin().from_disk(path).get_docs(vocab))
    if "dev" not in splits:
        splits["train"], splits["dev"] = hold_out(splits["train"], seed)
        msg.info(f"{name} has no dev split: {len(splits['dev'])} texts held out of train, seed {seed}")
    out.mkdir(parents=True, exist_ok=True)
    seen = {doc.text for doc in splits["train"]}
    for split, docs in splits.items():
        DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG"], docs=docs).to_disk(out / f"{split}.spacy")
        repeated = 0 if split == "train" else sum(doc.text in seen for doc in docs)
        note = f", {repeated} of them stand in train word for word" if repeated else ""
        msg.good(f"{out / split}.spacy: {len(docs)} texts{note}")


if __name__ == "__main__":
    typer.run(main)
