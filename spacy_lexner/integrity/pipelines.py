"""Saving, sealing and verification of whole pipelines."""

import os
from pathlib import Path
from typing import Dict, Iterator, List, Union

from spacy.language import Language
from spacy.util import load_config

from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Lexicon
from ..lexicon.packing import FORMAT
from ..lexicon.storage import MANIFEST
from ..lexicon.storage import read_manifest as read_lexicon_manifest
from .folders import whole_folder
from .json_files import read_json
from .seal import REMEDY, SEAL, SEALED, SealError, check_inside, find_difference, read_seal, write_seal

CONFIG = "config.cfg"


def save(nlp: Language, path: Union[str, Path]) -> None:
    """Save a pipeline atomically, and seal it. `nlp.to_disk` writes file by file: if it is interrupted while
    overwriting a pipeline, it leaves a mixture of the old and the new one.

    nlp (Language): The pipeline.
    path (Union[str, Path]): The folder, which is replaced if it exists.
    """
    with whole_folder(Path(path), overwrite=True) as folder:
        write_pipeline(nlp, folder)


def write_pipeline(nlp: Language, folder: Path) -> None:
    """Write a pipeline to a new folder and seal it."""
    nlp.to_disk(folder)
    seal_folder(folder)


def seal_folder(folder: Path) -> List[str]:
    """Seal the current contents of a folder, including the seals and lexicons in it, and return the names of the files
    in its seal. Raises SealError if a link leads out of it."""
    files = _own_files(folder)
    for file in files:
        check_inside(folder, file)
    write_seal(folder, files)
    return files


def seal_pipeline(folder: Path) -> int:
    """Accept the current files of a saved pipeline: seal its components, then the whole.

    folder (Path): The pipeline. Raises SealError if it is not a pipeline, or a link leads out of it.
    RETURNS (int): The number of sealed files.
    """
    if not (folder / CONFIG).is_file():
        raise SealError(f"{folder}: not a pipeline: {CONFIG} is missing. Give a folder that nlp.to_disk wrote.")
    for name, factory in _factories(folder).items():
        files = [file for file in SEALED.get(factory, ()) if (folder / name / file).is_file()]
        if files:
            write_seal(folder / name, files)
    return len(seal_folder(folder))


def verify_pipeline(folder: Path) -> Iterator[str]:
    """Read every byte of a saved pipeline, and compare it with its seals.

    folder (Path): The pipeline.
    YIELDS (str): Each problem: the file, the difference and the remedy.
    """
    if not folder.is_dir():
        yield f"{folder}: no such folder."
        return
    for root, folders, _ in os.walk(folder):
        inner = Path(root)
        if (inner / SEAL).exists() or inner == folder:
            yield from _verify_folder(inner, is_pipeline=inner == folder)
        if (inner / MANIFEST).exists() and not _is_foreign(inner / MANIFEST):
            folders.clear()
            try:
                Lexicon.open(inner, verify=True)
            except LexiconError as error:
                yield str(error)


def _verify_folder(folder: Path, is_pipeline: bool) -> Iterator[str]:
    try:
        entries = read_seal(folder)
        found = _own_files(folder, lexicons=is_pipeline)
    except SealError as error:
        yield str(error)
        return
    if entries is None:
        yield f"{folder}: there is no {SEAL}. If you trust the files: python -m spacy lexner seal {folder}"
        return
    for name in sorted({*entries, *found}):
        try:
            path = check_inside(folder, name)
            difference = find_difference(path, entries.get(name), path.read_bytes())
        except SealError as error:
            difference = str(error)
        except OSError as error:
            difference = f"{folder / name}: the file cannot be read ({error.strerror}). {REMEDY}"
        if difference is not None:
            yield difference


def _own_files(folder: Path, lexicons: bool = True) -> List[str]:
    """RETURNS (List[str]): The files of a folder; those with an inner seal or a lexicon's manifest are represented by
    it. Raises SealError for a link to a folder elsewhere."""
    names: List[str] = []
    for root, folders, files in os.walk(folder):
        inner = Path(root)
        for name in folders:  # `os.walk` does not follow links, so what they lead to would escape notice
            check_inside(folder, (inner / name).relative_to(folder).as_posix())
        if inner != folder and (inner / SEAL).exists():
            files = [SEAL]
        if _is_lexicon(inner):
            files = [MANIFEST] if lexicons else []
            folders.clear()
        names += [(inner / file).relative_to(folder).as_posix() for file in files]
    return sorted(set(names) - {SEAL})


def _is_lexicon(folder: Path) -> bool:
    try:
        return bool(read_lexicon_manifest(folder))
    except LexiconError:
        return False


def _is_foreign(manifest: Path) -> bool:
    """Whether a file with the name of a lexicon's manifest is JSON of another kind, written by another component. If it
    was a lexicon's, it differs from the pipeline's seal."""
    try:
        found = read_json(manifest)
    except (ValueError, OSError):
        return False
    return not isinstance(found, dict) or found.get("format") != FORMAT


def _factories(folder: Path) -> Dict[str, str]:
    components = load_config(folder / CONFIG).get("components", {})
    return {name: settings.get("factory", "") for name, settings in components.items()}
