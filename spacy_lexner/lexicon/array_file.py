"""Named arrays in the safetensors format: written as a stream, read as views of the bytes."""

import json
from math import prod
from typing import Any, Dict, Iterator, Mapping, Tuple

import numpy as np

from .errors import LexiconError

DTYPES = {"U8": "u1", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4"}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MAX_HEADER = 1 << 20
CHUNK = 1 << 24


def write_arrays(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """Yield a safetensors file in pieces. The metadata goes into its header."""
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


def read_arrays(data: np.ndarray, name: str) -> Tuple[Dict[str, np.ndarray], Dict[str, str]]:
    """The arrays of a safetensors file (uint8[n]) as views of its bytes (a memory map stays one), and its metadata. The
    whole header is checked first. Raises LexiconError, with the file's name, unless the file is well-formed."""
    length = int.from_bytes(data[:8].tobytes(), "little")
    if len(data) < 8 or not 2 <= length <= min(MAX_HEADER, len(data) - 8):
        raise LexiconError(f"{name}: not a safetensors file, or cut short in its header.")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
        metadata = {str(key): str(value) for key, value in header.pop("__metadata__", {}).items()}
        described = sorted((_describe(name, entry), name) for name, entry in header.items())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise LexiconError(f"{name}: the safetensors header is invalid ({error}).") from None
    body = data[8 + length :]
    arrays, covered = {}, 0
    for (begin, end, dtype, shape), key in described:
        if begin != covered or end - begin != prod(shape) * np.dtype(dtype).itemsize or end > len(body):
            raise LexiconError(f"{name}: the array '{key}' is not where the header says; the file is damaged.")
        arrays[key] = body[begin:end].view(dtype).reshape(shape)
        covered = end
    if covered != len(body):
        raise LexiconError(f"{name}: {len(body)} bytes of data where the header describes {covered}.")
    return arrays, metadata


def _describe(name: str, entry: Dict[str, Any]) -> Tuple[int, int, str, Tuple[int, ...]]:
    begin, end = (_natural(value) for value in entry["data_offsets"])
    return begin, end, DTYPES[entry["dtype"]], tuple(_natural(value) for value in entry["shape"])


def _natural(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**48:
        raise ValueError(f"{value!r} is not a size")
    return value
