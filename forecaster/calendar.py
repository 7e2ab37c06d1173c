"""The only room of the core that knows local time: days of a zone, with 23 to 25 hours, and configured floor windows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Window
from forecaster.units import check_not_negative, from_epoch_s

_DAY_MIN = 1_440
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_OFFSET_GRAIN_S = 900  # every zone's offset changes on a quarter of an hour


def zone_of(name: str) -> ZoneInfo:
    """The IANA zone of that name. Raises ValueError when there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        msg = f"zone must be an IANA time zone such as Europe/Paris or UTC, got {name!r}"
        raise ValueError(msg) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The local calendar of a workload: a zone, and the public holidays of a country or a part of it, None = no holidays.

    country: ISO 3166 code such as DE. subdivision: as ISO 3166-2 has it behind the dash, such as BY. Raises ValueError for one that is not
    known, with the nearest ones there are.
    """

    zone: str = "UTC"
    country: str | None = None
    subdivision: str | None = None

    def __post_init__(self) -> None:
        zone_of(self.zone)
        if self.country is not None:
            _check_country(self.country, self.subdivision)
        elif self.subdivision is not None:
            msg = f"subdivision {self.subdivision!r} needs its country beside it, such as country: DE"
            raise ValueError(msg)

    def holidays(self, first: date, last: date) -> dict[date, str]:
        """The public holidays from `first` to `last`, both included, in order, with their names; none without a country.

        In English where the country's list has it, else in its own language. A year that the list does not reach has none.
        """
        if self.country is None:
            return {}
        named = (day for year in range(first.year, last.year + 1) for day in _holidays_of(self.country, self.subdivision, year))
        return {day: name for day, name in named if first <= day <= last}

    def holiday_days(self, first: date, last: date) -> frozenset[int]:
        """The same as days since 1970-01-01, which is how models count local days."""
        return frozenset(day.toordinal() - _EPOCH_ORDINAL for day in self.holidays(first, last))

    def local_days(self, window: Window) -> tuple[tuple[date, Window], ...]:
        """Each local day that `window` touches, with the part of it inside the window, in order."""
        zone = zone_of(self.zone)
        day = window.start.astimezone(zone).date()
        days = []
        while (start := _instant(day, 0, zone, fold=0)) < window.end:
            end = _instant(day + timedelta(days=1), 0, zone, fold=0)
            inside_start, inside_end = max(start, window.start), min(end, window.end)
            if inside_start < inside_end:
                days.append((day, Window(start=inside_start, end=inside_end)))
            day += timedelta(days=1)
        return tuple(days)

    def offsets_s(self, times_s: NDArray[np.int64]) -> NDArray[np.int64]:
        """The zone's offset from UTC at each instant, both in seconds."""
        if self.zone == "UTC":
            return np.zeros(times_s.size, dtype=np.int64)
        zone = zone_of(self.zone)
        grains, index = np.unique(times_s // _OFFSET_GRAIN_S, return_inverse=True)
        offsets = [from_epoch_s(int(grain) * _OFFSET_GRAIN_S).astimezone(zone).utcoffset() for grain in grains]
        return np.array([int(offset.total_seconds()) if offset else 0 for offset in offsets], dtype=np.int64)[index]

    def local(self, instant: datetime) -> datetime:
        """The same instant as this zone's wall clock shows it, for views only."""
        return instant.astimezone(zone_of(self.zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorWindow:
    """A configured floor: at least `min_replicas` from `start_min` to `end_min` (local minutes of the day) on the named days.

    `days` are weekdays, Monday = 0, of the day on which the window starts. An end before the start lies on the next day; 1440
    is midnight at the end of the day; an end equal to the start is refused, since it could mean nothing or the whole day.
    Where the clock jumps forward over an edge, the edge is the jump; where an hour repeats, the window covers both.
    """

    days: frozenset[int]
    start_min: int
    end_min: int
    zone: str
    min_replicas: int

    def __post_init__(self) -> None:
        zone_of(self.zone)
        if not self.days or not self.days <= set(range(7)):
            msg = f"window.days must name at least one weekday, Monday = 0 to Sunday = 6, got {sorted(self.days)}"
            raise ValueError(msg)
        if not (0 <= self.start_min < _DAY_MIN and 0 <= self.end_min <= _DAY_MIN):
            msg = "window.from must lie in 00:00-23:59 and window.to in 00:00-24:00"
            raise ValueError(msg)
        if self.start_min == self.end_min:
            msg = "window.from and window.to must differ; for a whole day write 00:00 to 24:00"
            raise ValueError(msg)
        check_not_negative("window.min_replicas", self.min_replicas, "replicas")

    def occurrences(self, window: Window) -> Iterator[Window]:
        """Each span in UTC during which this floor holds, as far as it lies inside `window`, in order."""
        zone = zone_of(self.zone)
        day = window.start.astimezone(zone).date() - timedelta(days=1)
        last = window.end.astimezone(zone).date()
        while day <= last:
            if day.weekday() in self.days:
                end_day = day if self.end_min > self.start_min else day + timedelta(days=1)
                start = max(window.start, _instant(day, self.start_min, zone, fold=0))
                end = min(window.end, _instant(end_day, self.end_min, zone, fold=1))
                if start < end:
                    yield Window(start=start, end=end)
            day += timedelta(days=1)


@lru_cache(maxsize=1_024)
def _holidays_of(country: str, subdivision: str | None, year: int) -> tuple[tuple[date, str], ...]:
    """A year's holidays in order: worked out once, since every chunk of series asks again."""
    from holidays import country_holidays  # noqa: PLC0415 - only those who name a country wait for it

    return tuple(sorted(country_holidays(country, subdiv=subdivision, years=year, language="en_US").items()))


def _check_country(country: str, subdivision: str | None) -> None:
    from holidays import country_holidays, list_supported_countries  # noqa: PLC0415 - as above

    countries = list_supported_countries()
    if country not in countries:
        msg = f"no holidays are known for country {country!r}{_nearest(country, countries) or '; write its ISO 3166 code, such as DE'}"
        raise ValueError(msg)
    if subdivision is None:
        return
    parts = type(country_holidays(country))
    known = (*parts.subdivisions, *getattr(parts, "subdivisions_aliases", {}))
    if subdivision not in known:
        remedy = _nearest(subdivision, known) or (
            f"; there is {', '.join(parts.subdivisions)}" if known else "; it has none, so leave it out"
        )
        msg = f"country {country} has no subdivision {subdivision!r}{remedy}"
        raise ValueError(msg)


def _nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, whatever the case of its letters; nothing where none is close."""
    by_folded = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold(), list(by_folded), n=1)
    return f"; did you mean {by_folded[close[0]]}?" if close else ""


def instant_of(wall: datetime, zone: ZoneInfo, *, fold: int = 0) -> datetime:
    """The UTC instant of a wall time without zone.

    One that the clock skips is the instant of the jump; of one that it shows twice, the first with `fold` 0 and the second with 1.
    """
    seconds = timedelta(seconds=wall.second, microseconds=wall.microsecond)
    minute = wall.hour * 60 + wall.minute
    return _instant(wall.date(), minute, zone, fold=fold) + seconds


def _instant(day: date, minute: int, zone: ZoneInfo, *, fold: int) -> datetime:
    """The UTC instant of a local wall time. A wall time that the clock skips becomes the instant of the jump."""
    days, minute = divmod(minute, _DAY_MIN)
    hour, minute = divmod(minute, 60)
    wall = datetime.combine(day + timedelta(days=days), time(hour, minute), zone)
    instant = wall.replace(fold=fold).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == wall.replace(tzinfo=None):
        return instant
    return _jump(wall.replace(fold=1).astimezone(UTC), wall.replace(fold=0).astimezone(UTC), zone)


def _jump(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """The instant between two UTC instants at which the zone's offset changes, to the minute."""
    offset = low.astimezone(zone).utcoffset()
    while high - low > timedelta(minutes=1):
        middle = low + timedelta(minutes=(high - low) // timedelta(minutes=1) // 2)
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high
