"""Convert a data set to train, dev and test; a missing dev split is held out of train."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Annotated, Dict, List, NamedTuple, Optional, Tuple

import srsly
import typer
from paths import PROJECT, SOURCES
from spacy.tokens import Doc, DocBin
from spacy.training.converters import conll_ner_to_docs
from spacy.vocab import Vocab
from wasabi import msg

from spacy_lexner.cli.data.convert import convert_cli

DEV_SHARE = 0.1


class Files(NamedTuple):
    """The files of a data set.

    train, test, dev (Optional[str]): The file of each split, without its ending; None if there is none.
    spans_key (Optional[str]): The key of `doc.spans` for overlapping entities, if the set has any.
    spaced (bool): Whether the files are English CoNLL, which spaCy's own converter reads.
    """

    train: str = "train"
    test: str = "test"
    dev: Optional[str] = None
    spans_key: Optional[str] = None
    spaced: bool = False

    def splits(self) -> Dict[str, str]:
        """RETURNS (Dict[str, str]): The file of each existing split."""
        files = {"train": self.train, "test": self.test, "dev": self.dev}
        return {split: file for split, file in files.items() if file is not None}


DATASETS = {
    "weibo": Files(dev="dev"),
    "resume": Files(dev="dev"),
    "cluener": Files(test="dev"),  # the labels of its test split are not public
    "msra": Files("msra_train_bio", "msra_test_bio"),
    "udc": Files(dev="dev"),
    "nested": Files("new_test", "new_eval", spans_key="sc"),
    "bc5cdr": Files(dev="devel", spaced=True),
}


def convert(source: Path, out: Path) -> Files:
    """Convert what `fetch_assets.py` fetched, or exit with a message.

    source (Path): The data set's folder in `assets/`.
    out (Path): Folder for the converted files.
    RETURNS (Files): The file of each split.
    """
    if (source / SOURCES).is_file():
        own = srsly.read_json(source / SOURCES)
        for split, file in own.items():
            convert_cli(Path(file["path"]), out / f"{split}.spacy", repair=True)
        return Files(dev="dev" if "dev" in own else None)
    if source.name not in DATASETS or not source.is_dir():
        msg.fail(f"No data set {source}", "Run the command 'fetch' first.", exits=1)
    files = DATASETS[source.name]
    if files.spaced:
        for file in files.splits().values():
            docs = conll_ner_to_docs((source / f"{file}.tsv").read_text("utf8"), n_sents=1, no_print=True)
            out.mkdir(parents=True, exist_ok=True)
            DocBin(docs=docs).to_disk(out / f"{file}.spacy")
        return files
    convert_cli(source, out, repair=True, spans_key=files.spans_key)
    return files


def hold_out(docs: List[Doc], seed: int) -> Tuple[List[Doc], List[Doc]]:
    """Split Docs in two, keeping their order.

    docs (List[Doc]): The Docs.
    seed (int): The seed.
    RETURNS (Tuple[List[Doc], List[Doc]]): The remaining Docs, and the `DEV_SHARE` held out, at least one.
    """
    chosen = set(Random(seed).sample(range(len(docs)), max(1, round(len(docs) * DEV_SHARE))))
    return [doc for i, doc in enumerate(docs) if i not in chosen], [docs[i] for i in sorted(chosen)]


def main(
    name: Annotated[str, typer.Argument(help="Data set: a folder in assets/.")],
    assets: Annotated[Path, typer.Option(help="Folder of the original data sets.")] = PROJECT / "assets",
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = PROJECT / "corpus",
    seed: Annotated[int, typer.Option(help="Seed of the dev split, if one is held out.")] = 0,
) -> None:
    """Write train.spacy, dev.spacy and test.spacy of a data set."""
    out, vocab = corpus / name, Vocab()
    files = convert(assets / name, out / "original")
    splits: Dict[str, List[Doc]] = {
        split: list(DocBin().from_disk(out / "original" / f"{file}.spacy").get_docs(vocab))
        for split, file in files.splits().items()
    }
    if "dev" not in splits:
        if len(splits["train"]) < 2:
            title = f"{name} has no dev split, and too few training texts to hold one out: {len(splits['train'])}"
            msg.fail(title, "Give its dev file: --vars.dev FILE", exits=1)
        splits["train"], splits["dev"] = hold_out(splits["train"], seed)
        msg.info(f"{name} has no dev split: {len(splits['dev'])} texts held out of train, seed {seed}")
    seen = {doc.text for doc in splits["train"]}
    for split, docs in splits.items():
        DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG"], docs=docs).to_disk(out / f"{split}.spacy")
        repeated = 0 if split == "train" else sum(doc.text in seen for doc in docs)
        note = f", {repeated} of them verbatim in train" if repeated else ""
        msg.good(f"{out / split}.spacy: {len(docs)} texts{note}")


if __name__ == "__main__":
    typer.run(main)
