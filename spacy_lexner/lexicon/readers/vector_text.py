"""Vectors written as text."""

import numpy as np
import srsly

PLAIN = b"0123456789.- "


def parse_vector(text: str) -> np.ndarray:
    """float32[n] from numbers separated by spaces; an invalid vector of length 0 if anything else is there."""
    try:
        if _is_plain(text):  # then a JSON parser can read it, several times faster than float()
            return np.array(srsly.json_loads(f"[{text.replace(' ', ',')}]"), "f4")
    except ValueError:
        pass  # two spaces, or no digit before the point
    try:
        return np.array([float(number) for number in text.split()], "f4")
    except ValueError:
        return np.zeros(0, "f4")


def _is_plain(text: str) -> bool:
    """Whether all numbers are plain decimals. The JSON parser would read only the first half of others."""
    if not text.isascii() or text.encode("ascii").translate(None, PLAIN):
        return False
    return not ("- " in text or "-." in text or text.endswith("-"))
