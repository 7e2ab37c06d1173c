"""Tables as people, spreadsheets and programs want them."""

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.cli.options import Output

_PIPE_WIDTH = 200
"""Columns of a table that nobody watches: wide enough not to cut names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under named columns. A column whose values are all numbers is set right. None = not known, printed as nothing, null in JSON."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    empty: str = "nothing to show"


def show(table: Table, output: Output) -> None:
    """Print a table to stdout."""
    match output:
        case Output.TABLE:
            _print_rich(table)
        case Output.JSON:
            show_json([dict(zip(table.columns, row, strict=True)) for row in table.rows])
        case Output.CSV:
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows([_text(value) for value in row] for row in table.rows)
            sys.stdout.write(text.getvalue())
        case Output.MARKDOWN:
            sys.stdout.write("".join(f"| {' | '.join(line)} |\n" for line in _markdown(table)))


def show_json(data: Mapping[str, object] | Sequence[object]) -> None:
    """Print data as JSON, instants in ISO 8601."""
    sys.stdout.write(json.dumps(data, indent=2, default=_text, allow_nan=False) + "\n")


def say(sentence: str) -> None:
    """A sentence about the run, on stderr: stdout is data."""
    sys.stderr.write(sentence + "\n")


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat(timespec="seconds").replace("+00:00", "Z")
        case float():
            return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # noqa: PLR2004 - four digits, then whole numbers
        case _:
            return str(value)


def _markdown(table: Table) -> list[list[str]]:
    return [list(table.columns), ["---"] * len(table.columns), *([_text(value).replace("|", "\\|") for value in row] for row in table.rows)]


def _print_rich(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
    if not table.rows:
        console.print(f"{table.title}: {table.empty}", markup=False)
        return
    rich = RichTable(title=table.title, box=box.SIMPLE_HEAD, title_justify="left")
    for i, name in enumerate(table.columns):
        numbers = all(row[i] is None or isinstance(row[i], int | float) for row in table.rows)
        rich.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in table.rows:
        rich.add_row(*(_text(value).replace("[", "\\[") for value in row))
    console.print(rich)
