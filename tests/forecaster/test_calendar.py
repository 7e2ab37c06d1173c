from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest

from forecaster.calendar import Calendar, FloorWindow, instant_of, zone_of
from forecaster.series import Window

ALL_DAYS = frozenset(range(7))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def window_of(start_min: int, end_min: int, *, zone: str = "UTC", days: frozenset[int] = ALL_DAYS) -> FloorWindow:
    return FloorWindow(days=days, start_min=start_min, end_min=end_min, zone=zone, min_replicas=5)


def spans(window: FloorWindow, start: str, end: str) -> list[tuple[str, str]]:
    found = window.occurrences(Window(start=utc(start), end=utc(end)))
    return [(f"{span.start:%d %H:%M}", f"{span.end:%d %H:%M}") for span in found]


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Paris", "2026-03-29", 23),
        ("Europe/Paris", "2026-10-25", 25),
        ("America/New_York", "2026-03-08", 23),
        ("UTC", "2026-03-29", 24),
    ],
)
def test_k17_days_on_which_clocks_change_have_23_or_25_hours(zone: str, day: str, hours: int) -> None:
    around = Window(start=utc(day) - timedelta(days=2), end=utc(day) + timedelta(days=3))
    found = dict(Calendar(zone=zone).local_days(around))
    assert found[date.fromisoformat(day)].length_s == hours * 3_600


def test_local_days_are_contiguous_and_cut_at_the_edges_of_the_window() -> None:
    around = Window(start=utc("2026-02-27T10:00"), end=utc("2026-03-01T10:00"))
    found = Calendar(zone="Asia/Tokyo").local_days(around)
    assert [day.isoformat() for day, _ in found] == ["2026-02-27", "2026-02-28", "2026-03-01"]
    assert found[0][1].start == around.start
    assert found[-1][1].end == around.end
    assert all(a.end == b.start for (_, a), (_, b) in pairwise(found))


def test_k17_a_window_over_midnight_belongs_to_the_day_it_starts_on() -> None:
    friday_night = window_of(22 * 60, 2 * 60, days=frozenset({4}))
    assert spans(friday_night, "2026-03-02T00:00", "2026-03-09T00:00") == [("06 22:00", "07 02:00")]


def test_a_window_that_began_before_the_span_is_seen_inside_it() -> None:
    assert spans(window_of(22 * 60, 2 * 60), "2026-03-03T01:00", "2026-03-03T03:00") == [("03 01:00", "03 02:00")]


def test_a_whole_day_is_written_to_24_hours() -> None:
    assert spans(window_of(0, 1_440), "2026-03-02T00:00", "2026-03-04T00:00") == [("02 00:00", "03 00:00"), ("03 00:00", "04 00:00")]


def test_l14_a_wall_time_that_the_clock_skips_is_the_instant_of_the_jump() -> None:
    skipped = window_of(2 * 60 + 30, 4 * 60, zone="Europe/Paris")
    assert spans(skipped, "2026-03-29T00:00", "2026-03-29T12:00") == [("29 01:00", "29 02:00")]


def test_l14_an_hour_that_repeats_is_covered_twice() -> None:
    repeated = window_of(2 * 60, 2 * 60 + 30, zone="Europe/Paris")
    assert spans(repeated, "2026-10-25T00:00", "2026-10-25T12:00") == [("25 00:00", "25 01:30")]


def test_windows_follow_their_own_zone_through_a_change_of_clocks() -> None:
    morning = window_of(8 * 60, 9 * 60, zone="Europe/Paris")
    assert spans(morning, "2026-03-28T00:00", "2026-03-30T00:00") == [("28 07:00", "28 08:00"), ("29 06:00", "29 07:00")]


def test_a_leap_day_is_a_day_like_any_other() -> None:
    assert spans(window_of(480, 540), "2028-02-28T12:00", "2028-03-01T12:00") == [("29 08:00", "29 09:00"), ("01 08:00", "01 09:00")]


def test_an_unknown_zone_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="IANA time zone such as Europe/Paris or UTC, got 'Mars/Olympus'"):
        Calendar(zone="Mars/Olympus")


# holidays


def holidays(country: str | None, first: str, last: str, subdivision: str | None = None) -> dict[str, str]:
    found = Calendar(country=country, subdivision=subdivision).holidays(date.fromisoformat(first), date.fromisoformat(last))
    return {day.isoformat(): name for day, name in found.items()}


def test_holidays_are_those_of_the_country_in_order_with_both_ends_included() -> None:
    assert holidays("FR", "2026-05-08", "2026-05-25") == {
        "2026-05-08": "Victory Day",
        "2026-05-14": "Ascension Day",
        "2026-05-25": "Pentecost Monday",
    }


def test_a_subdivision_adds_its_own_holidays() -> None:
    assert "2026-01-06" not in holidays("DE", "2026-01-01", "2026-01-31")
    assert "2026-01-06" in holidays("DE", "2026-01-01", "2026-01-31", "BY")


def test_holidays_go_on_over_new_year_and_movable_ones_move() -> None:
    assert list(holidays("US", "2026-11-20", "2027-01-01")) == ["2026-11-26", "2026-12-25", "2027-01-01"]
    assert [next(iter(holidays("US", f"{year}-11-20", f"{year}-11-30"))) for year in (2025, 2026)] == ["2025-11-27", "2026-11-26"]


def test_without_a_country_and_in_years_beyond_its_list_there_is_no_holiday() -> None:
    assert holidays(None, "2026-01-01", "2026-12-31") == {}
    assert holidays("CN", "1800-01-01", "1800-12-31") == {}


def test_holidays_are_counted_as_local_days_since_1970() -> None:
    new_year = Calendar(country="US").holiday_days(date(1971, 1, 1), date(1971, 1, 5))
    assert new_year == {365}


def test_calendars_with_other_holidays_are_other_calendars() -> None:
    calendars = {Calendar(), Calendar(country="DE"), Calendar(country="DE", subdivision="BY"), Calendar(country="DE")}
    assert len(calendars) == 3


@pytest.mark.parametrize(
    ("country", "subdivision", "sentence"),
    [
        ("de", None, "no holidays are known for country 'de'; did you mean DE?"),
        ("Utopia", None, "no holidays are known for country 'Utopia'; write its ISO 3166 code"),
        ("DE", "by", "country DE has no subdivision 'by'; did you mean BY?"),
        ("DE", "ZZZ", "country DE has no subdivision 'ZZZ'; there is BB, BE, BW, BY"),
        ("SG", "X", "country SG has no subdivision 'X'; it has none, so leave it out"),
        (None, "BY", "subdivision 'BY' needs its country beside it"),
    ],
)
def test_a_country_or_a_part_of_it_that_is_not_known_is_refused_with_the_nearest(
    country: str | None, subdivision: str | None, sentence: str
) -> None:
    with pytest.raises(ValueError, match=r"holidays|subdivision") as refused:
        Calendar(country=country, subdivision=subdivision)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("wall", "zone", "fold", "instant"),
    [
        ("2026-03-29T02:30:10", "Europe/Paris", 0, "2026-03-29T01:00:10"),
        ("2026-10-25T02:30", "Europe/Paris", 0, "2026-10-25T00:30"),
        ("2026-10-25T02:30", "Europe/Paris", 1, "2026-10-25T01:30"),
        ("2026-06-01T12:00:30", "Asia/Kolkata", 0, "2026-06-01T06:30:30"),
    ],
)
def test_l14_every_wall_time_has_its_instant(wall: str, zone: str, fold: int, instant: str) -> None:
    assert instant_of(datetime.fromisoformat(wall), zone_of(zone), fold=fold) == utc(instant)
