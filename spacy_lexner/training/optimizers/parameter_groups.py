"""Groups of parameters with their own settings, selected by a regular expression on the parameter's name."""

import math
import re
from typing import Any, Dict, List, NamedTuple, Optional, Pattern, Tuple, Union

SETTINGS = ("learn_rate_factor", "weight_decay")
GroupsT = Union[List[Dict[str, Any]], Dict[str, Dict[str, Any]]]


class ParameterGroup(NamedTuple):
    """The parameters whose names match a pattern, with a factor on their learning rate, and a weight decay that
    replaces the optimiser's."""

    pattern: Pattern[str]
    learn_rate_factor: Optional[float] = None
    weight_decay: Optional[float] = None
    optional: bool = False  # whether it may match nothing

    def matches(self, name: str) -> bool:
        return self.pattern.search(name) is not None


def parse_groups(groups: Optional[GroupsT]) -> Tuple[ParameterGroup, ...]:
    """Parse parameter groups from a config, given as a list or as blocks with any names. A group has a `pattern`, a
    regular expression searched for in parameter names, and `learn_rate_factor`, `weight_decay` or both. With `optional`
    there is no warning if no parameter matches, for a sub-model that may be frozen. (A saved config turns `$` into
    `$$`, which matches the same.) Raises ValueError, naming the group, if one is invalid."""
    if groups is None:
        return ()
    named = groups.items() if isinstance(groups, dict) else ((str(i), group) for i, group in enumerate(groups))
    return tuple(_parse_group(name, group) for name, group in named)


def _parse_group(name: str, group: Dict[str, Any]) -> ParameterGroup:
    if not isinstance(group, dict):
        raise ValueError(f"Parameter group {name!r} is {group!r}; expected a dict with a 'pattern'.")
    unknown = sorted(set(group) - {"pattern", "optional", *SETTINGS})
    if unknown:
        raise ValueError(
            f"Parameter group {name!r} has unknown keys {unknown}; expected 'pattern', {SETTINGS} and 'optional'."
        )
    if all(group.get(setting) is None for setting in SETTINGS):
        raise ValueError(f"Parameter group {name!r} changes nothing: give it at least one of {SETTINGS}.")
    for setting in SETTINGS:
        value = group.get(setting)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (number and math.isfinite(value) and value >= 0):
            raise ValueError(f"{setting} of parameter group {name!r} is {value!r}; expected a number of at least 0.")
    optional = group.get("optional", False)
    if not isinstance(optional, bool):
        raise ValueError(f"optional of parameter group {name!r} is {optional!r}; expected true or false.")
    pattern = group.get("pattern")
    if not isinstance(pattern, str):
        raise ValueError(f"The pattern of parameter group {name!r} is {pattern!r}; expected a regular expression.")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"The pattern {pattern!r} of parameter group {name!r} is invalid: {error}.") from error
    return ParameterGroup(compiled, group.get("learn_rate_factor"), group.get("weight_decay"), optional)
