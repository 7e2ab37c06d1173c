"""Waits against a queue of small portions, served one after the other."""

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forecaster.series import Floats
from forecaster.simulate.fleet import WAIT_LEVELS, Fleet, Policies, Traffic
from forecaster.simulate.replay import replay
from forecaster.simulate.waits import waits_s

_PORTIONS = 40


def backlogs(arrivals: Floats, capacity: Floats) -> Floats:
    left, waiting = 0.0, []
    for come, served in zip(arrivals, capacity, strict=True):
        left = max(0.0, left + come - served)
        waiting.append(left)
    return np.array(waiting)


def queue(arrivals: Floats, capacity: Floats) -> list[tuple[float, float]]:
    """(wait in steps, requests) of every portion; 40 portions a step, capacity after the last step as in it."""
    waiting: deque[list[float]] = deque()
    found = []
    tick = 0
    while tick < arrivals.size * _PORTIONS or waiting:
        step = tick // _PORTIONS
        if step < arrivals.size:
            waiting.append([tick, arrivals[step] / _PORTIONS])
        left = capacity[min(step, arrivals.size - 1)] / _PORTIONS
        while waiting and left > 0:
            taken = min(left, waiting[0][1])
            left -= taken
            waiting[0][1] -= taken
            found.append(((tick - waiting[0][0]) / _PORTIONS, taken))
            if waiting[0][1] > 1e-12:
                break
            waiting.popleft()
        tick += 1
    return found


def quantile(found: list[tuple[float, float]], level: float) -> float:
    ordered = sorted(found)
    total, passed = sum(requests for _, requests in found), 0.0
    for wait, requests in ordered:
        passed += requests
        if passed >= level * total - 1e-9:
            return wait
    return ordered[-1][0]


@given(steps=st.lists(st.tuples(st.floats(0.1, 50), st.floats(1, 40)), min_size=1, max_size=12))
def test_waits_are_those_of_a_queue_served_one_after_the_other(steps: list[tuple[float, float]]) -> None:
    """Within a portion of the brute force and a tenth of a step's requests, which share one wait."""
    arrivals, capacity = np.array([a for a, _ in steps]), np.array([c for _, c in steps])
    found, ours = queue(arrivals, capacity), waits_s(arrivals, capacity, backlogs(arrivals, capacity), 60) / 60
    share = arrivals.max() / arrivals.sum() / 10 + 1e-6
    for level, wait in zip(WAIT_LEVELS, ours, strict=True):
        assert quantile(found, max(0.0, level - share)) - 3 / _PORTIONS <= wait <= quantile(found, min(1.0, level + share)) + 3 / _PORTIONS


def test_where_nothing_queues_nobody_waits() -> None:
    assert waits_s(np.array([5.0, 5]), np.array([5.0, 9]), np.zeros(2), 60).tolist() == [0, 0, 0]


def test_a_queue_of_two_minutes_keeps_what_comes_last_for_two_minutes() -> None:
    """10 a minute are served; 30 come at once: the last waits until 30 are served, two minutes after its own has gone by."""
    wait = waits_s(np.array([30.0, 0, 0]), np.full(3, 10.0), np.array([20.0, 10, 0]), 60)
    np.testing.assert_allclose(wait, [60 * 2 * at for at in (0.45, 0.95, 0.95)])  # the middles of the tenths that they came in


def test_waits_are_told_where_they_are_asked_for_and_cost_nothing_else() -> None:
    stretch = Traffic(before_rpm=np.ones(1), rpm=np.array([30.0, 0, 0]), edges=np.array([0, 3]))
    fixed = Policies(targets=np.full(20, np.inf), floors=np.ones((20, 1)), column=np.zeros(3, dtype=int), start=np.ones(20))
    silent, told = (replay(stretch, fixed, Fleet(replica_rpm=10), waits=waits) for waits in (False, True))
    assert silent.wait_s is None
    assert told.wait_s is not None
    assert told.wait_s.shape == (20, len(WAIT_LEVELS))
    assert told.wait_s[3].tolist() == waits_s(np.array([30.0, 0, 0]), np.full(3, 10.0), np.array([20.0, 10, 0]), 60).tolist()
    assert told.only(3).wait_s is not None
    assert told.parts(0, 1).wait_s is None
    np.testing.assert_array_equal(silent.late, told.late)
