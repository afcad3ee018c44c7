"""A vector written as text."""

import numpy as np
import srsly


def parse_vector(text: str) -> np.ndarray:
    """Read numbers that are separated by spaces.

    text (str): The numbers.
    RETURNS (numpy.ndarray): float32[n]; of length 0, which no vector has, where something is not a number.
    """
    try:
        return np.array(srsly.json_loads(f"[{text.replace(' ', ',')}]"), "f4")  # several times as fast as float()
    except (ValueError, TypeError):
        pass
    try:
        return np.array([float(number) for number in text.split()], "f4")  # NaN, leading plus signs, double spaces
    except ValueError:
        return np.zeros(0, "f4")
