"""Load from CSV files: a source like any other, and the reader of the traces that a replay runs on."""

import gzip
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from connectors.sources.oddities import Oddities, oddities
from connectors.sources.readings import Readings, factor, series_of
from forecaster.errors import SourceRejected, TraceRejected
from forecaster.marks import Mark
from forecaster.ports import Query
from forecaster.seconds import Seconds
from forecaster.series import MOST_LOAD, Series, Window
from forecaster.trace import Trace
from forecaster.units import DAY_S, HOUR_S, from_epoch_s, iso

if TYPE_CHECKING:
    import pandas as pd  # half a second: only files need it, not the command line

_SPACING_TOLERANCE = 0.02  # a loop that waits a minute and works a second; rows every 7 minutes are no buckets of 432 s
_MOST_BUCKETS = 10_000_000  # 19 years of minutes: beyond it one stamp is a typing error
_MICRO = 1_000_000
_GZIP_MAGIC = b"\x1f\x8b"
_OFFSET = r"[T ]\d\d.*[+-]\d\d(?::?\d\d)?$"


class CsvConfig(BaseModel):
    """Load recorded in a file, for trying out and for stores that only export. The query's expression is the column's name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["csv"] = Field(description="This kind of source: a recorded file.")
    path: Path = Field(
        description="The file, plain or gzipped, with a header and one row a bucket. No default: only you know where it is. "
        "It is read again when its size or modification time changes."
    )
    timestamp: str = Field(
        default="timestamp",
        min_length=1,
        description="Name of the column with each bucket's start, ISO 8601 with Z or an offset. Default `timestamp`, since most exports "
        "call it so.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """Which content of the file was read."""

    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    """What was read of a column: its numbers, what was odd about its rows, and how many had a number that no load can have."""

    readings: Readings
    oddities: Oddities
    impossible: int


class CsvSource:
    """The columns of one file. A count is one in the bucket; the bucket is the median spacing of the stamps."""

    def __init__(self, config: CsvConfig) -> None:
        self._config = config
        self._lock = Lock()
        self._read: dict[str, tuple[_Version, _Column]] = {}

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """See `MetricSource`. A bucket of the file that ends after the window is not known yet."""
        return series_of(query, self._column(query.expression).readings, window, step_s)

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:
        """See `MetricSource`. Rows that share a stamp, and rows that stand behind later ones; empty cells are no rows."""
        return self._column(query.expression).oddities.marks(query.signal, window, now)

    def seconds(self, query: Query, window: Window) -> Seconds:
        """See `SecondSource`. The file's own buckets."""
        grain_s = self._column(query.expression).readings.step_s
        return Seconds(grain_s=grain_s, series=self.fetch(query, window, 1) if grain_s == 1 else None)

    def probe(self, query: Query, now: datetime) -> str:
        """One sentence on what the column holds as of `now`. Raises SourceRejected when it cannot be used."""
        column = self._column(query.expression)
        readings = column.readings
        scale = factor(query, readings.step_s)
        end = readings.start + timedelta(seconds=readings.step_s * readings.numbers.size)
        span = f"{readings.numbers.size} buckets of {readings.step_s} s from {iso(readings.start)} to {iso(end)}"
        measured = np.flatnonzero(~np.isnan(readings.numbers))
        rows = f"{column.impossible} row{'s' * (column.impossible != 1)}"
        left_out = f"; {rows} negative or infinite, taken as not measured" if column.impossible else ""
        if not measured.size:
            return f"column {query.expression!r} has {span}, none of them measured{left_out}"
        share = measured.size / readings.numbers.size
        last = readings.numbers[measured[-1]] * scale
        late_h = (now - end).total_seconds() / HOUR_S
        age = f"; it ends {late_h:.0f} h before now" if late_h >= 1 else ""
        return f"column {query.expression!r} has {span}, {share:.0%} measured, the last {last:.6g} {query.signal.unit}{age}{left_out}"

    def close(self) -> None:
        """Forget what was read."""
        with self._lock:
            self._read.clear()

    def _column(self, column: str) -> _Column:
        """The column, parsed once for each version of the file."""
        with self._lock:
            version = _version(self._config.path)
            kept = self._read.get(column)
            if kept is None or kept[0] != version:
                try:
                    found = _read(self._config.path, column=column, timestamp=self._config.timestamp)
                except TraceRejected as error:
                    raise SourceRejected(str(error)) from error
                kept = self._read[column] = (version, found)
            return kept[1]


