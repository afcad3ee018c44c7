"""Templates of pictures and pages, and how they are filled in: with everything escaped."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("spacy_lexner", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, **values: Any) -> str:
    """Fill in a template.

    name (str): Its file.
    values (Any): What it needs; strings are escaped.
    RETURNS (str): The text.
    """
    return _environment().get_template(name).render(**values)
