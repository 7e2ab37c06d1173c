"""Tables and JSON as each reader wants them."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from forecaster.calendar import Calendar
from jobs.cli.options import Output
from jobs.cli.show import Cell, Table, change, moment, number, percent, show, show_chart, show_json, together

AT = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
LONG = "a-workload-with-a-name-that-nobody-would-want-to-see-cut-" * 4
TABLE = Table(
    title="Peaks",
    columns=("workload", "peak at", "P95", "error", "change"),
    rows=((LONG, moment(AT, Calendar(zone="Asia/Kolkata")), 12_345.678, percent(0.0624), change(2)), ("b", None, None, None, None)),
)


@pytest.mark.parametrize(
    ("value", "words"), [(12_345.678, "12,346"), (999.7, "1,000"), (999.4, "999"), (12.345, "12.3"), (0.000123, "0.000123"), (0.0, "0")]
)
def test_a_number_has_three_digits_that_count_and_is_whole_from_a_thousand_on(value: float, words: str) -> None:
    assert number(value) == words


def test_ratios_are_percent_and_changes_have_a_sign() -> None:
    assert [cell.words for cell in (percent(0.0624), percent(0.5), percent(0.04, signed=True), change(-3), change(0)) if cell] == [
        "6.2%",
        "50%",
        "+4.0%",
        "-3",
        "0",
    ]


@pytest.mark.parametrize("unknown", [percent(None), percent(float("nan")), change(None), moment(None, Calendar())])
def test_what_is_not_known_is_no_cell(unknown: Cell | None) -> None:
    assert unknown is None


def test_people_read_local_time_and_thousands(capsys: pytest.CaptureFixture[str]) -> None:
    show(TABLE, Output.TABLE)
    out = capsys.readouterr().out
    assert "Mon 02 Mar 13:00" in out
    assert "12,346" in out


def test_nobody_watches_a_pipe_so_no_name_is_cut_and_a_row_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show(TABLE, Output.TABLE)
    assert [line for line in capsys.readouterr().out.splitlines() if LONG in line and "6.2%" in line]


def test_numbers_are_set_right(capsys: pytest.CaptureFixture[str]) -> None:
    show(Table(title="t", columns=("name", "n"), rows=(("a", 5), ("b", 1_500))), Output.TABLE)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[-2].endswith("    5")
    assert lines[-1].endswith("1,500")


def test_a_spreadsheet_reads_plain_numbers_and_utc(capsys: pytest.CaptureFixture[str]) -> None:
    show(TABLE, Output.CSV)
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [
        ["workload", "peak_at", "p95", "error", "change"],
        [LONG, "2026-03-02T07:30:00Z", "12345.7", "0.0624", "2"],
        ["b", "", "", "", ""],
    ]


def test_a_program_reads_values_and_null(capsys: pytest.CaptureFixture[str]) -> None:
    show(TABLE, Output.JSON)
    first, second = json.loads(capsys.readouterr().out)
    assert first == {"workload": LONG, "peak_at": "2026-03-02T07:30:00Z", "p95": 12_345.678, "error": 0.0624, "change": 2}
    assert second == {"workload": "b", "peak_at": None, "p95": None, "error": None, "change": None}


def test_keys_may_say_more_than_the_heading(capsys: pytest.CaptureFixture[str]) -> None:
    show(Table(title="t", columns=("error",), keys=("median_error_ratio",), rows=((percent(0.1),),)), Output.JSON)
    assert json.loads(capsys.readouterr().out) == [{"median_error_ratio": 0.1}]


def test_json_is_strict_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"nan": float("nan"), "inf": np.inf, "whole": np.int64(3), "float": np.float64(0.5), "at": AT, "deep": [{"x": (np.nan,)}]})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "nan": None,
        "inf": None,
        "whole": 3,
        "float": 0.5,
        "at": "2026-03-02T07:30:00Z",
        "deep": [{"x": [None]}],
    }


def test_markdown_keeps_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show(Table(title="t", columns=("why", "n"), rows=(("a | b\nc", 1),)), Output.MARKDOWN)
    assert capsys.readouterr().out == "| why | n |\n| --- | ---: |\n| a \\| b c | 1 |\n"


@pytest.mark.parametrize(("output", "said"), [(Output.TABLE, "t: none yet\n"), (Output.JSON, "[]\n"), (Output.CSV, "a,b\n")])
def test_a_table_without_rows_says_so(capsys: pytest.CaptureFixture[str], output: Output, said: str) -> None:
    show(Table(title="t", columns=("a", "b"), rows=(), empty="none yet"), output)
    assert capsys.readouterr().out == said


def test_what_looks_like_markup_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show(Table(title="[t]", columns=("a",), rows=(("[bold]x[/]",),)), Output.TABLE)
    assert "[bold]x[/]" in capsys.readouterr().out


def test_a_narrow_terminal_gets_the_columns_in_groups_each_led_by_the_names() -> None:
    out = on_terminal(
        "from jobs.cli.show import Table, show\n"
        "from jobs.cli.options import Output\n"
        "columns = ('workload', *(f'column {i}' for i in range(8)))\n"
        "show(Table(title='t', columns=columns, rows=(('chat', *range(8)),)), Output.TABLE)\n",
        columns=60,
    )
    assert max(len(line) for line in out.splitlines()) <= 60
    assert out.count("workload") == out.count("chat") > 1
    assert all(f"column {i}" in out for i in range(8))


@pytest.mark.parametrize("columns", [20, 50, 80, 100, 200])
def test_a_terminal_of_any_width_loses_no_character(columns: int) -> None:
    headings = ("what", "where", "state", "sentence")
    rows = (
        ("configuration", "forecaster.yaml", "ok", "workloads: 1, sources: 1, templates: 0"),
        ("query", "chat: rpm", "failed", "http://prometheus.monitoring:9090 cannot be reached (Name or service not known); check url"),
        ("target", "kubernetes-hpa:serving/a-workload-with-a-long-name", "failed", "負荷 の目標 が見つかりません" * 3),
    )
    out = on_terminal(
        "from jobs.cli.show import Table, show\n"
        "from jobs.cli.options import Output\n"
        f"show(Table(title='Check', columns={headings}, rows={rows}, named_by=3), Output.TABLE)\n",
        columns=columns,
    )
    told = "".join(("Check", *headings, *(cell for row in rows for cell in row)))
    assert Counter("".join(out.replace("─", "").split())) == Counter("".join(told.split()))
    assert max(cell_len(line) for line in out.splitlines()) <= max(columns, 40)


def test_a_chart_is_coloured_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[" in on_terminal("from jobs.cli.show import show_chart\nshow_chart('█░')\n", columns=80, term="xterm-256color")
    show_chart("█░")
    assert capsys.readouterr().out == "█░\n"


def test_a_chart_is_ascii_where_nothing_else_can_be_written() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from jobs.cli.show import show_chart\nshow_chart('▁█░⠒┤·└─┬')"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout == "_#:*|.+-+\n"


def on_terminal(program: str, *, columns: int, term: str = "dumb") -> str:
    """What a program prints when a person watches, on a terminal of that width."""
    master, terminal = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program],
        env=env | {"COLUMNS": str(columns), "LINES": "50", "TERM": term},
        cwd=Path(__file__).parents[3],
        stdout=terminal,
    ) as process:
        os.close(terminal)
        printed = _read(master)
        os.close(master)
    assert process.returncode == 0
    return printed


def _read(master: int) -> str:
    """Everything that was printed; a terminal that nobody writes to any more ends with EIO."""
    printed = b""
    while True:
        try:
            more = os.read(master, 65_536)
        except OSError:
            more = b""
        if not more:
            return printed.decode().replace("\r\n", "\n")
        printed += more


def test_what_is_said_of_several_is_said_once_with_their_names() -> None:
    said = [("chat", "too few"), ("code", "late"), ("batch", "too few"), ("chat", "too few")]
    assert together(said) == [("chat and batch", "too few"), ("code", "late")]
    assert together((f"w{i}", "too few") for i in range(4)) == [("w0, w1, w2 and w3", "too few")]
    assert together((f"w{i}", "too few") for i in range(30)) == [("w0, w1, w2 and 27 more", "too few")]
