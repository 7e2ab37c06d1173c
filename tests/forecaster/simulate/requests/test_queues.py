"""Whose turn it is, and who leaves."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.requests.arrivals import Priority
from forecaster.simulate.requests.queues import Lanes, Patience

PERSON, BULK = Priority.INTERACTIVE, Priority.BULK


def lanes(at_s: Sequence[float], priority: Sequence[Priority], gone: list[int], **patience: float) -> Lanes:
    queue = Lanes(at_s, priority, Patience(**patience), gone.append)
    for request in range(len(at_s)):
        queue.push(request)
    return queue


def test_interactive_requests_overtake_bulk_ones_and_keep_their_order() -> None:
    queue = lanes([0, 1, 2, 3], [BULK, PERSON, BULK, PERSON], [])
    assert queue.take(4, 10) == [1, 3, 0, 2]


def test_a_bulk_request_that_has_waited_long_enough_is_overtaken_no_more() -> None:
    queue = lanes([0, 1, 2, 65, 66], [BULK, BULK, PERSON, PERSON, PERSON], [], promote_after_s=60)
    assert queue.take(60.5, 1) == [0]
    assert queue.take(60.5, 1) == [2]
    assert queue.take(67, 3) == [1, 3, 4]


def test_who_gives_up_leaves_and_is_heard_of() -> None:
    gone: list[int] = []
    queue = lanes([0, 1, 9], [PERSON, BULK, PERSON], gone, interactive_s=5, bulk_s=100)
    assert queue.take(5, 0) == []
    assert gone == []
    queue.expire(5.1)
    assert gone == [0]
    assert len(queue) == 2
    assert queue.take(6, 5) == [2, 1]


def test_who_comes_back_from_a_replica_that_left_stands_where_the_arrival_says() -> None:
    queue = Lanes([0, 1, 2, 3], [PERSON] * 4, Patience(), lambda _: None)
    queue.push(1)
    queue.push(3)
    queue.restore([2, 0])
    assert queue.take(4, 4) == [0, 1, 2, 3]


@given(
    requests=st.lists(st.tuples(st.floats(0, 10), st.sampled_from([PERSON, BULK])), min_size=1, max_size=80),
    serves=st.integers(1, 3),
    promote_after_s=st.floats(0, 40),
)
def test_nobody_who_arrives_later_than_the_promotion_is_served_before_a_bulk_request(
    requests: list[tuple[float, Priority]], serves: int, promote_after_s: float
) -> None:
    gaps, priority = zip(*requests, strict=True)
    at_s = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    queue = Lanes(at_s, priority, Patience(promote_after_s=promote_after_s), lambda _: None)
    turns: list[int] = []
    for request in range(len(at_s)):
        queue.push(request)
        if request % 3 == 0:  # slower than they come: a queue builds up
            turns += queue.take(at_s[request], serves)
    turns += queue.take(at_s[-1], len(at_s))
    assert sorted(turns) == list(range(len(at_s)))
    place = {request: turn for turn, request in enumerate(turns)}
    for bulk in (request for request in turns if priority[request] is BULK):
        assert all(place[bulk] < place[later] for later in turns if at_s[later] > at_s[bulk] + promote_after_s + 1e-9)


@pytest.mark.parametrize("promote_after_s", [float("inf"), -1, float("nan")])
def test_a_promotion_that_never_comes_is_refused_since_bulk_would_starve(promote_after_s: float) -> None:
    with pytest.raises(ValueError, match="bulk would starve"):
        Patience(promote_after_s=promote_after_s)


def test_patience_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValueError, match=r"patience\.bulk_s must be above 0 seconds"):
        Patience(bulk_s=0)
