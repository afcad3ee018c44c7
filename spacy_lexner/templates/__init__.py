"""Jinja templates of pictures and pages, rendered with everything escaped."""

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
    """Render a template.

    name (str): The file name of the template.
    values (Any): The template's variables; strings are escaped.
    RETURNS (str): The text.
    """
    return _environment().get_template(name).render(**values)
