"""mkdocs hook: looks up registered names and commands, turns links that leave docs/ into plain text, and shows the file
name above a code block that has one."""

import os
import re
import textwrap
from importlib import metadata
from typing import Any, Iterator

import spacy
import typer
from thinc.api import Config

REGISTERED = re.compile(r"^::: (spacy-lexner\.[\w.]+|lex_\w+)$", re.M)
FILE = re.compile(r"^```(\w+) ([\w./-]+)$", re.M)
LINK = re.compile(r"\[([^\]]+)\]\(([^):#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **kwargs: Any) -> str:
    folder = os.path.dirname(page.file.src_uri)

    def plain_if_outside(link: re.Match[str]) -> str:
        outside = os.path.normpath(os.path.join(folder, link[2])).startswith("..")
        return link[1] if outside else link[0]

    markdown = FILE.sub(r'```\1 title="\2"', LINK.sub(plain_if_outside, REGISTERED.sub(registered, markdown)))
    return markdown.replace("::: spacy lexner", "\n".join(commands())) if "::: spacy lexner" in markdown else markdown


def registered(found: re.Match[str]) -> str:
    """RETURNS (str): A heading with a registered name, followed by its default config if it is a factory, otherwise by
    the docs of the object that its entry point names."""
    [point] = [point for point in metadata.distribution("spacy-lexner").entry_points if point.name == found[1]]
    heading = f"## `{point.name}`\n\n"
    if point.group == "spacy_factories":
        defaults = spacy.blank("zh").get_factory_meta(point.name).default_config
        return f"{heading}```ini\n{Config({'components': {point.name: defaults}}).to_str()}\n```"
    return f"{heading}::: {point.value.replace(':', '.')}"


def commands() -> Iterator[str]:
    """YIELDS (str): Lines that document every command with its arguments and options, in the order of the help."""
    from spacy_lexner.cli.app import lexner

    yield from describe(typer.main.get_command(lexner), "spacy lexner")


def describe(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for part in command.commands.values():
            yield from describe(part, f"{name} {part.name}")
        return
    yield from (f"## `{name}`", "")
    for paragraph in (command.help or "").split("\n\n"):
        example, _, lines = paragraph.removeprefix("\b\n").partition("\n")  # \b: lines that are not wrapped
        yield f"```sh\n{textwrap.dedent(lines)}\n```" if example in ("Example:", "Examples:") else paragraph
        yield ""
    yield from ("| argument | default | what |", "|---|---|---|")
    for parameter in command.params:
        if parameter.name != "help":
            options = "`, `".join(parameter.opts)
            names = options if parameter.param_type_name == "option" else parameter.metavar or parameter.name.upper()
            default = f"`{parameter.default}`" if isinstance(parameter.default, (str, int, float)) else ""
            yield f"| `{names}` | {default} | {(parameter.help or '').replace('|', chr(92) + '|')} |"
    yield ""
