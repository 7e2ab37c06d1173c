"""Tables as people, spreadsheets and programs want them."""

import csv
import io
import json
import math
import numbers
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeVar

from forecaster.units import iso, spell_number
from jobs.cli.options import Output

if TYPE_CHECKING:
    from rich.console import Console

    from forecaster.calendar import Calendar

Said = TypeVar("Said", bound=Hashable)

_NAMES = 4
"""So many names stand before a sentence that is said of several."""
_PIPE_WIDTH = 10_000
"""Columns of a table that nobody watches: no name is ever cut, and every row is one line to grep."""
_PROSE_WIDTH = 20
"""Columns that a cell of text can do with: beyond, it goes on in the next line."""
_LEAST_TERMINAL = 40
"""Columns that tables are laid out for at least: a narrower terminal breaks the lines itself, and loses nothing."""
_GAP = 3
"""Columns between two columns of a table."""
_COLOURS = {"[▁-█]+": "cyan", "░+": "blue", "[⠁-⣿]+": "bold yellow", "[┤│└┬─]+": "dim"}
"""Of a chart's glyphs; it reads without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A value that people read otherwise than programs: `words` on the terminal and in Markdown, `value` in CSV and JSON."""

    value: object
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under named columns. None = not known, printed as nothing, null in JSON.

    A column of numbers is set right. keys: the columns as programs call them, by default their names in snake case. named_by: so
    many of the first columns say what a row is about; they are repeated where a terminal is too narrow for all columns at once.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    empty: str = "nothing to show"
    keys: tuple[str, ...] = ()
    named_by: int = 1


def percent(ratio: float | None, *, signed: bool = False) -> Cell | None:
    """A ratio as percent, `signed` for a change."""
    if ratio is None or not math.isfinite(ratio):
        return None
    rounded = round(ratio * 100, 1)
    digits = 1 if abs(rounded) < 10 else 0  # noqa: PLR2004 - two digits say enough of a share
    return Cell(value=ratio, words=f"{rounded:{'+' if signed and rounded else ''},.{digits}f}%")


def change(replicas: int | None) -> Cell | None:
    """A difference in replicas, with its sign."""
    return None if replicas is None else Cell(value=replicas, words=f"{replicas:+,d}" if replicas else "0")


def amount(value: float | None) -> Cell | None:
    """A number as people write it, empty where it is not known."""
    return None if value is None else Cell(value=value, words=spell_number(value))


def moment(at: datetime | None, calendar: "Calendar", form: str = "%a %d %b %H:%M") -> Cell | None:
    """An instant: local time for people, UTC for programs."""
    return None if at is None else Cell(value=at, words=f"{calendar.local(at):{form}}")


def show(table: Table, output: Output) -> None:
    """Print a table to stdout."""
    keys = table.keys or tuple(name.lower().replace(" ", "_") for name in table.columns)
    match output:
        case Output.TABLE:
            _print_rich(table)
        case Output.JSON:
            show_json([dict(zip(keys, (_bare(value) for value in row), strict=True)) for row in table.rows])
        case Output.CSV:
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(keys)
            writer.writerows([_plain(_bare(value)) for value in row] for row in table.rows)
            sys.stdout.write(text.getvalue())
        case Output.MARKDOWN:
            sys.stdout.write("".join(f"| {' | '.join(line)} |\n" for line in _markdown(table)))


def show_json(data: Mapping[str, object] | Sequence[object]) -> None:
    """Print data as strict JSON: instants in ISO 8601, what is no finite number as null."""
    sys.stdout.write(json.dumps(_strict(data), indent=2, allow_nan=False) + "\n")


def show_chart(chart: str) -> None:
    """Print a chart to stdout: in colour on a terminal that has it, in ASCII where nothing else can be written."""
    from rich.text import Text

    from jobs.cli.canvas import ascii_of

    try:
        chart.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        chart = ascii_of(chart)
    text = Text(chart)
    for glyphs, style in _COLOURS.items():
        text.highlight_regex(glyphs, style)
    terminal().print(text, soft_wrap=True)


def together(said: Iterable[tuple[str, Said]]) -> list[tuple[str, Said]]:
    """Each thing once, in order, with all of whom it was said: `chat and batch`; of many the first ones, and how many more."""
    names: dict[Said, dict[str, None]] = {}
    for name, what in said:
        names.setdefault(what, {})[name] = None
    return [(_listed(tuple(of)), what) for what, of in names.items()]


def _listed(names: tuple[str, ...]) -> str:
    shown = names if len(names) <= _NAMES else (*names[: _NAMES - 1], f"{len(names) - _NAMES + 1} more")
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def say(sentence: str) -> None:
    """A sentence about the run, on stderr: stdout is data."""
    sys.stderr.write(sentence + "\n")


