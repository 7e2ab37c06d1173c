"""Every ramp is told by when it was asked for, due and there; what nobody saw is not told."""

from datetime import UTC, datetime

import numpy as np
import pytest

from forecaster.ramps import Minutes, Ramp, held, ramps

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
NAN = float("nan")


def steps(*parts: tuple[int, float]) -> np.ndarray:
    """A level for so many minutes, one after the other."""
    return np.concatenate([np.full(minutes, level) for minutes, level in parts])


def minutes_of(
    floors: np.ndarray, *, ready: np.ndarray | None = None, need: float = 1.0, nodes: np.ndarray | None = None, lead_min: int = 10
) -> Minutes:
    seen = np.full(floors.size, NAN) if ready is None else ready
    return Minutes(start=START, floors=floors, ready=seen, need=np.full(floors.size, need), nodes=nodes, lead_min=lead_min, least=2)


def clock(at: datetime | None) -> str | None:
    return None if at is None else f"{at:%H:%M}"


def only(minutes: Minutes) -> Ramp:
    (ramp,) = ramps(minutes)
    return ramp


def test_a_ramp_is_asked_for_at_its_last_raise_and_due_one_lead_time_later() -> None:
    ramp = only(minutes_of(steps((30, 4), (10, 20), (80, 38)), ready=steps((50, 4), (3, 30), (67, 38)), lead_min=20))
    assert (ramp.before, ramp.replicas, clock(ramp.asked), clock(ramp.due), clock(ramp.ready)) == (4, 38, "08:40", "09:00", "08:53")
    assert ramp.in_time is True
    assert ramp.told == "needed 38 ready by 09:00, had 38 at 08:53; asked 08:40"


def test_nodes_are_told_by_when_they_were_asked_for() -> None:
    floors, nodes = steps((41, 4), (79, 38)), steps((31, 4), (89, 38))
    ramp = only(minutes_of(floors, nodes=nodes, ready=steps((53, 4), (67, 38)), lead_min=19))
    assert ramp.told == "needed 38 ready by 09:00, had 38 at 08:53; nodes asked 08:31, pods 08:41"


def test_replicas_that_come_after_they_were_due_are_late_and_those_that_never_come_are_told_so() -> None:
    floors = steps((10, 4), (110, 9))
    late = only(minutes_of(floors, ready=steps((30, 4), (90, 9))))
    assert (late.in_time, late.ready_at_due) == (False, 4)
    never = only(minutes_of(floors, ready=steps((30, 4), (90, 8))))
    assert (never.in_time, never.ready) == (False, None)
    assert never.told == "needed 9 ready by 08:20, had 4 by then and never all; asked 08:10"


def test_what_nobody_saw_is_neither_in_time_nor_late() -> None:
    ramp = only(minutes_of(steps((10, 4), (110, 9))))
    assert ramp.in_time is None
    assert ramp.told == "needed 9 ready by 08:20, and nobody saw how many were; asked 08:10"


def test_replicas_that_were_there_before_they_were_asked_for_are_in_time() -> None:
    assert only(minutes_of(steps((10, 4), (110, 9)), ready=steps((120, 12)))).in_time is True


def test_raises_more_than_half_an_hour_apart_are_two_ramps_and_a_lowering_ends_one() -> None:
    assert [r.replicas for r in ramps(minutes_of(steps((10, 4), (31, 9), (60, 15))))] == [9, 15]
    assert [r.replicas for r in ramps(minutes_of(steps((10, 4), (30, 9), (60, 15))))] == [15]
    assert [r.replicas for r in ramps(minutes_of(steps((10, 4), (10, 9), (10, 6), (60, 15))))] == [9, 15]


def test_jitter_is_no_ramp() -> None:
    assert ramps(minutes_of(steps((10, 40), (10, 41), (10, 40), (10, 47)))) == ()


def test_floors_that_are_not_known_make_no_ramp() -> None:
    assert ramps(minutes_of(steps((10, NAN), (10, 40), (10, NAN), (10, 80)))) == ()


def test_the_sums_of_a_span_by_hand() -> None:
    floors = steps((20, 4), (40, 10))
    found = held(minutes_of(floors, ready=steps((35, 4), (25, 10)), need=6.2))
    assert found.due == (10 * 4 + 10 * 4 + 10 * 4 + 30 * 10) * 60 - 10 * 4 * 60  # the first lead time is unknown
    assert found.shortfall == 5 * 6 * 60  # from minute 30, when 10 were due, to 35
    assert found.ready_by_deadline_ratio == pytest.approx(1 - 1800 / found.due)
    assert found.binding == (10 * 2 + 40 * 8) * 60
    assert found.wasted == 40 * 3 * 60  # 10 stand where 7 were needed; 4 of 7 are no waste


def test_replicas_above_the_floor_are_the_autoscalers_and_neither_binding_nor_wasted() -> None:
    found = held(minutes_of(steps((60, 4)), ready=steps((60, 9)), need=1.0))
    assert (found.shortfall, found.binding, found.wasted) == (0, 0, 0)


def test_sums_of_which_nothing_was_seen_are_unknown() -> None:
    found = held(minutes_of(steps((60, 4))))
    assert (found.due, found.shortfall, found.binding, found.wasted, found.ready_by_deadline_ratio) == (None,) * 5


def test_minutes_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one floor, ready and need each"):
        Minutes(start=START, floors=np.ones(3), ready=np.ones(2), need=np.ones(3), lead_min=1, least=1)
