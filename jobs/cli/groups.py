"""A group of commands of which one need not be named."""

import typer
from typer.core import TyperGroup

_DEFAULT = "show"


class ShowsByDefault(TyperGroup):
    """`GROUP ARGUMENTS` means `GROUP show ARGUMENTS`, unless the first argument is a command or an option of the group's own.

    `GROUP` alone shows too, unless the group says its help then.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # click's own Context, which Typer's is
        """The arguments with the command's name in front where it was left out."""
        own = {*self.commands, "--help", "-h"}
        shows = args[0] not in own if args else not self.no_args_is_help
        return super().parse_args(ctx, [_DEFAULT, *args] if shows else args)
