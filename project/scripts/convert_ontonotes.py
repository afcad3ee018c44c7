"""OntoNotes 4 as used in papers on Chinese NER: four entity types, one sentence per text, no spaces between words.

The corpus is licensed (LDC2011T03), so you have to name its folder: the original release, or the three files
`{train,dev,test}.char.bmes` that other projects derive from it. In the release, the newswire and magazine texts that
were also translated, chtb_0001 to 0325 and 1001 to 1078, are dev if the number is odd and test if it is even;
everything else is train (Che et al. 2013; Zhang and Yang 2018)."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Annotated, Dict, Iterator, List, Tuple

import typer
from paths import PROJECT, SPLITS, find_input
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from wasabi import msg

from spacy_lexner.cli.data.convert import convert_cli
from spacy_lexner.formats.record import FormatError
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer

LABELS = {"PERSON": "PER", "ORG": "ORG", "GPE": "GPE", "LOC": "LOC"}
# Sentences of each split in the papers (Zhang and Yang 2018, in thousands).
PUBLISHED = {"train": "15.7 k", "dev": "4.3 k", "test": "4.3 k"}
TAG = re.compile(r"<(/?)ENAMEX([^>]*)>")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
WRAPPER = re.compile(r"</?DOC\b[^>]*>")
NUMBER = re.compile(r"chtb_(\d+)")
OTHERS = {"english", "arabic"}


def split_of(name: str) -> str:
    """RETURNS (str): The split of a release file, by its number."""
    found = NUMBER.match(name)
    number = int(found[1]) if found else 0
    if not (1 <= number <= 325 or 1001 <= number <= 1078):
        return "train"
    return "dev" if number % 2 else "test"


def read_offset(attributes: Dict[str, str], name: str) -> int:
    """RETURNS (int): An attribute that is a number of characters, 0 if missing. Raises FormatError if it is none."""
    value = attributes.get(name, "0")
    if not value.isdecimal():
        raise FormatError(f'{name}="{value}" is not a number of characters, such as {name}="1"')
    return int(value)


def read_sentence(line: str) -> Tuple[str, List[Tuple[int, int, str]]]:
    """Read a sentence whose words are separated by spaces and whose names are in tags.

    line (str): `<ENAMEX TYPE="GPE">南京</ENAMEX> 很 美`; `S_OFF` and `E_OFF` are the numbers of characters by which a
        name starts after and ends before its tags.
    RETURNS (Tuple[str, List[Tuple[int, int, str]]]): The text and its names of the four types: start, end, label.
        Raises FormatError for an unbalanced tag or an invalid attribute.
    """
    text, names, place = "", [], 0
    opened: Dict[str, str] = {}
    start = 0
    for tag in [*TAG.finditer(line), None]:
        plain = line[place : tag.start()] if tag else line[place:]
        text += re.sub(r"\s", "", html.unescape(plain))
        place = tag.end() if tag else len(line)
        closes = bool(tag and tag[1])
        if closes != bool(opened):
            raise FormatError(f"a name is not closed, or closed twice: {line.strip()}")
        if closes:
            bounds = (start + read_offset(opened, "S_OFF"), len(text) - read_offset(opened, "E_OFF"))
            if opened["TYPE"] in LABELS and bounds[0] < bounds[1]:
                names.append((*bounds, LABELS[opened["TYPE"]]))
            opened = {}
        elif tag:
            start, opened = len(text), dict(ATTRIBUTE.findall(tag[2]))
            if "TYPE" not in opened:
                raise FormatError(f"a name has no TYPE: {line.strip()}")
    return text, names


def read_text(path: Path) -> str:
    """RETURNS (str): The content of a file, without a byte order mark. Raises FormatError if it is not UTF-8."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte {error.start + 1} is not UTF-8 ({error.reason})"
        raise FormatError(f"{path}: {found}. Copy the file from the release again, or convert it to UTF-8.") from error


def list_files(folder: Path) -> List[Path]:
    """RETURNS (List[Path]): The `.name` files in a folder and below, except in its folders of other languages."""
    return sorted(path for path in folder.rglob("*.name") if not OTHERS & set(path.relative_to(folder).parts))


def read_release(folder: Path) -> Iterator[Tuple[str, Doc]]:
    """Read the Chinese `.name` files of the release.

    folder (Path): The release, or a folder in it.
    YIELDS (Tuple[str, Doc]): The split and a sentence. Raises FormatError, with file and line, for an invalid one.
    """
    tokenize = CharTokenizer(Vocab())
    for path in list_files(folder):
        for number, line in enumerate(read_text(path).split("\n"), 1):
            try:
                text, names = read_sentence(WRAPPER.sub("", line))
            except FormatError as error:
                raise FormatError(f"{path}, line {number}: {error}") from error
            if text:
                doc = tokenize(text)
                doc.set_ents([doc.char_span(*name[:2], label=name[2]) for name in names])
                yield split_of(path.name), doc


def main(
    folder: Annotated[str, typer.Argument(help="The release, or a folder with the three files; empty for none.")] = "",
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = PROJECT / "corpus",
) -> None:
    """Write train.spacy, dev.spacy and test.spacy of OntoNotes 4, if you have the corpus."""
    if not folder:
        msg.info("OntoNotes 4 is skipped. If you have it (LDC2011T03): --vars.ontonotes FOLDER")
        return
    try:
        source = find_input(folder)
    except FileNotFoundError as error:
        msg.fail(str(error), "Name the folder of OntoNotes 4: --vars.ontonotes FOLDER", exits=1)
    out = corpus / "ontonotes"
    out.mkdir(parents=True, exist_ok=True)
    prepared = {split: source / f"{split}.char.bmes" for split in SPLITS}
    if all(path.is_file() for path in prepared.values()):
        for split, path in prepared.items():
            convert_cli(path, out / f"{split}.spacy", repair=True)
        return
    bins = {split: DocBin(attrs=["ENT_IOB", "ENT_TYPE"]) for split in SPLITS}
    try:
        for split, doc in read_release(source):
            bins[split].add(doc)
    except (FormatError, OSError) as error:
        msg.fail("OntoNotes 4 was not converted", str(error), exits=1)
    if empty := [split for split, docs in bins.items() if not len(docs)]:
        wanted = "data/files/data/chinese/annotations/**/chtb_0001.name and so on, or train, dev and test.char.bmes"
        msg.fail(f"{source} has no texts for {', '.join(empty)}", f"Expected {wanted}.", exits=1)
    for split, docs in bins.items():
        docs.to_disk(out / f"{split}.spacy")
        msg.good(f"{out / split}.spacy: {len(docs)} texts (in the papers: {PUBLISHED[split]})")


if __name__ == "__main__":
    typer.run(main)
