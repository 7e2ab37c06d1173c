"""`forecaster demo`: the main job on a real trace, without any server; what it leaves behind works with every other command."""

import gzip
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path

from forecaster.errors import ConfigRejected
from forecaster.units import DAY_S, from_epoch_s, iso

TRACE = "llm_azure2024_conv_1m.csv.gz"
WEEK = "azure-2024-week.csv.gz"
_FILES = ("forecaster.yaml", "demo-trace.csv", WEEK, "forecaster.db")
_AHEAD_DAYS = 1
"""So much of the week lies ahead of now, so that the commands go on finding live load for a day."""


def lay_out(folder: Path, now: datetime) -> None:
    """Write the demo's configuration and trace into a folder. Raises ConfigRejected when the folder holds one already or cannot be written.

    The trace is moved by whole days, so that its last day is the one after `now`'s; the hours of its days stay what they were. Beside
    it lies the week as it was recorded, for a backtest: moved days fall on other weekdays.
    """
    there = [name for name in _FILES if (folder / name).exists()]
    if there:
        stands, it = ("is", "it") if len(there) == 1 else ("are", "them")
        remedy = f"run `forecaster demo` in an empty folder, or remove {it} first"
        raise ConfigRejected(f"{folder}: {', '.join(there)} {stands} there already; {remedy}")
    try:
        (folder / "demo-trace.csv").write_text("".join(_moved(now)), encoding="utf-8")
        (folder / WEEK).write_bytes(files("jobs.demo").joinpath(TRACE).read_bytes())
        (folder / "forecaster.yaml").write_text(files("jobs.demo").joinpath("forecaster.yaml").read_text("utf-8"), encoding="utf-8")
    except OSError as error:
        msg = f"{folder} cannot be written ({error.strerror}); run `forecaster demo` in a folder of your own"
        raise ConfigRejected(msg) from error


def _moved(now: datetime) -> Iterator[str]:
    """The trace's lines with their stamps moved by whole days."""
    lines = gzip.decompress(files("jobs.demo").joinpath(TRACE).read_bytes()).decode().splitlines()
    stamps = [datetime.fromisoformat(line.partition(",")[0]) for line in lines[1:]]
    wanted = from_epoch_s((now.timestamp() // DAY_S + _AHEAD_DAYS) * DAY_S)
    moved = timedelta(days=(wanted - stamps[-1].replace(hour=0, minute=0)).days)
    yield lines[0] + "\n"
    for stamp, line in zip(stamps, lines[1:], strict=True):
        yield f"{iso(stamp + moved)},{line.partition(',')[2]}\n"
