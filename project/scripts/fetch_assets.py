"""Fetch the files of a data set into `assets/`, from a local folder if possible, otherwise from the network; existing
files are kept. Or record where the files of your own data are."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Callable, Dict, Iterable, Iterator, List, Optional

import srsly
import typer
from paths import PROJECT, SOURCES, find_input
from wasabi import msg
from weasel.util import download_file, get_checksum

INPUTS = "assets/inputs.json"
OWN = "--vars.dataset mine --vars.train my_train.conll --vars.dev my_dev.conll --vars.test my_test.conll"


def read_assets(folder: str = "") -> List[Dict[str, str]]:
    """RETURNS (List[Dict[str, str]]): The assets of `project.yml`, or of that in a subfolder, with `dest`, relative to
    the project's folder, and `url` and `checksum` if known."""
    assets = srsly.read_yaml(PROJECT / folder / "project.yml")["assets"]
    return [{**asset, "dest": asset["dest"].removeprefix("../")} for asset in assets]


def local_copies(dest: Path, data_dir: Optional[Path]) -> Iterator[Path]:
    """Look for copies of a file on this machine.

    dest (Path): The asset's destination, such as `assets/weibo/train.char.bmes`.
    data_dir (Optional[Path]): A folder with `weibo/train.char.bmes`, `originals/weibo/…` or the files themselves.
    YIELDS (Path): Existing files.
    """
    places = []
    if data_dir is not None:
        inside = dest.relative_to("assets")
        places = [data_dir / inside, data_dir / "originals" / inside, data_dir / inside.name]
    if dest.name == "jieba_dict.txt":
        jieba = importlib.util.find_spec("jieba")
        places += [Path(folder) / "dict.txt" for folder in (jieba.submodule_search_locations or ())] if jieba else []
    yield from (place for place in places if place.is_file())


def md5(path: Path) -> str:
    """RETURNS (str): The MD5 of a file, in hexadecimal."""
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def checksum(path: Path) -> str:
    """RETURNS (str): The MD5 of a file, of all files in a folder, or of the archive that a file is in."""
    place = next(each for each in (path, *path.parents) if each.exists())
    return get_checksum(place) if place.is_dir() else md5(place)


def is_asset(path: Path, asset: Dict[str, str]) -> bool:
    """RETURNS (bool): Whether a file exists and has the checksum of an asset, if that is known."""
    return path.is_file() and asset.get("checksum") in (None, md5(path))


