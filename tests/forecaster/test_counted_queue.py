"""A queue beside a concurrency that counts it already: an overload is counted once, and what runs is always counted whole."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.capacity import Capacity
from forecaster.decision import Observation
from forecaster.look import Look, look
from forecaster.series import Signal
from forecaster.workload import Policy
from tests.values import NOW, live_of, pool_of

CARRY = 10.0
MINUTES = st.lists(st.floats(0, 1_000), min_size=5, max_size=5)


def looked(running: list[float], waiting: list[float], *, counts_waiting: bool, told: list[float] | None = None) -> Look:
    """What is made of minutes of running and waiting requests; told: what concurrency says, by default both together."""
    both = [run + wait for run, wait in zip(running, waiting, strict=True)]
    live = (live_of(told or both, signal=Signal.CONCURRENCY), live_of(waiting, signal=Signal.QUEUE_DEPTH))
    pool = replace(pool_of(), capacity=Capacity(concurrency=CARRY))
    return look(Observation(at=NOW, live=live, counts_waiting=counts_waiting), (), pool, Policy())


def mean(minutes: list[float]) -> float:
    return sum(minutes[-3:]) / 3


@pytest.mark.parametrize(("counts_waiting", "need"), [(True, 15), (False, 20)])
def test_a_standing_queue_is_added_only_to_a_concurrency_that_does_not_count_it(counts_waiting: bool, need: int) -> None:
    assert looked([100.0] * 5, [50.0] * 5, counts_waiting=counts_waiting).need == need


def test_a_growing_queue_counts_as_long_as_it_is_now() -> None:
    growing = looked([100.0] * 5, [0.0, 0.0, 0.0, 30.0, 90.0], counts_waiting=True)
    assert growing.queue_need == pytest.approx((100 + 90) / CARRY)


@given(MINUTES, MINUTES)
def test_the_need_is_never_below_what_runs_nor_below_that_and_what_waits_now(running: list[float], waiting: list[float]) -> None:
    found = looked(running, waiting, counts_waiting=True)
    asked = max(found.queue_need, *(signal.need for signal in found.signals))
    assert asked >= mean(running) / CARRY - 1e-9
    assert asked >= (mean(running) + waiting[-1]) / CARRY - 1e-9


@given(MINUTES, MINUTES)
def test_it_is_never_above_what_adding_the_queue_again_asks_for(running: list[float], waiting: list[float]) -> None:
    once, twice = (looked(running, waiting, counts_waiting=counts).queue_need for counts in (True, False))
    assert once <= twice + 1e-9


@given(MINUTES, MINUTES)
def test_a_concurrency_of_what_runs_alone_is_served_with_its_whole_queue(running: list[float], waiting: list[float]) -> None:
    found = looked(running, waiting, counts_waiting=False, told=running)
    assert found.queue_need == pytest.approx((mean(running) + waiting[-1]) / CARRY)
