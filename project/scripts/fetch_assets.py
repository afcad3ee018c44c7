"""Bring the files of a data set into `assets/`: what is there stays, then a local folder is tried, then the network."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from pathlib import Path
from typing import Annotated, Dict, Iterator, List, Optional

import srsly
import typer
from wasabi import msg
from weasel.cli.assets import fetch_asset

PROJECT = Path(__file__).parents[1]


def read_assets(dataset: str, files: List[str]) -> List[Dict[str, str]]:
    """The assets of `project.yml` that belong to a data set or are named.

    dataset (str): The data set, empty for none. Exits with a message where there is none of that name.
    files (List[str]): Files, of which those that are assets are taken.
    RETURNS (List[Dict[str, str]]): Assets with `dest`, `url` and `checksum`.
    """
    assets = srsly.read_yaml(PROJECT / "project.yml")["assets"]
    known = sorted({asset["dest"].split("/")[1] for asset in assets} - {"lexicon"})
    if dataset and dataset not in known:
        msg.fail(f"Unknown data set '{dataset}'", f"project.yml has {', '.join(known)}.", exits=1)
    return [asset for asset in assets if asset["dest"].split("/")[1] == dataset or asset["dest"] in files]


def local_copies(dest: Path, data_dir: Optional[Path]) -> Iterator[Path]:
    """Where a file may already lie on this machine.

    dest (Path): The asset's place, `assets/weibo/train.char.bmes`.
    data_dir (Optional[Path]): A folder that holds `weibo/train.char.bmes`, `originals/weibo/…` or the files themselves.
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
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def bring(asset: Dict[str, str], data_dir: Optional[Path]) -> bool:
    """Bring one asset into its place.

    asset (Dict[str, str]): With `dest`, `url` and `checksum`.
    data_dir (Optional[Path]): Folder to copy from before the network is tried.
    RETURNS (bool): Whether the file is there now, with the right checksum.
    """
    place = PROJECT / asset["dest"]
    if place.is_file() and md5(place) == asset["checksum"]:
        msg.good(f"{asset['dest']} is there")
        return True
    place.parent.mkdir(parents=True, exist_ok=True)
    for source in local_copies(Path(asset["dest"]), data_dir):
        if md5(source) == asset["checksum"]:
            shutil.copyfile(source, place)
            msg.good(f"{asset['dest']} copied from {source}")
            return True
        msg.warn(f"{source} is not the file that project.yml names: its MD5 differs from {asset['checksum']}")
    try:
        fetch_asset(PROJECT, asset["url"], Path(asset["dest"]), asset["checksum"])
    except (OSError, ValueError) as error:  # no network, no such host, nothing there to check
        msg.warn(f"{asset['dest']} could not be downloaded", f"{error!s:.300}")
    return place.is_file() and md5(place) == asset["checksum"]


def main(
    dataset: Annotated[str, typer.Argument(help="Data set: a folder of assets/ in project.yml; empty for none.")] = "",
    also: Annotated[
        str, typer.Option(help="Further files, separated by spaces; those that are assets are brought.")
    ] = "",
    data_dir: Annotated[str, typer.Option(help="Folder to copy from; empty for none.")] = "",
) -> None:
    """Bring a data set into assets/, checked by MD5."""
    folder = Path(data_dir).expanduser().resolve() if data_dir else None
    if folder is not None and not folder.is_dir():
        msg.fail(
            f"vars.data_dir is no folder: {folder}", "Give an absolute path, or one relative to project.yml.", exits=1
        )
    missing = [asset for asset in read_assets(dataset, also.split()) if not bring(asset, folder)]
    for asset in missing:
        msg.fail(f"{asset['dest']} is missing", asset["url"])
    if missing:
        msg.fail(
            "Not all files could be brought here",
            "Without a network, put them into project/assets, or name a folder that holds them: --vars.data_dir FOLDER",
            exits=1,
        )


if __name__ == "__main__":
    typer.run(main)