def read_trace(path: Path, *, column: str = "value", timestamp: str = "timestamp") -> Trace:
    """The counts of a CSV file, plain or gzipped, in epoch-aligned buckets as wide as the median spacing of its stamps.

    The spacing is snapped to a whole number of seconds that divides a day, if one is within 2 %. A stamp falls into the bucket
    that holds it; counts that share a bucket are averaged, since they are a repeated or a jittering row, not twice the load.
    Empty cells, absent rows, infinite and negative numbers are not measured. Rows may be in any order; other columns are
    ignored. Raises TraceRejected, naming the file and the line, for anything that cannot be read or replayed.
    """
    readings = _read(path, column=column, timestamp=timestamp).readings
    if np.isnan(readings.numbers).all():
        msg = f"{path.name} has no number in column {column!r}; at least one bucket must be measured"
        raise TraceRejected(msg)
    return Trace(start=readings.start, bucket_s=readings.step_s, counts=readings.numbers)


def _read(path: Path, *, column: str, timestamp: str) -> _Column:
    table = _table(path, column=column, timestamp=timestamp)
    stamps_us = _stamps_us(table[timestamp], path.name)
    values = _numbers(table[column], path.name)
    return _buckets(stamps_us, values, path.name)


def _version(path: Path) -> _Version:
    try:
        stat = path.stat()
    except OSError as error:
        raise SourceRejected(_no_file(path, error)) from error
    return _Version(mtime_ns=stat.st_mtime_ns, size=stat.st_size)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TraceRejected(_no_file(path, error)) from error
    if not content.startswith(_GZIP_MAGIC):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path.name} is a broken gzip file ({error}); copy it again"
        raise TraceRejected(msg) from error


def _no_file(path: Path, error: OSError) -> str:
    return f"{path} cannot be read: {error.strerror}; give the path of a readable CSV file"


def _table(path: Path, *, column: str, timestamp: str) -> "pd.DataFrame":
    """The two columns as text, one row a line after the header, blank lines left out; the index counts lines from 0."""
    import pandas as pd  # noqa: PLC0415  # see above

    content = _content(path)
    try:
        names = pd.read_csv(BytesIO(content), encoding="utf-8-sig", nrows=0, index_col=False, skipinitialspace=True).columns
        _check_columns(tuple(names), (timestamp, column), path.name)
        table = pd.read_csv(
            BytesIO(content),
            encoding="utf-8-sig",
            dtype=str,
            usecols=[timestamp, column],
            index_col=False,
            skipinitialspace=True,
            skip_blank_lines=False,  # they count as lines when an error names one
        )
    except pd.errors.EmptyDataError as error:
        msg = f"{path.name} is empty; it needs a header with {timestamp!r} and {column!r}"
        raise TraceRejected(msg) from error
    except (UnicodeDecodeError, pd.errors.ParserError) as error:
        raise TraceRejected(f"{path.name} is not a CSV file in UTF-8 ({error}); export it as such".replace("\n", " ")) from error
    table = table.dropna(how="all")
    if table.empty:
        msg = f"{path.name} has a header but no rows; it needs one a bucket"
        raise TraceRejected(msg)
    return table


def _check_columns(names: tuple[str, ...], wanted: tuple[str, ...], file: str) -> None:
    missing = [name for name in wanted if name not in names]
    if not missing:
        return
    if len(names) == 1 and (separator := next((s for s in ";\t|" if s in names[0]), None)):
        msg = f"{file} separates its columns with {separator!r}; write commas"
        raise TraceRejected(msg)
    there = ", ".join(repr(name[:40]) for name in names[:20])
    msg = f"{file} has no column {missing[0]!r}; its columns are {there}: name one of them"
    raise TraceRejected(msg)


