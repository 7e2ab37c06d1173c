"""Dynamic batching: hand-made batches, and what holds for any requests."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.requests.batching import Batch, schedule


@dataclass(frozen=True)
class Asked:
    name: str
    arrival_ms: float


def sizes(batches: Iterable[Batch[int] | Batch[float]]) -> list[tuple[float, ...]]:
    return [batch.requests for batch in batches]


def test_a_batch_closes_when_its_oldest_request_has_waited_the_longest_wait() -> None:
    batches = schedule([0, 4, 10, 11], 8, 10)
    assert sizes(batches) == [(0, 4, 10), (11,)]
    assert [batch.closed_ms for batch in batches] == [10, 21]


def test_a_full_batch_closes_at_its_last_arrival() -> None:
    batches = schedule([0, 1, 2, 3, 4], 2, 10)
    assert sizes(batches) == [(0, 1), (2, 3), (4,)]
    assert [batch.closed_ms for batch in batches] == [1, 3, 14]


def test_who_arrives_as_the_wait_ends_still_joins_and_who_comes_after_does_not() -> None:
    assert sizes(schedule([0, 10], 8, 10)) == [(0, 10)]
    assert sizes(schedule([0, 10.001], 8, 10)) == [(0,), (10.001,)]


def test_without_a_wait_only_those_of_one_instant_are_served_together() -> None:
    batches = schedule([0, 0, 5], 8, 0)
    assert sizes(batches) == [(0, 0), (5,)]
    assert [batch.closed_ms for batch in batches] == [0, 5]


def test_a_size_of_one_makes_each_request_a_batch_that_closes_at_once() -> None:
    assert [(batch.requests, batch.closed_ms) for batch in schedule([3, 3, 7], 1, 50)] == [((3,), 3), ((3,), 3), ((7,), 7)]


def test_more_requests_of_one_instant_than_fit_fill_several_batches() -> None:
    assert [len(batch) for batch in schedule([5] * 7, 3, 10)] == [3, 3, 1]


def test_requests_given_out_of_order_are_batched_in_order_of_arrival_and_ties_as_given() -> None:
    first, second, third = Asked("first", 5.0), Asked("second", 5.0), Asked("third", 1.0)
    assert [list(batch) for batch in schedule([first, second, third], 2, 10)] == [[third, first], [second]]


def test_no_requests_make_no_batches() -> None:
    assert schedule([], 4, 10) == ()


@pytest.mark.parametrize(
    ("size", "wait_ms", "message"),
    [
        (0, 10, "max_batch_size must be at least 1 request, got 0"),
        (4, -1, "max_wait_ms must be at least 0 ms and finite, got -1"),
        (4, float("nan"), "max_wait_ms must be at least 0 ms and finite, got nan"),
        (4, float("inf"), "max_wait_ms must be at least 0 ms and finite, got inf"),
    ],
)
def test_limits_that_make_no_sense_are_refused(size: int, wait_ms: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        schedule([1.0], size, wait_ms)


def test_an_arrival_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite number of milliseconds, got nan"):
        schedule([1.0, float("nan")], 2, 10)


instants = st.one_of(
    st.lists(st.integers(0, 60), max_size=60).map(lambda found: [float(one) for one in found]),  # many ties
    st.lists(st.floats(-1e6, 1e12, allow_subnormal=False), max_size=60),
)


@given(arrivals=instants, size=st.integers(1, 9), wait_ms=st.one_of(st.integers(0, 30), st.floats(0, 1e6)))
def test_every_request_is_in_one_batch_in_order_none_too_large_and_nobody_waits_longer(
    arrivals: list[float], size: int, wait_ms: float
) -> None:
    requests = [Asked(str(number), arrival) for number, arrival in enumerate(arrivals)]
    batches = schedule(requests, size, wait_ms)
    assert [one for batch in batches for one in batch] == sorted(requests, key=lambda one: one.arrival_ms)
    assert all(1 <= len(batch) <= size for batch in batches)
    for batch in batches:
        assert all(0 <= batch.closed_ms - one.arrival_ms <= wait_ms for one in batch)


@given(arrivals=instants, size=st.integers(1, 9), wait_ms=st.floats(0, 1e6))
def test_the_same_requests_make_the_same_batches_and_no_batch_closes_before_it_must(
    arrivals: list[float], size: int, wait_ms: float
) -> None:
    batches = schedule(arrivals, size, wait_ms)
    assert schedule(list(arrivals), size, wait_ms) == batches
    for batch, following in pairwise(batches):
        assert len(batch) == size or following.requests[0] > batch.closed_ms
