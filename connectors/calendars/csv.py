"""Events in a CSV file: a header that names keys of `events`, and a row an event; a list's entries stand apart by spaces."""

import csv
import re
from difflib import get_close_matches
from io import StringIO
from pathlib import Path

from connectors.calendars.written import KEYS, LISTS, Written, file_text
from forecaster.errors import SourceRejected

_APART = re.compile(r"[\s;,|]+")


def read_csv(path: Path) -> tuple[Written, ...]:
    """The events of a file, in its order. Raises SourceRejected naming the line that cannot be read."""
    text = file_text(path)
    first = text.split("\n", 1)[0]
    lines = csv.reader(StringIO(text, newline=""), delimiter=";" if ";" in first and "," not in first else ",", strict=True)
    try:
        header = [name.strip().lower() for name in next(lines, [])]
        _check_header(path, header)
        return tuple(_row(path, lines.line_num, header, cells) for cells in lines if any(cell.strip() for cell in cells))
    except csv.Error as error:
        msg = f"{path}:{lines.line_num}: is no CSV ({error}); look for a quote that is not closed"
        raise SourceRejected(msg) from error


def _check_header(path: Path, header: list[str]) -> None:
    for name in header:
        if name not in KEYS:
            close = get_close_matches(name, KEYS, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"known are {', '.join(KEYS)}"
            msg = f"{path}:1: {name!r} is no known column; {remedy}"
            raise SourceRejected(msg)
    twice = {name for name in header if header.count(name) > 1}
    missing = [name for name in ("name", "from", "until") if name not in header]
    if twice or missing:
        fault = f"the column {min(twice)} stands twice" if twice else f"the header has no column {missing[0]}"
        msg = f"{path}:1: {fault}; write a header such as name,from,until,zone,factor"
        raise SourceRejected(msg)


def _row(path: Path, line: int, header: list[str], cells: list[str]) -> Written:
    if len(cells) > len(header):
        msg = f"{path}:{line}: has {len(cells)} cells under {len(header)} columns; quote a cell that holds the separator"
        raise SourceRejected(msg)
    said = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if cell.strip()}
    return Written(line=line, fields={name: _APART.split(text) if name in LISTS else text for name, text in said.items()})
