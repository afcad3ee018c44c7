"""A vector written as text."""

import numpy as np
import srsly

PLAIN = b"0123456789.- "


def parse_vector(text: str) -> np.ndarray:
    """Read numbers that are separated by spaces.

    text (str): The numbers.
    RETURNS (numpy.ndarray): float32[n]; of length 0, which no vector has, where something is not a number.
    """
    try:
        if _is_plain(text):  # then a JSON parser reads it, several times as fast as float()
            return np.array(srsly.json_loads(f"[{text.replace(' ', ',')}]"), "f4")
    except ValueError:
        pass  # two spaces, no digit before the point
    try:
        return np.array([float(number) for number in text.split()], "f4")
    except ValueError:
        return np.zeros(0, "f4")


def _is_plain(text: str) -> bool:
    """RETURNS (bool): Whether there are only plain decimals: the JSON parser takes half of a number for one."""
    if not text.isascii() or text.encode("ascii").translate(None, PLAIN):
        return False
    return not ("- " in text or "-." in text or text.endswith("-"))