def _stamps_us(texts: "pd.Series[str]", file: str) -> NDArray[np.int64]:
    """Microseconds since the epoch, one a row. Refuses what is no instant, or has no offset and could be any local time."""
    import pandas as pd  # noqa: PLC0415  # see above

    instants = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    if instants.isna().any():
        line, text = _first(texts, instants.isna())
        msg = f"{file}, line {line}: {text} is not an ISO 8601 timestamp; write 2024-05-18T08:00:00Z"
        raise TraceRejected(msg)
    zoned = texts.str.endswith("Z")
    if not zoned.all():
        zoned |= texts.str.contains(_OFFSET)
    if not zoned.all():
        line, text = _first(texts, ~zoned)
        msg = f"{file}, line {line}: {text} has no offset from UTC; write Z for UTC, or an offset such as +02:00"
        raise TraceRejected(msg)
    stamps: NDArray[np.int64] = instants.to_numpy(dtype="datetime64[us]").astype(np.int64)
    return stamps


def _numbers(texts: "pd.Series[str]", file: str) -> NDArray[np.float64]:
    """One float a row, NaN for an empty cell. Refuses text."""
    import pandas as pd  # noqa: PLC0415  # see above

    numbers: NDArray[np.float64] = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
    wrong = texts.notna() & np.isnan(numbers)
    if wrong.any():
        line, text = _first(texts, wrong)
        msg = f"{file}, line {line}: {text} is not a number; write one, or leave the cell empty where nothing was measured"
        raise TraceRejected(msg)
    return numbers


def _first(texts: "pd.Series[str]", wrong: "pd.Series[bool]") -> tuple[int, str]:
    """The line and the cell of the first wrong row; the header is line 1."""
    at = int(np.argmax(wrong.to_numpy()))
    line, cell = texts.index[at] + 2, texts.iloc[at]
    return line, repr(cell[:40]) if isinstance(cell, str) else "an empty cell"


def _buckets(stamps_us: NDArray[np.int64], values: NDArray[np.float64], file: str) -> _Column:
    """The rows in epoch-aligned buckets: the mean of what was measured in each, NaN where that is nothing."""
    bucket_s = _bucket_s(stamps_us, file)
    index = stamps_us // (bucket_s * _MICRO)
    first = int(index.min())
    n = int(index.max()) - first + 1
    start = from_epoch_s(first * bucket_s)
    if n > _MOST_BUCKETS:
        end = from_epoch_s((first + n) * bucket_s)
        msg = f"{file} spans {iso(start)} to {iso(end)}, {n} buckets of {bucket_s} s; look for a mistyped timestamp"
        raise TraceRejected(msg)
    measured = (values >= 0) & (values <= MOST_LOAD)
    index = index[measured] - first
    count = np.bincount(index, minlength=n)
    total = np.bincount(index, weights=values[measured], minlength=n)
    readings = Readings(start=start, step_s=bucket_s, numbers=np.where(count > 0, total / np.maximum(count, 1), np.nan))
    impossible = int(np.count_nonzero(~measured & ~np.isnan(values)))
    return _Column(readings=readings, oddities=oddities(stamps_us[measured], index, readings), impossible=impossible)


def _bucket_s(stamps_us: NDArray[np.int64], file: str) -> int:
    """The median spacing of different stamps, snapped to a divisor of a day."""
    spacing_us = np.diff(np.sort(stamps_us))
    spacing_us = spacing_us[spacing_us > 0]
    if not spacing_us.size:
        msg = f"{file} has one timestamp only; at least 2 are needed to know how long a bucket is"
        raise TraceRejected(msg)
    spacing_s = float(np.median(spacing_us)) / _MICRO
    nearest = min((s for s in range(1, DAY_S + 1) if DAY_S % s == 0), key=lambda s: abs(s - spacing_s))
    if abs(nearest - spacing_s) > _SPACING_TOLERANCE * nearest:
        msg = f"{file} has a row every {spacing_s:.6g} s (median), which does not divide a day; count its rows into minutes first"
        raise TraceRejected(msg)
    return nearest
