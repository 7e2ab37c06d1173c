"""docs/cli.md, from the commands themselves."""

from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from jobs.cli.main import app

_WIDTH = 120
"""Columns, whatever the terminal of whoever writes the page."""
_HEAD = """# Command line

This page is written by `make docs` from the commands themselves; `forecaster COMMAND --help` says the same.

The configuration is `--config FILE`, else `$FORECASTER_CONFIG`, else `./forecaster.yaml`: see [configuration](configuration.md).
What a command prints to stdout is data; what it has to say about itself goes to stderr.

| Exit code | Meaning |
|---|---|
| 0 | Done. Also when another run is at work on the same store: a sentence on stderr says so. |
| 1 | Failed. |
| 2 | Wrong usage, or a configuration that cannot be used. |
| 3 | Partly done: something failed, or waits for a person. |

"""


def commands_page() -> str:
    """Every command with what it does, an example, and its arguments and options."""
    commands = tuple(every_command())
    listed = "".join(f"- [`{name}`](#{_anchor(name)}): {_first_line(command)}\n" for name, command in commands)
    return _HEAD + listed + "".join(_section(name, command) for name, command in commands)


def every_command() -> Iterator[tuple[str, TyperCommand]]:
    """The commands in the order in which help lists them, those of a group under `GROUP COMMAND`."""
    group = get_command(app)
    if isinstance(group, TyperGroup):
        yield from _commands(group, "")


def prose_and_example(command: TyperCommand) -> tuple[str, str]:
    """What the help of a command says, and the example that it ends with, empty where it has none."""
    prose, _, example = (command.help or "").partition("Example:")
    return prose.strip(), example.strip()


def _commands(group: TyperGroup, prefix: str) -> Iterator[tuple[str, TyperCommand]]:
    for name, command in group.commands.items():
        match command:
            case TyperGroup():
                yield from _commands(command, f"{prefix}{name} ")
            case TyperCommand():
                yield f"{prefix}{name}", command


def _section(name: str, command: TyperCommand) -> str:
    prose, example = prose_and_example(command)
    context = typer.Context(command, info_name=f"forecaster {name}", terminal_width=_WIDTH)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = [record for parameter in command.params if (record := parameter.get_help_record(context)) is not None]
    table = "".join(f"| `{_cell(names)}` | {_cell(about)} |\n" for names, about in rows)
    options = f"\n| Argument or option | Meaning |\n|---|---|\n{table}" if rows else ""
    return f"\n## {name}\n\n{prose}\n\n```\n{usage}\n```\n\nFor example:\n\n```sh\n{example}\n```\n{options}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _first_line(command: TyperCommand) -> str:
    return prose_and_example(command)[0].partition("\n")[0]


def _anchor(name: str) -> str:
    """How GitHub links to a heading."""
    return name.replace(" ", "-")