def number(value: float) -> str:
    """A number for people: three digits that count, whole from a thousand on."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"  # noqa: PLR2004 - from here on .3g rounds to 1e+03


def terminal() -> "Console":
    """Where people read: as wide as their terminal, without an end where nobody watches; colour only where it can be seen."""
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else Console(width=_PIPE_WIDTH, highlight=False)


def _strict(data: object) -> object:
    match data:
        case Mapping():
            return {str(key): _strict(value) for key, value in data.items()}
        case str() | bool() | None:
            return data
        case numbers.Integral():
            return int(data)
        case numbers.Real():
            return float(data) if math.isfinite(data) else None
        case Sequence():
            return [_strict(value) for value in data]
        case _:
            return _plain(data)


def _bare(value: object) -> object:
    """What programs get of a cell."""
    return value.value if isinstance(value, Cell) else value


def _plain(value: object) -> str:
    """A value as a program reads it back: no thousands separators, six digits that count."""
    match value:
        case None:
            return ""
        case datetime():
            return iso(value)
        case date():
            return value.isoformat()
        case float():
            return f"{value:.6g}" if math.isfinite(value) else ""
        case _:
            return str(value)


def _text(value: object) -> str:
    """A value as a person reads it."""
    match value:
        case Cell():
            return value.words
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,d}"
        case float():
            return number(value) if math.isfinite(value) else ""
        case _:
            return _plain(value)


def _numeric(table: Table) -> list[bool]:
    """Which columns hold numbers only."""
    bare = [[_bare(value) for value in row] for row in table.rows]
    return [all(row[i] is None or isinstance(row[i], int | float) for row in bare) for i in range(len(table.columns))]


def _markdown(table: Table) -> list[list[str]]:
    rule = ["---:" if right and table.rows else "---" for right in _numeric(table)]
    return [list(table.columns), rule, *([" ".join(_text(v).replace("|", "\\|").split()) for v in row] for row in table.rows)]


def _print_rich(table: Table) -> None:
    from rich.text import Text

    console = terminal()
    if not table.rows:
        console.print(f"{table.title}: {table.empty}", markup=False)
        return
    console.width = max(console.width, _LEAST_TERMINAL)
    console.print(Text(table.title, style="bold"))
    for columns in _fitting(table, console.width):
        _print_columns(table, columns, console)


def _fitting(table: Table, width: int) -> list[list[int]]:
    """The columns in as few groups as fit the width, each led by those that name the row."""
    need = [_least_width(table, i, right=right) + _GAP for i, right in enumerate(_numeric(table))]
    names = list(range(table.named_by))
    groups = [names[:]]
    for i in range(table.named_by, len(table.columns)):
        if len(groups[-1]) > len(names) and sum(need[j] for j in (*groups[-1], i)) > width:
            groups.append(names[:])
        groups[-1].append(i)
    return groups


def _natural_width(table: Table, i: int) -> int:
    from rich.cells import cell_len

    return max(cell_len(line) for text in (table.columns[i], *(_text(row[i]) for row in table.rows)) for line in text.split("\n"))


def _least_width(table: Table, i: int, *, right: bool) -> int:
    natural = _natural_width(table, i)
    return natural if right or i < table.named_by else min(natural, max(_PROSE_WIDTH, len(table.columns[i])))


def _widths(table: Table, columns: list[int], width: int) -> list[int]:
    """Widths that fit together: text gives way first, down to its least, then whatever is widest."""
    room = width - _GAP * len(columns)
    numeric = _numeric(table)
    least = [_least_width(table, i, right=numeric[i]) for i in columns]
    widths = [max(min(_natural_width(table, i), room), 1) for i in columns]
    while sum(widths) > room:
        loose = [k for k in range(len(columns)) if widths[k] > least[k]] or range(len(columns))
        widths[max(loose, key=lambda k: widths[k])] -= 1
    return widths


def _print_columns(table: Table, columns: list[int], console: "Console") -> None:
    from rich import box
    from rich.console import JustifyMethod
    from rich.table import Table as RichTable
    from rich.text import Text

    rich = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    numeric = _numeric(table)
    # Widths are all set: left to itself the library squeezes without regard to least widths, then cuts off what does not fit.
    for i, width in zip(columns, _widths(table, columns, console.width), strict=True):
        justify: JustifyMethod = "right" if numeric[i] else "left"
        rich.add_column(Text(table.columns[i]), justify=justify, overflow="fold", width=width)
    for row in table.rows:
        rich.add_row(*(Text(_text(row[i])) for i in columns))
    console.print(rich)
