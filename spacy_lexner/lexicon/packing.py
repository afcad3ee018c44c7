"""A compiled lexicon as named arrays and a manifest, and back, with every size checked."""

import json
from dataclasses import asdict
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from .build import BuildReport
from .checksum import checksum_of
from .errors import LexiconError
from .level import Level
from .limits import quote
from .normalization import Normalization
from .strings import Strings
from .table import TEXTS, Table
from .trie import Trie, checked

FORMAT = "spacy-lexner.lexicon"
FORMAT_VERSION = 1
PartsT = Dict[str, Dict[str, np.ndarray]]  # arrays by part ("words", "index", "trie", "vectors") and name


def pack(level: Level, report: BuildReport) -> Tuple[Dict[str, Any], PartsT]:
    """Turn a compiled lexicon without hidden words into a manifest (counts and settings, as JSON) and arrays."""
    table = level.table
    index = {"word_offsets": table.words.offsets, "contents": table.contents, "hashes": level.hashes}
    index["rows"] = level.rows
    if table.weights is not None:
        index["weights"] = table.weights
    for name, strings in table.texts.items():
        index[f"{name}_offsets"], index[f"{name}_data"] = strings.offsets, strings.data
    parts = {"words": {"words": table.words.data}, "index": index, "trie": level.trie._asdict()}
    if table.vector_rows is not None:
        parts["vectors"] = {"vectors": table.vectors, "vector_rows": table.vector_rows}
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "content": f"{level.content:016x}",
        "n_words": len(level.rows),
        "n_roots": len(level.trie.roots),
        "n_levels": len(level.trie.levels),
        "n_slots": len(level.trie.keys),
        "n_vectors": len(table.vectors),
        "dim": table.vectors.shape[1],
        "dtype": table.vectors.dtype.name,
        "max_word_length": level.max_word_length,
        "normalization": level.normalization.settings(),
        "columns": sorted(name for name in ("weights", *(f"{name}_data" for name in TEXTS)) if name in index),
        "report": {k: v for k, v in asdict(report).items() if k == "source" or (v and k != "by_file")},
    }
    return manifest, parts


def parse_manifest(text: Union[str, bytes], name: str) -> Dict[str, Any]:
    """Parse a manifest. Raises LexiconError if it was changed, is not a lexicon's, or has another format version."""
    try:
        manifest = json.loads(text)
        if manifest["format"] != FORMAT:
            raise ValueError(f"it describes {quote(manifest['format'])}")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise LexiconError(f"{name}: not the manifest of a lexicon ({error}).") from None
    if manifest.get("format_version") != FORMAT_VERSION:
        raise LexiconError(
            f"{name}: format version {quote(manifest.get('format_version'))}; this version of spacy-lexner reads "
            f"{FORMAT_VERSION}. Rebuild the lexicon."
        )
    if manifest.get("checksum") != checksum_of(manifest):
        raise LexiconError(
            f"{name}: the manifest was changed after it was written. Rebuild the lexicon, or copy it again."
        )
    return manifest


