"""When events are, on any wall clock."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.events import Event, EventEntry, Every, standing_events
from forecaster.series import Signal, Window


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def event(start: str = "2026-03-02T09:00", end: str = "2026-03-02T17:00", **more: object) -> Event:
    stated: dict[str, object] = {"name": "launch", "zone": "UTC", "factor": 3.0, **more}
    return Event(start=wall(start), end=wall(end), **stated)  # type: ignore[arg-type]  # tests name the fields they vary


def spans(of: Event, start: str, end: str) -> list[tuple[str, str]]:
    found = of.occurrences(Window(start=utc(start), end=utc(end)))
    return [(f"{span.start:%m-%d %H:%M}", f"{span.end:%m-%d %H:%M}") for span in found]


def test_a_dated_event_is_once() -> None:
    assert spans(event(), "2026-03-01T00:00", "2026-04-01T00:00") == [("03-02 09:00", "03-02 17:00")]
    assert spans(event(), "2027-03-01T00:00", "2027-04-01T00:00") == []


def test_an_event_that_touches_the_window_is_told_whole_and_its_span_is_cut() -> None:
    long = event(end="2026-03-05T17:00")
    inside = Window(start=utc("2026-03-04T00:00"), end=utc("2026-03-05T00:00"))
    assert spans(long, "2026-03-04T00:00", "2026-03-05T00:00") == [("03-02 09:00", "03-05 17:00")]
    assert list(long.spans(inside)) == [inside]


def test_ramps_belong_to_the_span_and_not_to_the_occurrence() -> None:
    ramped = event(ramp_up_s=3_600.0, ramp_down_s=1_800.0)
    around = Window(start=utc("2026-03-02T08:15"), end=utc("2026-03-03T00:00"))
    assert spans(ramped, "2026-03-02T08:15", "2026-03-02T08:20") == [("03-02 09:00", "03-02 17:00")]
    assert spans(ramped, "2026-03-02T17:30", "2026-03-02T18:00") == []
    assert list(ramped.spans(around)) == [Window(start=utc("2026-03-02T08:15"), end=utc("2026-03-02T17:30"))]


def test_a_weekly_event_comes_on_its_weekdays_until_its_last_day() -> None:
    weekly = event(every=Every.WEEK, days=(0, 4), until=date(2026, 3, 13))
    assert [a for a, _ in spans(weekly, "2026-02-01T00:00", "2026-05-01T00:00")] == [
        "03-02 09:00",
        "03-06 09:00",
        "03-09 09:00",
        "03-13 09:00",
    ]


def test_without_days_an_event_comes_again_on_the_day_of_its_start() -> None:
    assert [a for a, _ in spans(event(every=Every.WEEK), "2026-03-08T00:00", "2026-03-20T00:00")] == ["03-09 09:00", "03-16 09:00"]
    assert [a for a, _ in spans(event(every=Every.MONTH), "2026-03-08T00:00", "2026-05-20T00:00")] == ["04-02 09:00", "05-02 09:00"]
    assert [a for a, _ in spans(event(every=Every.DAY), "2026-03-08T00:00", "2026-03-10T00:00")] == ["03-08 09:00", "03-09 09:00"]


def test_k17_the_31st_is_the_last_day_of_every_month() -> None:
    month_end = event("2026-01-31T20:00", "2026-01-31T23:00", every=Every.MONTH)
    assert [a for a, _ in spans(month_end, "2026-02-01T00:00", "2026-07-01T00:00")] == [
        "02-28 20:00",
        "03-31 20:00",
        "04-30 20:00",
        "05-31 20:00",
        "06-30 20:00",
    ]


def test_k17_the_leap_day_is_the_28th_of_february_in_other_years() -> None:
    leap = event("2028-02-29T09:00", "2028-02-29T10:00", every=Every.YEAR)
    found = [list(leap.occurrences(Window(start=utc(f"{year}-01-01"), end=utc(f"{year + 1}-01-01")))) for year in range(2028, 2033)]
    assert [[f"{span.start:%Y-%m-%d}" for span in year] for year in found] == [
        ["2028-02-29"],
        ["2029-02-28"],
        ["2030-02-28"],
        ["2031-02-28"],
        ["2032-02-29"],
    ]


def test_k17_an_event_over_midnight_and_over_new_year_is_one() -> None:
    party = event("2026-12-31T20:00", "2027-01-01T04:00", every=Every.YEAR, zone="America/New_York")
    assert spans(party, "2028-01-01T05:00", "2028-01-01T06:00") == [("01-01 01:00", "01-01 09:00")]


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)], ids=["spring", "autumn", "summer"])
def test_l14_an_event_of_a_day_lasts_as_long_as_that_day(day: str, hours: int) -> None:
    whole = event(f"{day}T00:00", f"{date.fromisoformat(day) + timedelta(days=1)}T00:00", zone="Europe/Paris")
    (core,) = whole.occurrences(Window(start=utc("2026-01-01"), end=utc("2027-01-01")))
    assert core.length_s == hours * 3_600


def test_l14_an_event_keeps_its_wall_time_through_a_change_of_clocks() -> None:
    daily = event("2026-03-28T08:00", "2026-03-28T09:00", zone="Europe/Paris", every=Every.DAY)
    assert spans(daily, "2026-03-28T00:00", "2026-03-30T00:00") == [("03-28 07:00", "03-28 08:00"), ("03-29 06:00", "03-29 07:00")]


def test_l14_an_event_inside_of_a_skipped_hour_is_not() -> None:
    skipped = event("2026-03-29T02:10", "2026-03-29T02:50", zone="Europe/Paris", every=Every.DAY)
    assert [a for a, _ in spans(skipped, "2026-03-29T00:00", "2026-03-31T00:00")] == ["03-30 00:10"]


@given(
    weeks=st.integers(-50, 50), hour=st.integers(0, 23), length_h=st.integers(1, 200), every=st.sampled_from([None, Every.DAY, Every.WEEK])
)
def test_a_shift_by_whole_weeks_shifts_every_occurrence_of_an_event_in_utc(
    weeks: int, hour: int, length_h: int, every: Every | None
) -> None:
    start, shift = datetime(2026, 3, 2, hour), timedelta(weeks=weeks)  # noqa: DTZ001 - a wall time
    window = Window(start=utc("2026-03-01"), end=utc("2026-03-20"))
    moved = Window(start=window.start + shift, end=window.end + shift)

    def found(begin: datetime, within: Window) -> list[Window]:
        return list(
            Event(name="a", zone="UTC", start=begin, end=begin + timedelta(hours=length_h), factor=2.0, every=every).occurrences(within)
        )

    expected = [Window(start=span.start + shift, end=span.end + shift) for span in found(start, window)]
    assert found(start + shift, moved) == expected


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"end": "2026-03-02T09:00"}, "until must come after from"),
        ({"end": "2028-03-02T09:00"}, "by at most 366 days"),
        ({"start": "0026-03-02T09:00"}, "look for a mistyped year"),
        ({"start": "2026-03-02T09:00+01:00"}, "without an offset"),
        ({"zone": "Mars/Olympus"}, "zone must be an IANA time zone"),
        ({"name": " "}, "event name must not be empty"),
        ({"name": "a\nb"}, "printable characters"),
        ({"factor": 0.0}, "factor must be above 0 times the ordinary load, got 0"),
        ({"factor": -1.0}, "factor must be above 0"),
        ({"factor": float("nan")}, "factor must be above 0"),
        ({"factor": 5_000.0}, "factor must be at most 1,000, got 5,000"),
        ({"factor": None}, "give either factor"),
        ({"load": 5.0, "signal": Signal.RPM, "workloads": ("chat",)}, "give either factor"),
        ({"factor": None, "load": 5.0, "workloads": ("chat",)}, "load needs the signal that it is of: rpm, concurrency, tokens"),
        ({"factor": None, "load": 5.0, "signal": Signal.QUEUE_DEPTH, "workloads": ("chat",)}, "load needs the signal"),
        ({"factor": None, "load": 5.0, "signal": Signal.RPM}, "load needs the workloads that it is for"),
        ({"factor": None, "load": -5.0, "signal": Signal.RPM, "workloads": ("chat",)}, "load must be at least 0 requests/min, got -5"),
        ({"ramp_up_s": -1.0}, "ramp_up must be at least 0 seconds"),
        ({"ramp_down_s": 1e9}, "ramp_down must be at most 7 days"),
        ({"days": (1,)}, "days must be weekdays"),
        ({"every": Every.MONTH, "days": (0,)}, "days must be weekdays"),
        ({"until": date(2026, 4, 1)}, "the last day of an event that comes again"),
        ({"every": Every.DAY, "until": date(2026, 3, 1)}, "must not be before its first"),
    ],
)
def test_an_event_that_means_nothing_is_refused_with_what_is_wrong(wrong: Mapping[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        event(**wrong)  # type: ignore[arg-type]  # each example names one field


def entry(name: str, at: str, of: Event | None) -> EventEntry:
    return EventEntry(at=utc(at), author="ada", name=name, event=of)


def test_the_last_word_on_a_name_counts() -> None:
    launch, moved = event(), event(start="2026-03-01T09:00")
    other = event(name="other")
    entries = [entry("launch", "2026-02-01", launch), entry("other", "2026-02-02", other), entry("launch", "2026-02-03", moved)]
    assert standing_events(entries) == (moved, other)
    assert standing_events([*entries, entry("launch", "2026-02-04", None)]) == (other,)
    assert standing_events([]) == ()


def test_an_entry_speaks_of_the_event_of_its_name() -> None:
    with pytest.raises(ValueError, match="must have the name of its event"):
        entry("other", "2026-02-01", event())
