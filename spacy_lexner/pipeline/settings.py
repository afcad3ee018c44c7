"""Validation of a component's settings, when they are given and when they are loaded."""

from typing import Any, Callable, Mapping, NamedTuple, Sequence

from ..lexicon.limits import quote


class Setting(NamedTuple):
    """The valid values of a setting."""

    is_valid: Callable[[Any], bool]  # takes any value that JSON can hold
    expected: str  # completes "expected ..." in an error


def check_settings(component: str, values: Any, settings: Mapping[str, Setting]) -> None:
    """Check the settings of a component. Missing and unknown settings are accepted: another version saved them.

    component (str): Its name.
    values (Dict[str, Any]): The values. Raises ValueError if one is invalid, or if this is not a dict.
    settings (Dict[str, Setting]): The valid values.
    """
    if not isinstance(values, dict):
        raise ValueError(f"{component}: the settings are {quote(values)}; expected a value for each name.")
    for name, setting in settings.items():
        if name in values and not setting.is_valid(values[name]):
            raise ValueError(
                f"{component}: {name} is {quote(values[name])}; expected {setting.expected}. Correct it in the config, "
                "the code, or the saved component, wherever it comes from."
            )


def is_text(value: Any) -> bool:
    """Whether a value is a string that UTF-8 can encode."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_number(value: Any, least: float, most: float) -> bool:
    """Whether a value is a number within bounds, both included."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def are_labels(values: Any) -> bool:
    """Whether a value is a list of labels: distinct, non-empty names without white space around them."""
    if not isinstance(values, (list, tuple)) or not all(is_text(label) and label == label.strip() for label in values):
        return False
    return all(values) and len(set(values)) == len(values)


def are_hashes(values: Any) -> bool:
    """Whether a value is a list of 64-bit numbers. Fast, since the list may be long."""
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        return False
    return not values or (min(values) >= 0 and max(values) < 2**64)


def one_of(values: Sequence[str]) -> Setting:
    """A setting that is null or one of these strings."""
    return Setting(lambda value: value is None or value in values, f"null or one of {', '.join(values)}")


TEXT_OR_NULL = Setting(lambda value: value is None or is_text(value), "a text or null")
LABELS = Setting(are_labels, "a list of distinct labels, without white space around them")
HASHES = Setting(are_hashes, "a list of integers from 0 to 2**64 - 1")