def unpack(manifest: Dict[str, Any], parts: PartsT) -> Tuple[Level, BuildReport]:
    """Restore the lexicon and build report that `pack` was given. Raises LexiconError, naming the part, if an array is
    missing, unknown, or differs in shape or type from the manifest."""
    try:
        _check_arrays(manifest, parts)
        index, vectors = parts["index"], parts.get("vectors", {})
        texts = {name: (f"{name}_data", f"{name}_offsets") for name in TEXTS if f"{name}_data" in index}
        table = Table(
            words=_strings("words", parts["words"]["words"], index["word_offsets"]),
            hashes=np.zeros(0, "u8"),
            contents=index["contents"],
            weights=index.get("weights"),
            texts={name: _strings(data, index[data], index[offsets]) for name, (data, offsets) in texts.items()},
            vectors=vectors.get("vectors", np.zeros((0, manifest["dim"]), manifest["dtype"])),
            vector_rows=vectors.get("vector_rows"),
        )
        level = Level(
            table=table,
            hashes=index["hashes"],
            rows=index["rows"],
            trie=checked(Trie(**parts["trie"])),
            normalization=Normalization(**manifest["normalization"]),
            max_word_length=manifest["max_word_length"],
            content=int(manifest["content"], 16),
        )
        return level, BuildReport(**manifest["report"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, LexiconError):
            raise
        raise LexiconError(f"The manifest of the lexicon is invalid: {quote(error)}.") from None


def check_places(level: Level) -> Level:
    """Return the level unchanged. Raises LexiconError if one of its arrays points outside another. This reads the
    arrays in full, so the files of a folder, which have checksums, are only checked when they are read anyway."""
    table = level.table
    n_words, n_vectors = table.size, len(table.vectors)
    for name, places, end in (("rows", level.rows, n_words), ("vector_rows", table.vector_rows, n_vectors)):
        if places is not None and len(places) and not (places.max() < end and (name != "rows" or places.min() >= 0)):
            raise LexiconError(f"The array '{name}' points outside the range 0 to {end}; the file is damaged.")
    for name, strings in {"words": table.words, **table.texts}.items():
        if not (np.diff(strings.offsets) > 0).all():
            raise LexiconError(f"The offsets of '{name}' do not ascend; the file is damaged.")
    return level


def _check_arrays(manifest: Dict[str, Any], parts: PartsT) -> None:
    n, n_vectors, columns = manifest["n_words"], manifest["n_vectors"], manifest["columns"]
    expected: Dict[str, Dict[str, Tuple[str, Tuple[Optional[int], ...]]]] = {
        "words": {"words": ("u1", (None,))},
        "index": {
            "word_offsets": ("i8", (n + 1,)),
            "contents": ("u8", (n,)),
            "hashes": ("u8", (n,)),
            "rows": ("i4", (n,)),
        },
        "trie": {
            "roots": ("i4", (manifest["n_roots"],)),
            "levels": ("i8", (manifest["n_levels"], 3)),
            "keys": ("u8", (manifest["n_slots"],)),
            "words": ("i4", (manifest["n_slots"],)),
        },
    }
    if "weights" in columns:
        expected["index"]["weights"] = ("f4", (n,))
    for name in TEXTS:
        if f"{name}_data" in columns:
            expected["index"].update({f"{name}_offsets": ("i8", (n + 1,)), f"{name}_data": ("u1", (None,))})
    if n_vectors:
        vectors = (manifest["dtype"], (n_vectors, manifest["dim"]))
        expected["vectors"] = {"vectors": vectors, "vector_rows": ("i4", (n,))}
    if set(parts) != set(expected):
        raise LexiconError(f"The lexicon has the parts {quote(sorted(parts))}; expected {sorted(expected)}.")
    for part, arrays in expected.items():
        if set(parts[part]) != set(arrays):
            raise LexiconError(f"The part '{part}' holds {quote(sorted(parts[part]))}; expected {sorted(arrays)}.")
        for name, (dtype, shape) in arrays.items():
            array = parts[part][name]
            same_shape = len(shape) == array.ndim and all(s in (None, got) for s, got in zip(shape, array.shape))
            if array.dtype != np.dtype(dtype) or not same_shape:
                raise LexiconError(
                    f"The array '{name}' in the part '{part}' is {array.dtype}{list(array.shape)}; "
                    f"expected {np.dtype(dtype)}{quote(list(shape))}. The file is damaged or from another lexicon."
                )


def _strings(name: str, data: np.ndarray, offsets: np.ndarray) -> Strings:
    if offsets[0] != 0 or offsets[-1] != len(data):
        raise LexiconError(f"The offsets of '{name}' do not match its {len(data)} bytes; the file is damaged.")
    return Strings(data, offsets)
