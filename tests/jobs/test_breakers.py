"""A target that does not answer is left alone for longer and longer, never for long, and told so."""

from datetime import UTC, datetime, timedelta

import pytest

from forecaster.errors import TargetError, TargetForbidden, TargetUnavailable
from jobs.breakers import TRIPS_AFTER, Breakers

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


class Came:
    """What came of a turn."""

    def __init__(self, error: TargetError | None = None) -> None:
        self.error = error


def throttled() -> Came:
    msg = "Rate exceeded"
    raise TargetUnavailable(msg)


def tripped() -> Breakers:
    breakers = Breakers()
    for i in range(TRIPS_AFTER):
        with pytest.raises(TargetUnavailable, match=r"^Rate exceeded$"):
            breakers.called("asg", NOW + timedelta(seconds=10 * i), throttled)
    return breakers


def test_a_target_that_fails_once_or_twice_is_asked_at_the_next_turn() -> None:
    breakers = Breakers()
    for _ in range(TRIPS_AFTER - 1):
        with pytest.raises(TargetUnavailable):
            breakers.called("asg", NOW, throttled)
    came = Came()
    assert breakers.called("asg", NOW, lambda: came) is came


def test_after_three_failures_in_a_row_it_is_left_alone_for_a_minute_and_the_sentence_says_until_when_and_why() -> None:
    breakers = tripped()
    asked: list[int] = []

    def turn() -> Came:
        asked.append(1)
        return Came()

    sentence = "left alone until 2026-03-02T08:01:20Z after 3 failures in a row, the last: Rate exceeded"
    with pytest.raises(TargetUnavailable, match=sentence):
        breakers.called("asg", NOW + timedelta(seconds=79), turn)
    assert asked == []
    breakers.called("asg", NOW + timedelta(seconds=80), turn)
    assert asked == [1]


def test_the_wait_doubles_up_to_ten_minutes() -> None:
    breakers, now, waits = tripped(), NOW + timedelta(seconds=20), []
    for _ in range(6):
        waited = next(s for s in range(60, 1_200, 60) if _is_asked(breakers, now + timedelta(seconds=s)))
        waits.append(waited // 60)
        now += timedelta(seconds=waited)
    assert waits == [1, 2, 4, 8, 10, 10]


def _is_asked(breakers: Breakers, now: datetime) -> bool:
    with pytest.raises(TargetUnavailable) as raised:
        breakers.called("asg", now, throttled)
    return not str(raised.value).startswith("left alone")


def test_one_success_forgets_the_failures() -> None:
    breakers = tripped()
    breakers.called("asg", NOW + timedelta(minutes=5), Came)
    with pytest.raises(TargetUnavailable, match=r"^Rate exceeded$"):
        breakers.called("asg", NOW + timedelta(minutes=5), throttled)
    breakers.called("asg", NOW + timedelta(minutes=5), Came)


def test_a_write_that_was_throttled_counts_as_well_and_what_is_forbidden_does_not() -> None:
    breakers = Breakers()
    for _ in range(TRIPS_AFTER):
        breakers.called("hpa", NOW, lambda: Came(TargetForbidden("no")))
        breakers.called("asg", NOW, lambda: Came(TargetUnavailable("slow")))
    breakers.called("hpa", NOW, Came)
    with pytest.raises(TargetUnavailable, match="the last: slow"):
        breakers.called("asg", NOW, Came)


def test_one_target_left_alone_is_no_reason_to_leave_another() -> None:
    breakers = tripped()
    breakers.called("hpa", NOW + timedelta(seconds=30), Came)
