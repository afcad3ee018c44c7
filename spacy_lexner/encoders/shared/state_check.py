"""Whether saved weights fit a module: which are missing, unknown or of another shape."""

from typing import List, Mapping, Optional, Sequence, Tuple

SHOWN = 4


def find_mismatch(
    found: Mapping[str, Sequence[int]], expected: Mapping[str, Sequence[int]], *, derived: Tuple[str, ...] = ()
) -> Optional[str]:
    """Compare the weights that a file has with those that a module expects, given names and shapes: the first few
    problems, or None. Names that end in one of `derived` hold no weights: they may be missing or superfluous."""
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
