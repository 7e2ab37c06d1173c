"""Events in iCalendar files."""

from pathlib import Path

import pytest

from connectors.calendars.registry import read_calendar
from connectors.calendars.written import Fields
from forecaster.errors import SourceRejected

PARIS = "DTSTART;TZID=Europe/Paris:20261201T090000\nDTEND;TZID=Europe/Paris:20261201T180000"
BEGIN = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//example//EN\n"


def event(*lines: str, name: str = "launch") -> str:
    body = "\n".join(lines)
    return f"BEGIN:VEVENT\nUID:{name}\nSUMMARY:{name}\n{body}\nEND:VEVENT\n"


def read(folder: Path, *events: str) -> list[Fields]:
    return [written.fields for written in read_calendar(filed(folder, *events))]


def filed(folder: Path, *events: str) -> Path:
    path = folder / "events.ics"
    path.write_text(f"{BEGIN}{''.join(events)}END:VCALENDAR\n")
    return path


def refusal(folder: Path, *events: str) -> str:
    with pytest.raises(SourceRejected) as refused:
        read(folder, *events)
    return str(refused.value).replace(f"{folder}/", "")


def repeated(folder: Path, rule: str, moments: str = PARIS) -> Fields:
    (fields,) = read(folder, event(moments, f"RRULE:{rule}"))
    return {key: value for key, value in fields.items() if key not in {"name", "from", "until", "zone"}}


def test_times_are_read_on_the_clock_of_their_zone(tmp_path: Path) -> None:
    assert read(tmp_path, event(PARIS)) == [
        {"name": "launch", "from": "2026-12-01T09:00:00", "until": "2026-12-01T18:00:00", "zone": "Europe/Paris"}
    ]


@pytest.mark.parametrize(
    ("moments", "first", "last", "zone"),
    [
        ("DTSTART:20261201T090000Z\nDTEND:20261201T100000Z", "2026-12-01T09:00:00", "2026-12-01T10:00:00", "UTC"),
        ("DTSTART:20261201T090000\nDURATION:PT90M", "2026-12-01T09:00:00", "2026-12-01T10:30:00", None),
        ("DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227", "2026-12-24T00:00", "2026-12-27T00:00", None),
        ("DTSTART;VALUE=DATE:20261224", "2026-12-24T00:00", "2026-12-25T00:00", None),
        ("DTSTART;TZID=Europe/Paris:20261201T090000\nDTEND:20261201T090000Z", "2026-12-01T09:00:00", "2026-12-01T10:00:00", "Europe/Paris"),
    ],
)
def test_every_way_to_write_when_is_read(tmp_path: Path, moments: str, first: str, last: str, zone: str | None) -> None:
    (fields,) = read(tmp_path, event(moments))
    assert (fields["from"], fields["until"], fields.get("zone")) == (first, last, zone)


def test_what_the_format_has_no_words_for_stands_in_fields_of_our_own(tmp_path: Path) -> None:
    own = ("X-FORECASTER-FACTOR:3", "X-FORECASTER-RAMP-UP:30m", "X-FORECASTER-WORKLOADS:chat,embed")
    (fields,) = read(tmp_path, event(PARIS, *own))
    assert (fields["factor"], fields["ramp_up"], fields["workloads"]) == ("3", "30m", ["chat", "embed"])
    (fields,) = read(tmp_path, event(PARIS, "X-FORECASTER-LOAD:rpm=5000"))
    assert fields["load"] == "rpm=5000"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=DAILY", {"every": "day"}),
        ("FREQ=DAILY;BYDAY=MO,TU", {"every": "week", "weekdays": ["mon", "tue"]}),
        ("FREQ=WEEKLY;WKST=SU;INTERVAL=1", {"every": "week"}),
        ("FREQ=WEEKLY;BYDAY=MO,FR;UNTIL=20270131T235959Z", {"every": "week", "weekdays": ["mon", "fri"], "last": "2027-01-31"}),
        ("FREQ=WEEKLY;BYDAY=TU;COUNT=3", {"every": "week", "weekdays": ["tue"], "last": "2026-12-15"}),
        ("FREQ=MONTHLY", {"every": "month", "month_days": ["1"]}),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15,-1", {"every": "month", "month_days": ["1", "15", "31"]}),
        ("FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", {"every": "month", "month_days": ["31"], "last": "2027-02-28"}),
        ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=1", {"every": "year"}),
        ("FREQ=YEARLY;COUNT=2", {"every": "year", "last": "2027-12-01"}),
        ("FREQ=DAILY;UNTIL=20261205T070000Z", {"every": "day", "last": "2026-12-04"}),
        ("FREQ=DAILY;UNTIL=20261205T080000Z", {"every": "day", "last": "2026-12-05"}),
    ],
)
def test_rules_that_an_event_can_follow_to_the_day_are_read(tmp_path: Path, rule: str, said: Fields) -> None:
    assert repeated(tmp_path, rule) == said


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("FREQ=HOURLY", "RRULE must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY and no INTERVAL above 1"),
        ("FREQ=WEEKLY;INTERVAL=2", "RRULE must have FREQ=DAILY"),
        ("FREQ=MONTHLY;BYDAY=1MO", "RRULE with FREQ=MONTHLY and BYDAY is not supported; write its days as events of their own"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1", "RRULE with FREQ=MONTHLY and BYSETPOS, BYDAY is not supported"),
        ("FREQ=MONTHLY;BYMONTHDAY=30", "RRULE on day 30 of the month is not supported: months without that day are passed over there"),
        ("FREQ=YEARLY;BYMONTH=3", "RRULE with FREQ=YEARLY and BYMONTH is not supported"),
        ("FREQ=DAILY;BYHOUR=9", "RRULE with FREQ=DAILY and BYHOUR is not supported"),
        ("FREQ=DAILY;COUNT=100000", "RRULE with COUNT=100000 is not supported"),
    ],
)
def test_any_other_rule_is_refused_and_never_bent(tmp_path: Path, rule: str, sentence: str) -> None:
    assert refusal(tmp_path, event(PARIS, f"RRULE:{rule}")).startswith(f"events.ics:4: {sentence}")


