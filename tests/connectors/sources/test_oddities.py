"""What a file says besides its numbers: rows that came twice, and rows that stand behind later ones."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from connectors.sources.csv import CsvConfig, CsvSource
from forecaster.marks import Mark, MarkKind
from forecaster.ports import Query, Unit
from forecaster.series import Signal, Window

START = datetime.fromisoformat("2024-05-12T00:00:00+00:00")
RPM = Query(signal=Signal.RPM, expression="value", unit=Unit.COUNT)
MINUTE = timedelta(minutes=1)
DAY = tuple((minute, float(minute)) for minute in range(1_440))


def remarks(folder: Path, rows: tuple[tuple[int, float | None], ...], first: int = 0, last: int = 1_440) -> tuple[Mark, ...]:
    """What a file of (minute, count) rows remarks of the minutes [first, last)."""
    path = folder / "load.csv"
    lines = [f"{START + minute * MINUTE:%Y-%m-%dT%H:%M:%SZ},{'' if count is None else count}" for minute, count in rows]
    path.write_text("\n".join(["timestamp,value", *lines, ""]))
    source = CsvSource(CsvConfig(type="csv", path=path))
    return source.remarks(RPM, Window(start=START + first * MINUTE, end=START + last * MINUTE), START + last * MINUTE)


def spans(marks: tuple[Mark, ...]) -> list[tuple[MarkKind, int, int, str]]:
    return [(m.kind, (m.span.start - START) // MINUTE, (m.span.end - START) // MINUTE, m.detail) for m in marks]


def test_rows_that_came_twice_are_one_duplicate_a_stretch(tmp_path: Path) -> None:
    rows = (*DAY[:130], *DAY[100:130], *DAY[130:600], (599, 7.0), *DAY[600:])
    marks = remarks(tmp_path, rows)
    assert [row for row in spans(marks) if row[0] is MarkKind.DUPLICATE] == [
        (MarkKind.DUPLICATE, 100, 130, "30 rows came again with a stamp that was there already"),
        (MarkKind.DUPLICATE, 599, 600, "1 row came again with a stamp that was there already"),
    ]
    assert {(mark.signal, mark.author) for mark in marks} == {(Signal.RPM, "")}


def test_a_row_that_stands_behind_later_ones_is_late(tmp_path: Path) -> None:
    rows = (*DAY[:300], *DAY[310:400], *DAY[300:310], *DAY[400:])
    assert spans(remarks(tmp_path, rows)) == [(MarkKind.LATE, 300, 310, "10 rows stood behind later ones")]


def test_a_file_with_the_newest_row_first_is_in_order(tmp_path: Path) -> None:
    backwards = DAY[::-1]
    assert remarks(tmp_path, backwards) == ()
    shuffled = (*backwards[:100], *backwards[101:200], backwards[100], *backwards[200:])
    assert [row[:3] for row in spans(remarks(tmp_path, shuffled))] == [(MarkKind.LATE, 1_339, 1_340)]


def test_an_empty_cell_beside_a_number_is_no_second_row(tmp_path: Path) -> None:
    assert remarks(tmp_path, (*DAY[:100], (99, None), *DAY[100:])) == ()


def test_jittering_stamps_that_share_a_bucket_are_no_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text("timestamp,value\n" + "".join(f"2024-05-12T00:{i:02d}:{(i * 7) % 3:02d}Z,1\n" for i in range(60)))
    source = CsvSource(CsvConfig(type="csv", path=path))
    assert source.remarks(RPM, Window(start=START, end=START + 60 * MINUTE), START + 60 * MINUTE) == ()


@pytest.mark.parametrize(("first", "last", "expected"), [(0, 100, []), (0, 110, [(100, 110)]), (105, 1_440, [(105, 130)]), (200, 300, [])])
def test_only_the_window_is_told(tmp_path: Path, first: int, last: int, expected: list[tuple[int, int]]) -> None:
    rows = tuple(DAY[i] for i in np.sort([*range(1_440), *range(100, 130)]))
    assert [row[1:3] for row in spans(remarks(tmp_path, rows, first, last))] == expected
