"""Events in CSV files."""

from pathlib import Path

import pytest

from connectors.calendars.registry import read_calendar
from forecaster.errors import SourceRejected


def read(folder: Path, text: str | bytes) -> list[tuple[int, dict[str, str | list[str]]]]:
    path = folder / "events.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(written.line, written.fields) for written in read_calendar(path)]


def refusal(folder: Path, text: str | bytes) -> str:
    with pytest.raises(SourceRejected) as refused:
        read(folder, text)
    return str(refused.value).replace(f"{folder}/", "")


def test_a_row_is_an_event_and_an_empty_cell_says_nothing(tmp_path: Path) -> None:
    launch, sale = "launch,2026-12-01T09:00,2026-12-01T18:00,,3,chat embed", "sale,2026-12-24,2026-12-26,UTC,2,"
    text = f"name,from,until,zone,factor,workloads\n{launch}\n\n{sale}\n"
    assert read(tmp_path, text) == [
        (2, {"name": "launch", "from": "2026-12-01T09:00", "until": "2026-12-01T18:00", "factor": "3", "workloads": ["chat", "embed"]}),
        (4, {"name": "sale", "from": "2026-12-24", "until": "2026-12-26", "zone": "UTC", "factor": "2"}),
    ]


def test_what_a_spreadsheet_writes_is_read(tmp_path: Path) -> None:
    text = '\ufeffName;From;Until;Factor;weekdays\r\n"launch; big";2026-12-01;2026-12-01;3;"mon, fri"\r\n'
    assert read(tmp_path, text) == [
        (2, {"name": "launch; big", "from": "2026-12-01", "until": "2026-12-01", "factor": "3", "weekdays": ["mon", "fri"]})
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "events.csv:1: the header has no column name; write a header such as name,from,until,zone,factor"),
        ("name,from\n", "events.csv:1: the header has no column until"),
        ("name,from,until,factr\n", "events.csv:1: 'factr' is no known column; did you mean factor?"),
        ("name,from,until,colour\n", "events.csv:1: 'colour' is no known column; known are name, from, until, zone"),
        ("name,from,until,name\n", "events.csv:1: the column name stands twice"),
        ("name,from,until\na,b,c\na,b,c,d\n", "events.csv:3: has 4 cells under 3 columns; quote a cell that holds the separator"),
        ('name,from,until\n"a,b,c\n', "events.csv:2: is no CSV"),
        (b"name,from,until\n\xff\xfe\n", "events.csv: is no UTF-8 text (byte 16); export it once more as UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    assert refusal(tmp_path, text).startswith(sentence)


def test_a_file_of_another_kind_or_none_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SourceRejected, match=r"events.xlsx: is of no known format; name a file that ends with .csv, or with .ics"):
        read_calendar(tmp_path / "events.xlsx")
    with pytest.raises(SourceRejected, match=r"events.csv: cannot be read \(No such file or directory\); name a file that is there"):
        read_calendar(tmp_path / "events.csv")
