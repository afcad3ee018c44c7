"""Named arrays in the safetensors format: written as a stream, read as views of the bytes."""

import json
from math import prod
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Tuple

import numpy as np

from .errors import LexiconError
from .limits import quote

DTYPES = {"U8": "u1", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4"}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MAX_HEADER = 1 << 20
CHUNK = 1 << 24


def write_arrays(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """YIELDS (bytes): The pieces of a safetensors file with these arrays, the metadata in its header."""
    header: Dict[str, Any] = {"__metadata__": dict(metadata)}
    ordered = sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize)  # so that each array is aligned
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    encoded = json.dumps(header, ensure_ascii=False).encode("utf8")
    encoded += b" " * (-len(encoded) % 8)
    yield len(encoded).to_bytes(8, "little") + encoded
    for _, array in ordered:
        rows = max(1, CHUNK // max(1, array.nbytes // max(1, len(array))))
        for low in range(0, len(array), rows):
            yield array[low : low + rows].tobytes()


class Place(NamedTuple):
    """Where an array lies in the body of a file."""

    begin: int
    end: int
    dtype: str  # by its name in the format
    shape: Tuple[int, ...]


def read_arrays(data: np.ndarray, name: str) -> Tuple[Dict[str, np.ndarray], Dict[str, str]]:
    """Read a safetensors file (uint8[n]): its arrays, as views of the bytes (a memory map stays one), and its metadata.
    The whole header is checked first. Raises LexiconError, with the file's name, unless the file is well-formed."""
    places, metadata, body = read_places(data, name, {key: np.dtype(dtype).itemsize for key, dtype in DTYPES.items()})
    arrays = {
        key: body[place.begin : place.end].view(DTYPES[place.dtype]).reshape(place.shape)
        for key, place in places.items()
    }
    return arrays, metadata


def read_places(
    data: np.ndarray, name: str, sizes: Mapping[str, int]
) -> Tuple[Dict[str, Place], Dict[str, str], np.ndarray]:
    """Read the header of a safetensors file (uint8[n]) and check it against the file: the places of its arrays, its
    metadata, and the body. `sizes` maps each dtype to its bytes. Raises LexiconError, with the file's name, unless the
    file is well-formed."""
    length = int.from_bytes(data[:8].tobytes(), "little")
    if len(data) < 8 or not 2 <= length <= min(MAX_HEADER, len(data) - 8):
        raise LexiconError(f"{name}: not a safetensors file, or truncated in its header.")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
        metadata = {str(key): str(value) for key, value in header.pop("__metadata__", {}).items()}
        places = sorted(
            (_describe(entry), sizes[entry["dtype"]] * prod(entry["shape"]), key) for key, entry in header.items()
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise LexiconError(f"{name}: the safetensors header is invalid ({quote(str(error))}).") from None
    body, covered = data[8 + length :], 0
    for place, size, key in places:
        if place.begin != covered or place.end - place.begin != size or place.end > len(body):
            raise LexiconError(f"{name}: the array '{key}' is not where the header says; the file is damaged.")
        covered = place.end
    if covered != len(body):
        raise LexiconError(f"{name}: {len(body)} bytes of data where the header describes {covered}.")
    return {key: place for place, _, key in places}, metadata, body


def _describe(entry: Dict[str, Any]) -> Place:
    begin, end = (_natural(value) for value in entry["data_offsets"])
    return Place(begin, end, str(entry["dtype"]), tuple(_natural(value) for value in entry["shape"]))


def _natural(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**48:
        raise ValueError(f"{quote(value)} is not a size")
    return value
