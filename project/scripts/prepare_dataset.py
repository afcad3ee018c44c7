"""From a data set as its source has it to train, dev and test, sentence by sentence, nothing inside a sentence changed.

Where a set has no dev split, one is held out of train with a fixed seed.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from random import Random
from typing import Annotated, Dict, List, NamedTuple, Tuple

import typer
from wasabi import msg

DEV_SHARE = 0.1


class Dataset(NamedTuple):
    """The files of a set; for an archive, the names of its members. Without `dev` it is held out of train."""

    train: str
    test: str
    dev: str = ""
    archive: str = ""


DATASETS = {
    "weibo": Dataset("train.char.bmes", "test.char.bmes", "dev.char.bmes"),
    "resume": Dataset("train.char.bmes", "test.char.bmes", "dev.char.bmes"),
    "cluener": Dataset("train.json", "dev.json"),  # the labels of its real test split are not public
    "msra": Dataset("msra_train_bio", "msra_test_bio", archive="MSRA.zip"),
}


def read_sentences(folder: Path, dataset: Dataset, name: str) -> List[str]:
    """Read one file as a list of raw sentences.

    folder (Path): The set's folder in `assets/`.
    dataset (Dataset): The set.
    name (str): One of its files.
    RETURNS (List[str]): Blocks of lines of a tag file, or lines of JSON, without what stands between them.
    """
    if dataset.archive:
        with zipfile.ZipFile(folder / dataset.archive) as archive:
            text = archive.read(name).decode("utf8")
    else:
        text = (folder / name).read_text("utf8")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if name.endswith(".json"):
        return [line for line in text.split("\n") if line.strip()]
    blocks: List[List[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return ["\n".join(block) for block in blocks if block]


def hold_out(sentences: List[str], seed: int) -> Tuple[List[str], List[str]]:
    """Split sentences in two, each part in its old order.

    sentences (List[str]): The sentences.
    seed (int): The seed.
    RETURNS (Tuple[List[str], List[str]]): What stays, and the `DEV_SHARE` that is held out.
    """
    chosen = set(Random(seed).sample(range(len(sentences)), round(len(sentences) * DEV_SHARE)))
    return [s for i, s in enumerate(sentences) if i not in chosen], [s for i, s in enumerate(sentences) if i in chosen]


def text_of(sentence: str) -> str:
    """RETURNS (str): The bare text of a raw sentence."""
    if sentence.startswith("{"):
        return json.loads(sentence)["text"]
    return "".join(line[:1] for line in sentence.split("\n"))


def main(
    name: Annotated[str, typer.Argument(help="Data set.")],
    assets: Annotated[Path, typer.Option(help="Folder with a folder for the set.")] = Path("assets"),
    out: Annotated[Path, typer.Option(help="Folder for train, dev and test; default corpus/NAME.")] = Path(),
    seed: Annotated[int, typer.Option(help="Seed of the dev split, where one is held out.")] = 0,
) -> None:
    """Write train, dev and test of a data set as it stands in its source."""
    if name not in DATASETS:
        msg.fail(f"Unknown data set '{name}'", f"Known are {', '.join(DATASETS)}.", exits=1)
    dataset, folder = DATASETS[name], assets / name
    out = Path("corpus") / name if out == Path() else out
    splits: Dict[str, List[str]] = {}
    for split in ("train", "dev", "test"):
        file = getattr(dataset, split)
        if file:
            path = folder / (dataset.archive or file)
            if not path.is_file():
                msg.fail(f"{path} is missing", "Run the command 'fetch' first.", exits=1)
            splits[split] = read_sentences(folder, dataset, file)
    if "dev" not in splits:
        splits["train"], splits["dev"] = hold_out(splits["train"], seed)
        msg.info(f"{name} has no dev split: {len(splits['dev'])} sentences held out of train, seed {seed}")
    out.mkdir(parents=True, exist_ok=True)
    seen = {text_of(sentence) for sentence in splits["train"]}
    for split, sentences in splits.items():
        ending, between = ("jsonl", "\n") if sentences[0].startswith("{") else ("conll", "\n\n")
        (out / f"{split}.{ending}").write_text(between.join(sentences) + "\n", "utf8", newline="\n")
        repeated = 0 if split == "train" else sum(text_of(sentence) in seen for sentence in sentences)
        note = f", {repeated} of them verbatim in train" if repeated else ""
        msg.good(f"{out / split}.{ending}: {len(sentences)} sentences{note}")


if __name__ == "__main__":
    typer.run(main)
