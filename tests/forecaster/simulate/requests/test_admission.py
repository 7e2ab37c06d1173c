"""Token buckets and the circuit breaker."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.requests.admission import Breaker, BreakerRule, Quota, State, TokenBucket


def test_a_tenant_may_send_its_burst_at_once_and_then_its_rate() -> None:
    bucket = TokenBucket(Quota(rate_rpm=60, burst=3))
    assert [bucket.admits(0.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.admits(instant) for instant in (0.5, 1.0, 1.5, 2.0)] == [False, True, False, True]


def test_a_bucket_never_holds_more_than_its_burst() -> None:
    bucket = TokenBucket(Quota(rate_rpm=600, burst=2))
    assert [bucket.admits(1_000.0) for _ in range(3)] == [True, True, False]


@given(gaps=st.lists(st.floats(0, 5), min_size=1, max_size=200), rate_rpm=st.floats(1, 600), burst=st.floats(1, 20))
def test_in_any_span_no_more_pass_than_burst_and_rate_allow(gaps: list[float], rate_rpm: float, burst: float) -> None:
    bucket, instants = TokenBucket(Quota(rate_rpm=rate_rpm, burst=burst)), np.cumsum(gaps).tolist()
    passed = [instant for instant in instants if bucket.admits(instant)]
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            assert last - first + 1 <= burst + (passed[last] - passed[first]) * rate_rpm / 60 + 1e-6


RULE = BreakerRule(failure_ratio=0.5, span_s=10, least=4, open_s=5, probes=2)


def state(breaker: Breaker) -> State:
    return breaker.state


def failing(breaker: Breaker, *, since_s: float, requests: int) -> None:
    for request in range(requests):
        assert breaker.admits(request, since_s + request, 0)
        breaker.ended(request, since_s + request, served=False)


def test_a_breaker_opens_once_enough_requests_failed_lets_nothing_through_and_then_probes() -> None:
    breaker = Breaker(RULE)
    failing(breaker, since_s=0, requests=4)
    assert state(breaker) is State.OPEN
    assert not breaker.admits(10, 7.9, 0)
    assert [breaker.admits(request, 8.0, 0) for request in (11, 12, 13)] == [True, True, False]
    assert state(breaker) is State.HALF_OPEN


def test_a_breaker_closes_when_every_probe_was_served() -> None:
    breaker = Breaker(RULE)
    failing(breaker, since_s=0, requests=4)
    assert breaker.admits(11, 8.0, 0)
    breaker.ended(11, 8.5, served=True)
    assert state(breaker) is State.HALF_OPEN
    assert breaker.admits(12, 9.0, 0)
    breaker.ended(12, 9.5, served=True)
    assert state(breaker) is State.CLOSED
    assert breaker.admits(13, 9.6, 0)
    assert breaker.opened == 1


def test_a_breaker_opens_again_at_the_first_probe_that_failed_and_waits_anew() -> None:
    breaker = Breaker(RULE)
    failing(breaker, since_s=0, requests=4)
    assert breaker.admits(11, 8.0, 0)
    assert breaker.admits(12, 8.0, 0)
    breaker.ended(11, 9.0, served=False)
    breaker.ended(12, 9.5, served=True)
    assert state(breaker) is State.OPEN
    assert not breaker.admits(13, 13.9, 0)
    assert breaker.admits(14, 14.0, 0)
    assert breaker.opened == 2


def test_what_was_admitted_before_it_opened_neither_closes_nor_opens_it() -> None:
    breaker = Breaker(RULE)
    failing(breaker, since_s=0, requests=4)
    assert breaker.admits(11, 8.0, 0)
    breaker.ended(2, 8.1, served=True)
    breaker.ended(3, 8.2, served=False)
    assert state(breaker) is State.HALF_OPEN


def test_failures_older_than_the_span_and_a_few_alone_open_nothing() -> None:
    breaker = Breaker(RULE)
    failing(breaker, since_s=0, requests=3)
    failing(breaker, since_s=50, requests=3)
    assert state(breaker) is State.CLOSED


def test_failures_below_the_share_open_nothing() -> None:
    breaker = Breaker(RULE)
    for request in range(100):
        breaker.ended(request, request / 10, served=request % 5 < 3)
    assert state(breaker) is State.CLOSED


def test_a_long_queue_opens_it_only_when_it_stayed_long() -> None:
    breaker = Breaker(BreakerRule(queue_limit=100, span_s=10, open_s=5))
    assert breaker.admits(0, 0.0, 150)
    assert breaker.admits(1, 9.0, 99)
    assert breaker.admits(2, 10.0, 150)
    assert breaker.admits(3, 19.9, 150)
    assert not breaker.admits(4, 20.0, 150)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"failure_ratio": 0}, "breaker.failure_ratio must be above 0 and at most 1"),
        ({"queue_limit": 0}, "breaker.queue_limit must be at least 1"),
        ({"open_s": 0}, "breaker.open_s must be above 0 seconds"),
        ({"span_s": -1}, "breaker.span_s must be at least 0 seconds"),
        ({"probes": 0}, "breaker.probes must be above 0"),
    ],
)
def test_a_rule_that_could_never_work_is_refused(rule: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BreakerRule(**rule)  # type: ignore[arg-type]  # one wrong number at a time


@pytest.mark.parametrize("burst", [0.5, 0, float("nan")])
def test_a_quota_that_lets_nothing_pass_is_refused(burst: float) -> None:
    with pytest.raises(ValueError, match=r"quota\.burst must be at least 1 request"):
        Quota(rate_rpm=60, burst=burst)
