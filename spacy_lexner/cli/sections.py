"""Command groups whose help is divided into sections."""

from typing import Any, Dict, List, Tuple

import typer
from typer.core import TyperGroup

LONGEST = 200  # characters of a command's first sentence; click's default of 45 cuts most of them


class SectionedGroup(TyperGroup):
    """Lists commands under their `rich_help_panel`, each with its whole first sentence, in plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: Dict[str, List[Tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if not command.hidden:
                rows = sections.setdefault(command.rich_help_panel or "Commands", [])
                rows.append((name, command.get_short_help_str(LONGEST)))
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


def make_group(name: str, help: str) -> typer.Typer:
    """RETURNS (typer.Typer): A command group that shows its help if called without arguments."""
    return typer.Typer(name=name, cls=SectionedGroup, help=help, no_args_is_help=True, rich_markup_mode=None)
