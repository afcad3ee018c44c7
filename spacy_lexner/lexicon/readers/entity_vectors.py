"""Entity vectors, such as TransE's, under the names that texts use for their entities."""

from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ..entry import EntryStream, LexiconEntry
from ..errors import LexiconError
from ..limits import limit, quote
from ..lines import read_lines
from ..word_vectors import parse_vector, read_word_vectors
from .jieba_dictionary import to_weight
from .word_table import is_csv, read_rows

Names = Dict[str, List[Tuple[str, float]]]


class EntityVector(NamedTuple):
    """An entity, its vector, and the line it was read from."""

    line: int
    entity_id: str
    vector: Optional[np.ndarray]


def read_entity_vectors(
    vectors: Union[str, Path],
    *,
    names: Optional[Union[str, Path]] = None,
    ids: Optional[Union[str, Path]] = None,
    encoding: str = "utf8",
) -> EntryStream:
    """Read the vectors of entities.

    vectors (Union[str, Path]): Text with an id and its numbers on each line; or, if `ids` is given, text with numbers
        only (OpenKE's entity2vec.vec) or a matrix as .npy. Text may be compressed.
    names (Optional[Union[str, Path]]): A table without header: a name, the id of its entity and optionally a weight,
        separated by tabs. The first of equal names counts. None: each entity is named by its id.
    ids (Optional[Union[str, Path]]): The ids of the rows: one per line, or id, tab and row number, after a line with
        their count (OpenKE's entity2id.txt).
    encoding (str): Encoding of the text files.
    RETURNS (EntryStream): An entry for each name; those whose entity has no vector come last. Raises LexiconError if
        the files do not belong together.
    """
    vectors = Path(vectors)
    rows = (
        _read_by_id(vectors, encoding)
        if ids is None
        else _read_by_row(vectors, read_ids(Path(ids), encoding), encoding)
    )
    by_id = None if names is None else _read_names(Path(names), encoding)
    return EntryStream(str(vectors), _name(rows, by_id))


def read_ids(path: Path, encoding: str = "utf8") -> List[str]:
    """Read the ids in a file, one per line, or from OpenKE's entity2id.txt in the order of their numbers. Raises
    LexiconError if a number is missing."""
    lines = [(number, line.strip()) for number, line in read_lines(path, encoding=encoding) if line.strip()]
    if not lines:
        raise LexiconError(f"{path}: the file holds no ids.")
    if not any(character in lines[-1][1] for character in "\t "):
        return [line for _, line in lines]
    first = lines[0][1]
    body = lines[1:] if _is_natural(first) else lines
    numbered: Dict[int, str] = {}
    for number, line in body:
        entity_id, _, row = line.replace("\t", " ").rpartition(" ")
        if not _is_natural(row) or not entity_id:
            raise LexiconError(f"{path}:{number}: expected an id, a tab and its number, not {quote(line)}.")
        numbered[int(row)] = entity_id.strip()
    if sorted(numbered) != list(range(len(body))) or (_is_natural(first) and int(first) != len(body)):
        raise LexiconError(
            f"{path}: {len(body)} ids, but their numbers are not 0 to {len(body) - 1}, each once, or the count in the "
            "first line differs. The file is truncated, or belongs to other vectors."
        )
    return [numbered[row] for row in range(len(body))]


def _is_natural(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= limit("digits")


def _read_by_id(path: Path, encoding: str) -> Iterator[EntityVector]:
    stream = read_word_vectors(path, encoding=encoding)
    for entry in stream:
        yield EntityVector(stream.line, entry.word, entry.vector)


def _read_by_row(path: Path, ids: List[str], encoding: str) -> Iterator[EntityVector]:
    rows = _matrix_rows(path) if path.suffix == ".npy" else _text_rows(path, encoding)
    n_rows = 0
    for line, vector in rows:
        if n_rows < len(ids):
            yield EntityVector(line, ids[n_rows], vector)
        n_rows += 1
    if n_rows != len(ids):
        raise LexiconError(f"{path} has {n_rows} vectors, but there are {len(ids)} ids: they do not belong together.")


def _matrix_rows(path: Path) -> Iterator[Tuple[int, np.ndarray]]:
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise LexiconError(f"{path}: not a matrix saved by numpy.save ({error}).") from None
    if matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise LexiconError(f"{path}: expected a matrix of floats, not {matrix.dtype} of shape {matrix.shape}.")
    for row in range(len(matrix)):
        yield row + 1, np.asarray(matrix[row], "f4")


def _text_rows(path: Path, encoding: str) -> Iterator[Tuple[int, np.ndarray]]:
    for number, line in read_lines(path, encoding=encoding):
        if line.strip():
            yield number, parse_vector(line.replace("\t", " ").strip())


def _read_names(path: Path, encoding: str) -> Names:
    names: Names = {}
    seen = set()
    for number, row in read_rows(path, "," if is_csv(path) else "\t", encoding, "strict"):
        if not any(map(str.strip, row)):
            continue
        name, entity_id, weight = map(str.strip, (*row, "", "")[:3])
        if not entity_id:
            raise LexiconError(f"{path}:{number}: expected a tab and an entity id after {quote(name)}.")
        if name not in seen:
            seen.add(name)
            names.setdefault(entity_id, []).append((name, to_weight(weight)))
    if not names:
        raise LexiconError(f"{path}: the file holds no names.")
    return names


def _name(rows: Iterator[EntityVector], names: Optional[Names]) -> Iterator[Tuple[int, LexiconEntry]]:
    line, entity_id, found = 0, "", names is None
    for line, entity_id, vector in rows:
        if names is None:
            yield line, LexiconEntry(entity_id, vector, entity_id=entity_id)
        else:
            for name, weight in names.pop(entity_id, ()):
                found = True
                yield line, LexiconEntry(name, vector, weight, entity_id=entity_id)
    if names and not found:
        raise LexiconError(
            f"None of the {len(names)} entities with names has a vector. There are names of {quote(next(iter(names)))} "
            f"and vectors of {quote(entity_id)}, for example. Give files with the same ids."
        )
    for entity_id, without in (names or {}).items():
        for name, weight in without:
            yield line, LexiconEntry(name, None, weight, entity_id=entity_id)
