"""What a lead time is once starts were seen: P90 plus jitter, cold and warm apart, never shortened by what is not known yet."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.leadtime import LeadTime
from forecaster.starts import LONGEST_S, Start, followed, measured
from forecaster.units import DAY_S, HOUR_S, MINUTE_S
from tests.contracts.starts import start

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIGURED = LeadTime(warm_s=300, cold_s=600)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def many(
    count: int, took_s: float | None = 360, *, cold: bool | None = False, every_s: float = DAY_S / 2, name: str = "warm"
) -> list[Start]:
    """So many starts in the days before, one each half day."""
    return [start(f"{name}-{i}", ago((i + 1) * every_s), took_s=took_s, cold=cold) for i in range(count)]


def waiting(seconds: float, name: str = "waits") -> Start:
    """A replica that was asked for so long ago and is still not ready."""
    return start(name, ago(seconds), took_s=None, seen_s=seconds, cold=None)


def test_without_starts_the_configured_lead_time_stands_as_it_is() -> None:
    assert measured([], CONFIGURED, NOW) == CONFIGURED
    assert CONFIGURED.told == "10 min, as configured"


def test_the_configured_lead_time_stands_until_ten_starts_were_seen() -> None:
    few = measured(many(9, 120), CONFIGURED, NOW)
    assert (few.warm_s, few.cold_s, few.source) == (300, 600, "configured")
    assert few.told == "10 min, configured 10: 9 starts since 26 Nov are too few to measure it, no cold one"
    assert measured(many(10, 120), CONFIGURED, NOW).warm_s == 120


def test_ten_starts_of_one_morning_share_their_luck_and_are_not_enough() -> None:
    assert measured(many(20, 120, every_s=60), CONFIGURED, NOW).source == "configured"


def test_starts_that_all_take_alike_are_that_lead_time_in_whole_minutes() -> None:
    assert measured(many(12, 360), CONFIGURED, NOW).warm_s == 360
    assert measured(many(12, 361), CONFIGURED, NOW).warm_s == 420


def test_a_measured_lead_time_is_the_p90_plus_one_standard_error_of_it() -> None:
    spread = [start(str(i), ago(DAY_S * (i % 3) + HOUR_S), took_s=300 + 10 * i) for i in range(40)]
    p50, p90 = 300 + 10 * 19, 300 + 10 * 35
    jitter = 3 / 1.6094 * (p90 - p50) / 40**0.5
    assert measured(spread, CONFIGURED, NOW).warm_s == pytest.approx(p90 + jitter, abs=60)


def test_a_shorter_lead_time_is_measured_too_once_no_cold_start_was_seen_among_thirty() -> None:
    assert measured(many(29, 120), CONFIGURED, NOW).plan_s == 600
    assert measured(many(30, 120), CONFIGURED, NOW).plan_s == 120


def test_cold_starts_are_measured_apart_and_plans_follow_the_longer_part() -> None:
    found = measured([*many(20, 240), *many(12, 840, cold=True, name="cold")], CONFIGURED, NOW)
    assert (found.warm_s, found.cold_s, found.plan_s) == (240, 840, 840)
    assert found.told == "14 min: P90 of 32 starts since 20 Nov (node 1, image 1, load 2), cold 14 of 12; configured 10"


def test_too_few_cold_starts_leave_the_configured_cold_part() -> None:
    found = measured([*many(40, 120), *many(3, 240, cold=True, name="cold")], CONFIGURED, NOW)
    assert (found.warm_s, found.cold_s) == (120, 600)


def test_two_starts_of_ten_that_take_longer_widen_the_configured_lead_time_at_once() -> None:
    assert measured(many(1, 900), CONFIGURED, NOW).warm_s == 300
    found = measured([*many(3, 120), *many(2, 900, every_s=1200, name="slow")], CONFIGURED, NOW)
    assert (found.warm_s, found.source) == (900, "configured")
    assert found.widened == "widened, since 2 of the last 10 starts took longer"
    assert found.told.endswith(found.widened)


def test_a_measured_lead_time_is_widened_by_the_last_starts_long_before_its_p90_moves() -> None:
    slow = many(2, 900, every_s=7200, name="slow")
    assert measured(many(60, 360), CONFIGURED, NOW).warm_s == 360
    assert measured([*many(60, 360), *slow[:1]], CONFIGURED, NOW).warm_s == 360
    assert measured([*many(60, 360), *slow], CONFIGURED, NOW).warm_s == 900
    assert measured([*many(60, 360), *many(12, 360, every_s=500, name="again"), *slow], CONFIGURED, NOW).warm_s == 360


def test_starts_that_are_still_pending_longer_than_the_lead_time_widen_it() -> None:
    stuck = [waiting(1200, "one"), waiting(1500, "two")]
    found = measured([*many(12), *stuck], CONFIGURED, NOW)
    assert found.cold_s == 1200
    assert found.evidence is not None
    assert (found.evidence.pending, found.evidence.late) == (2, 2)
    assert "2 of them not ready yet" in found.told


def test_a_start_that_is_pending_for_a_moment_is_no_short_start() -> None:
    assert measured([*many(12), *(waiting(5, f"new-{i}") for i in range(8))], CONFIGURED, NOW).warm_s == 360


def test_one_replica_that_never_starts_decides_nothing_and_two_do_not_reach_beyond_two_hours() -> None:
    assert measured([*many(12), waiting(20 * DAY_S)], CONFIGURED, NOW).plan_s == 600
    both = [waiting(20 * DAY_S, "one"), waiting(19 * DAY_S, "two")]
    assert measured([*many(12), *both], CONFIGURED, NOW).plan_s == LONGEST_S
    patient = LeadTime(warm_s=300, cold_s=3 * HOUR_S)
    assert measured([*many(12), *both], patient, NOW).plan_s == 3 * HOUR_S


def test_pods_of_a_rolling_update_are_no_starts() -> None:
    surge = [replace(each, rollout=True) for each in many(40, 60)]
    assert measured(surge, CONFIGURED, NOW) == CONFIGURED


def test_old_starts_count_less_and_forgotten_ones_not_at_all() -> None:
    slow_then = [start(f"old-{i}", ago((40 + i / 4) * DAY_S), took_s=900, cold=False) for i in range(20)]
    assert measured([*slow_then, *many(30, 300, every_s=DAY_S / 4)], CONFIGURED, NOW).warm_s < 900
    assert measured([start(f"{i}", ago((57 + i) * DAY_S)) for i in range(40)], CONFIGURED, NOW) == CONFIGURED


def test_what_came_after_an_instant_does_not_count_at_it() -> None:
    starts = many(40, 120)
    earlier = NOW - timedelta(days=30)
    assert measured(starts, CONFIGURED, earlier) == CONFIGURED


@given(
    took=st.lists(st.integers(30, 2 * HOUR_S), min_size=10, max_size=40),
    stuck_s=st.integers(1, 3 * HOUR_S),
    more_s=st.integers(1, HOUR_S),
    cold=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_waiting_longer_never_shortens_a_lead_time(took: list[int], stuck_s: int, more_s: int, cold: bool) -> None:
    starts = [start(str(i), ago((i + 1) * DAY_S / 4), took_s=each, cold=cold) for i, each in enumerate(took)]
    asked = ago(stuck_s + more_s)
    one = replace(start("stuck", asked, took_s=None, cold=cold), seen_at=asked + timedelta(seconds=stuck_s))
    longer = replace(one, seen_at=NOW)
    shorter, found = (measured([*starts, each], CONFIGURED, NOW) for each in (one, longer))
    assert found.warm_s >= shorter.warm_s
    assert found.cold_s >= shorter.cold_s
    assert found.plan_s <= LONGEST_S


@given(st.lists(st.integers(30, HOUR_S), min_size=10, max_size=40))
@settings(max_examples=40, deadline=None)
def test_the_order_in_which_starts_come_changes_nothing_and_a_minute_more_each_never_shortens(took: list[int]) -> None:
    starts = [start(str(i), ago((i + 1) * DAY_S / 4), took_s=each) for i, each in enumerate(took)]
    mixed = sorted(starts, key=lambda each: each.replica)
    slower = [replace(each, ready=each.ready + timedelta(seconds=MINUTE_S)) for each in starts if each.ready is not None]
    assert measured(mixed, CONFIGURED, NOW) == measured(starts, CONFIGURED, NOW)
    assert measured(slower, CONFIGURED, NOW).plan_s >= measured(starts, CONFIGURED, NOW).plan_s


def test_a_start_that_was_ready_before_it_was_asked_for_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^start\.ready must not be before start\.requested"):
        start("odd", NOW, took_s=-1)


# what is kept of a look


def test_a_replica_that_went_before_it_was_ready_is_kept_as_longer_than_it_was_seen() -> None:
    known = waiting(300)
    (lost,) = followed([], [known], NOW)
    assert lost == replace(known, gone=True)
    assert lost.took_s == 300


def test_what_was_seen_before_and_is_no_longer_told_stays() -> None:
    known = replace(waiting(300, "a"), scheduled=ago(200), cold=True, rollout=True)
    (found,) = followed([start("a", ago(300), took_s=290, cold=None)], [known], NOW)
    assert (found.cold, found.rollout, found.ready) == (True, True, ago(10))


def test_a_ready_replica_that_is_seen_late_for_the_first_time_does_not_tell_when_it_was_ready_first() -> None:
    old, young = start("old", ago(2 * HOUR_S), took_s=HOUR_S), start("young", ago(HOUR_S / 2))
    assert followed([old, young], [], NOW) == (young,)
    assert followed([old], [replace(old, ready=None)], NOW) == (old,)
    assert followed([waiting(2 * HOUR_S)], [], NOW) == (waiting(2 * HOUR_S),)