@contextmanager
def whole_file(place: Path) -> Iterator[Path]:
    """Write a file completely or not at all.

    place (Path): The file.
    YIELDS (Path): `NAME.part` beside it, which becomes the file at the end, or is removed if writing fails.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.part")
    try:
        yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def fetch(asset: Dict[str, str], data_dir: Optional[Path]) -> bool:
    """Fetch one asset. A file in its place with another checksum is deleted, and messages say what fails.

    asset (Dict[str, str]): Its `dest`, and `url` and `checksum` if known.
    data_dir (Optional[Path]): Folder to copy from before the network is tried.
    RETURNS (bool): Whether the file exists now, with the right checksum.
    """
    place = PROJECT / asset["dest"]
    if is_asset(place, asset):
        msg.good(f"{asset['dest']} is already there")
        return True
    if place.is_file():
        msg.warn(f"{asset['dest']} is incomplete or another file: its MD5 is not {asset['checksum']}", "It is deleted.")
        place.unlink()
    ways: Dict[str, Callable] = {
        str(copy): partial(shutil.copyfile, copy) for copy in local_copies(Path(asset["dest"]), data_dir)
    }
    if "url" in asset:
        ways[asset["url"]] = partial(download_file, asset["url"], force=True)
    for source, write in ways.items():
        try:
            with whole_file(place) as part:
                write(part)
                if not is_asset(part, asset):
                    raise ValueError(f"It is incomplete or another file: its MD5 is not {asset['checksum']}.")
        except Exception as error:  # the network's libraries have errors of their own
            msg.warn(f"{asset['dest']} could not be fetched from {source}", f"{error!s:.300}")
            continue
        msg.good(f"{asset['dest']} fetched from {source}")
        return True
    return False


def note_sources(name: str, named: Dict[str, str]) -> None:
    """Record the files of the user's own data set, or exit with a message. The files stay where they are.

    name (str): The data set.
    named (Dict[str, str]): The file of each split; if empty, the one recorded before.
    """
    place = PROJECT / "assets" / name / SOURCES
    before = srsly.read_json(place) if place.is_file() else {}
    sources = {}
    for split, file in named.items():
        if not (file := file or before.get(split, {}).get("path", "")):
            if split != "dev":  # a missing dev split is held out of train
                msg.fail(f"The {split} file of {name} is not given", f"For example: {OWN}", exits=1)
            continue
        try:
            path = find_input(file)
        except FileNotFoundError as error:
            msg.fail(str(error), f"Give the {split} file of {name}: --vars.{split} FILE", exits=1)
        sources[split] = {"path": str(path), "md5": checksum(path)}
        msg.good(f"{split}: {path}")
    place.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(place, sources)


def note_inputs(names: Iterable[str]) -> None:
    """Record the files and folders that the commands after `fetch` read: those commands are repeated if one changes.
    Missing ones are left out; whoever reads them says so."""
    noted = {}
    for name in names:
        with suppress(FileNotFoundError):
            noted[name] = checksum(find_input(name))
    place = PROJECT / INPUTS
    place.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(place, noted)


def main(
    dataset: Annotated[str, typer.Argument(help="Data set of project.yml, or a name for yours; empty for none.")] = "",
    also: Annotated[
        Optional[str],
        typer.Option(help=f"More files, separated by spaces: assets are fetched, the MD5 of all is noted in {INPUTS}."),
    ] = None,
    data_dir: Annotated[str, typer.Option(help="Folder to copy from; empty for none.")] = "",
    train: Annotated[str, typer.Option(help="Training texts of your own data set.")] = "",
    dev: Annotated[str, typer.Option(help="Its dev texts; by default a tenth of train is held out.")] = "",
    test: Annotated[str, typer.Option(help="Its test texts.")] = "",
) -> None:
    """Fetch a data set into assets/, verified by MD5, or record the files of your own."""
    folder = Path(data_dir).expanduser().resolve() if data_dir else None
    if folder is not None and not folder.is_dir():
        msg.fail(
            f"vars.data_dir is not a folder: {folder}",
            "Give an absolute path, or one relative to project.yml.",
            exits=1,
        )
    assets, own = read_assets(), {"train": train, "dev": dev, "test": test}
    known = sorted({asset["dest"].split("/")[1] for asset in assets} - {"lexicon"})
    if dataset in known and any(own.values()):
        msg.fail(f"'{dataset}' is a data set of project.yml", f"Give yours another name: {OWN}", exits=1)
    if dataset and dataset not in known:
        if not any(own.values()) and not (PROJECT / "assets" / dataset / SOURCES).is_file():
            remedy = f"project.yml has {', '.join(known)}. For your own data, give its files: {OWN}"
            msg.fail(f"Unknown data set '{dataset}'", remedy, exits=1)
        note_sources(dataset, own)
    others = None if also is None else also.split()
    wanted = [asset for asset in assets if asset["dest"].split("/")[1] == dataset or asset["dest"] in (others or ())]
    missing = [asset for asset in wanted if not fetch(asset, folder)]
    for asset in missing:
        msg.fail(f"{asset['dest']} is missing", asset["url"])
    if missing:
        msg.fail(
            "Some files could not be fetched",
            "Run the command again. Without a network, put them into project/assets, or name a folder that has them: "
            "--vars.data_dir FOLDER",
            exits=1,
        )
    if others is not None:
        note_inputs(others)


if __name__ == "__main__":
    typer.run(main)
