"""A vector written as text."""

import numpy as np
import srsly

PLAIN = b"0123456789.eE+- "
HALF_NUMBERS = ("- ", "+ ", "e ", "E ", "-e", "-E", "-.")  # what the JSON parser takes for a number, or might


def parse_vector(text: str) -> np.ndarray:
    """Read numbers that are separated by spaces.

    text (str): The numbers.
    RETURNS (numpy.ndarray): float32[n]; of length 0, which no vector has, where something is not a number.
    """
    try:
        if _is_plain(text):  # then a JSON parser reads it, several times as fast as float()
            return np.array(srsly.json_loads(f"[{text.replace(' ', ',')}]"), "f4")
    except ValueError:
        pass  # two spaces, a leading plus sign
    try:
        return np.array([float(number) for number in text.split()], "f4")
    except ValueError:
        return np.zeros(0, "f4")


def _is_plain(text: str) -> bool:
    if not text.isascii() or text.encode("ascii").translate(None, PLAIN):
        return False
    closed = f"{text} "
    return not any(half in closed for half in HALF_NUMBERS)
