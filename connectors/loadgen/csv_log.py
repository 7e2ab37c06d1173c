"""A request log in a CSV file, plain or gzipped: when each request arrived, and its token lengths."""

import csv
import gzip
import math
import re
import zlib
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import numpy as np

from forecaster.errors import TraceRejected
from forecaster.request_log import RequestLog

_TIMES = ("timestamp", "time", "arrival", "arrivaltime", "arrivaltimestamp", "arrivedat", "arriveds", "timestamps", "timestampms")
_INPUTS = ("inputtokens", "prompttokens", "contexttokens", "requesttokens", "inputlength", "promptlength")
_OUTPUTS = ("outputtokens", "completiontokens", "generatedtokens", "responsetokens", "outputlength")
_WRITTEN = {"timestamp": _TIMES, "input_tokens": _INPUTS, "output_tokens": _OUTPUTS}
_MS_PER_S = 1_000.0
_LATEST_S = 1e11
"""As seconds since 1970 the year 5138: a number beyond is in milliseconds or finer."""
_GZIP_MAGIC = b"\x1f\x8b"


def read_request_log(path: Path) -> RequestLog:
    """The requests of a file with a header, in its order.

    Columns: `timestamp` (ISO 8601, or seconds since any instant; `timestamp_ms` in milliseconds), `input_tokens` and `output_tokens`, or
    what others call them: ContextTokens and GeneratedTokens, prompt and completion, request and response tokens. Other columns are ignored.
    Raises TraceRejected, naming the file and the line, for anything that cannot be read or replayed.
    """
    text = _text(path)
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    arrived, inputs, outputs = [], [], []
    try:
        columns = _columns(path.name, next(lines, []))
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            at = f"{path.name} line {lines.line_num}"
            time, sent, generated = (_cell(at, cells, *columns[key]) for key in _WRITTEN)
            arrived.append(_seconds(at, columns["timestamp"][1], time))
            inputs.append(_length(at, columns["input_tokens"][1], sent))
            outputs.append(_length(at, columns["output_tokens"][1], generated))
            if len(arrived) > 1 and arrived[-1] < arrived[-2]:
                raise TraceRejected(f"{at} arrives before the line above it: sort the log by {columns['timestamp'][1]}")
    except csv.Error as error:
        raise TraceRejected(f"{path.name} line {lines.line_num} is no CSV ({error}); look for a quote that is not closed") from error
    if not arrived:
        raise TraceRejected(f"{path.name} holds no request below its header")
    try:
        return RequestLog(arrived_s=np.array(arrived), input_tokens=np.array(inputs), output_tokens=np.array(outputs))
    except ValueError as error:
        raise TraceRejected(f"{path.name}: {error}") from error


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceRejected(f"{path.name} is no text: give a CSV file, plain or .gz") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TraceRejected(f"{path.name} is a broken gzip file ({error}); copy it again") from error
    except OSError as error:
        raise TraceRejected(f"{path} cannot be read: {error.strerror}; give the path of a request log") from error


def _columns(name: str, header: list[str]) -> dict[str, tuple[int, str]]:
    """Where each of the three stands, and what the file calls it."""
    plain = [re.sub(r"[^a-z0-9]", "", cell.lower()) for cell in header]
    found = {}
    for key, names in _WRITTEN.items():
        here = [i for i, cell in enumerate(plain) if cell in names]
        if len(here) != 1:
            fault = f"the columns {', '.join(header[i].strip() for i in here)} could all be {key}" if here else f"there is no column {key}"
            has = f"; it has {', '.join(cell.strip() for cell in header)}" if header and not here else ""
            raise TraceRejected(f"{name}: {fault}{has}: a request log has timestamp,input_tokens,output_tokens")
        found[key] = (here[0], header[here[0]].strip())
    return found


def _cell(at: str, cells: list[str], place: int, column: str) -> str:
    text = cells[place].strip() if place < len(cells) else ""
    if not text:
        raise TraceRejected(f"{at}: {column} is missing; every request has its arrival and both token lengths")
    return text


def _seconds(at: str, column: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return _instant_s(at, column, text)
    if column.lower().replace("_", "").endswith("ms"):
        number /= _MS_PER_S
    if not math.isfinite(number) or abs(number) > _LATEST_S:
        raise TraceRejected(f"{at}: {column} of {text[:40]} is not in seconds; call the column timestamp_ms if it is in milliseconds")
    return number


def _instant_s(at: str, column: str, text: str) -> float:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise TraceRejected(f"{at}: {column} is neither ISO 8601 nor a number of seconds, got {text[:40]!r}") from error
    return (instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)).timestamp()  # only what lies between counts


def _length(at: str, column: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number >= 1 or not number.is_integer():
        raise TraceRejected(f"{at}: {column} must be a whole number of at least 1, got {text[:40]!r}")
    return number
