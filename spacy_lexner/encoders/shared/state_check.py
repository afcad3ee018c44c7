"""Whether saved weights are those of a module: what is missing, what is not known, what has another shape."""

from typing import List, Mapping, Optional, Sequence, Tuple

SHOWN = 4


def find_mismatch(
    found: Mapping[str, Sequence[int]], expected: Mapping[str, Sequence[int]], *, derived: Tuple[str, ...] = ()
) -> Optional[str]:
    """Compare the weights of a file with those that a module wants.

    found (Mapping[str, Sequence[int]]): Names and shapes of what there is.
    expected (Mapping[str, Sequence[int]]): Names and shapes of what is wanted.
    derived (Tuple[str, ...]): Endings of names that hold no weights: they may be missing or superfluous.
    RETURNS (Optional[str]): What does not fit, the first few cases; None if all does.
    """
    problems: List[str] = [f"{name} is missing" for name in expected if not (name in found or name.endswith(derived))]
    problems += [f"{name} is not known" for name in found if not (name in expected or name.endswith(derived))]
    problems += [
        f"{name} has shape {list(found[name])} instead of {list(shape)}"
        for name, shape in expected.items()
        if name in found and list(found[name]) != list(shape)
    ]
    if not problems:
        return None
    return "; ".join(problems[:SHOWN]) + (f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else "")
