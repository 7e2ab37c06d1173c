"""Every format of calendar files there is."""

from pathlib import Path

from connectors.calendars.csv import read_csv
from connectors.calendars.ics import read_ics
from connectors.calendars.written import Written
from forecaster.errors import SourceRejected

_FORMATS = {".csv": read_csv, ".ics": read_ics, ".ical": read_ics}


def read_calendar(path: Path) -> tuple[Written, ...]:
    """The events of a calendar file, whose name says its format. Raises SourceRejected naming the line that cannot be read."""
    read = _FORMATS.get(path.suffix.lower())
    if read is None:
        msg = f"{path}: is of no known format; name a file that ends with .csv, or with .ics for iCalendar"
        raise SourceRejected(msg)
    return read(path)