def test_a_rule_on_a_leap_day_is_refused_since_ours_has_other_years_too(tmp_path: Path) -> None:
    sentence = refusal(tmp_path, event("DTSTART;VALUE=DATE:20280229", "RRULE:FREQ=YEARLY"))
    assert sentence == "events.ics:4: RRULE of a 29 February passes over other years there; write the years as events of their own"


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("DTEND:20261201T090000Z",), "has no DTSTART; write when it begins"),
        (("DTSTART:20261201T090000Z",), "has neither DTEND nor DURATION; write when it ends"),
        (("DTSTART:soon",), "DTSTART cannot be read"),
        (("DTSTART;VALUE=DATE:20261201", "DTEND:20261201T090000Z"), "DTSTART and DTEND must both be dates or both be times"),
        (("DTSTART:20261201T090000", "DTEND:20261201T100000Z"), "DTSTART and DTEND must both name a zone, or neither"),
        ((PARIS, "EXDATE:20261201T090000Z"), "EXDATE is not supported; write the days of this event as events of their own"),
        ((PARIS, "X-FORECASTER-FACTR:3"), "X-FORECASTER-FACTR is not known; there is X-FORECASTER-FACTOR"),
        ((PARIS, "RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"), "has several RRULEs; write an event for each"),
    ],
)
def test_an_event_that_cannot_be_read_is_refused_with_the_line_it_begins_on(tmp_path: Path, lines: tuple[str, ...], sentence: str) -> None:
    assert refusal(tmp_path, event(PARIS, name="good"), event(*lines)).startswith(f"events.ics:10: {sentence}")


def test_every_event_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    rule, moments = "RRULE:FREQ=HOURLY", "DTSTART;TZID=Europe/Paris:20261201T090000"
    told = refusal(tmp_path, event(PARIS, rule), event(PARIS, name="fine"), event(moments, name="endless")).splitlines()
    assert [line.split(": ")[0] for line in told] == ["events.ics:4", "events.ics:17"]
    many = refusal(tmp_path, *(event(PARIS, rule, name=f"e{i}") for i in range(25))).splitlines()
    assert (len(many), many[-1]) == (21, "... and 5 more faults")


def test_cancelled_events_are_passed_over_and_names_that_repeat_get_their_day(tmp_path: Path) -> None:
    again = PARIS.replace("20261201", "20261208")
    read_back = read(tmp_path, event(PARIS), event(PARIS, "STATUS:CANCELLED", name="off"), event(again))
    assert [fields["name"] for fields in read_back] == ["launch", "launch 2026-12-08"]


@pytest.mark.parametrize("text", ["", "garbage", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\n"])
def test_what_is_no_calendar_is_refused_with_the_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "events.ics"
    path.write_text(text)
    with pytest.raises(SourceRejected, match=r"events.ics: is no (whole )?iCalendar file.*; export it once more"):
        read_calendar(path)
