"""Options in nested blocks of a config, with errors that name the place."""

import inspect
from dataclasses import fields
from functools import update_wrapper
from math import inf
from typing import (
    Any,
    Callable,
    ClassVar,
    Dict,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from thinc.api import ConfigValidationError

BlockT = TypeVar("BlockT", bound="Block")


class Block:
    """Base of frozen dataclasses whose fields are the options (strings, numbers, booleans) of a nested block, or of an
    encoder."""

    block: ClassVar[str]
    least: ClassVar[Mapping[str, float]] = {}  # the lowest values of some
    shares: ClassVar[Sequence[str]] = ()  # those that go from 0 to 1

    @classmethod
    def options(cls) -> Dict[str, Any]:
        """The type of each option, by name."""
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def read(cls: Type[BlockT], given: Mapping[str, Any]) -> BlockT:
        """Make the options from a block of a config. Raises ConfigValidationError for unknown ones."""
        known = cls.options()
        message = f"unknown option. The block has {', '.join(known)}"
        errors = [{"loc": [cls.block, name], "msg": message} for name in given if name not in known]
        if errors:
            raise ConfigValidationError(config=given, errors=errors)
        return cls(**given)

    def __post_init__(self) -> None:
        """Raises ConfigValidationError, which is a ValueError, for values of the wrong type or out of range."""
        errors = []
        for name, hint in self.options().items():
            value, (low, high) = getattr(self, name), self._range(name)
            if not _fits(value, hint) or (value is not None and not (low is None or low <= value <= high)):
                expected = _describe(hint)
                if low is not None:
                    expected += f" of at least {low}" if high == inf else f" from {low} to {high}"
                errors.append({"loc": [self.block, name], "msg": f"got {value!r}, expected {expected}"})
        if errors:
            raise ConfigValidationError(config=vars(self), errors=errors)

    @classmethod
    def _range(cls, name: str) -> Tuple[Optional[float], float]:
        """The lowest value of an option, if it has one, and the highest."""
        return (0, 1) if name in cls.shares else (cls.least.get(name), inf)


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Union:
        return any(_fits(value, part) for part in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and all(_fits(item, get_args(hint)[0]) for item in value)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def _describe(hint: Any) -> str:
    if get_origin(hint) is Union:
        return " or ".join(_describe(part) for part in get_args(hint))
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if get_origin(hint) is tuple:
        return f"a list of {_describe(get_args(hint)[0])}"
    return "null" if hint is type(None) else str(hint.__name__)


class BuilderWithBlocks:
    """A registered builder with some options in nested blocks. A config that sets one of these outside of its block
    gets an error that says where it belongs.

    confection compares a config with the builder's signature before it calls the builder, and reports what is not in
    the signature as "unexpected". But when it asks for the signature, it holds the section of the config, and here that
    section is checked first.

    `name` is the registered name; `renamed` maps the old name of an option to "block.name" where its name has changed.
    """

    def __init__(
        self, build: Callable[..., Any], name: str, blocks: Sequence[Type[Block]], renamed: Mapping[str, str]
    ) -> None:
        self._build, self._name = build, name
        places = {option: f"{block.block}.{option}" for block in reversed(blocks) for option in block.options()}
        self._places = {**places, **renamed}
        update_wrapper(self, build)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._build(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self._build)
        frame = inspect.currentframe()
        while frame is not None:
            for section in list(frame.f_locals.values()):
                if isinstance(section, dict) and section.get("@architectures") == self._name:
                    self._find_moved(section, signature.parameters)
                    return signature
            frame = frame.f_back
        return signature

    def _find_moved(self, section: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        errors = []
        for option, value in section.items():
            block, _, name = self._places.get(option, "").partition(".")
            if block and (option not in known or not isinstance(value, dict)):
                errors.append({"loc": [option], "msg": f"belongs in a block of this section: [...{block}] {name}"})
        if errors:
            raise ConfigValidationError(config=section, errors=errors, title=f"Config error for '{self._name}'")
