"""The point of a step: what was served, however many requests were in flight when it began and ended."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.load_step import Answered, behind, measured
from forecaster.profile import Spread
from forecaster.request_log import RequestLog, Schedule, scheduled


def step(rate_rpm: float, *, size: int = 300, seed: int = 3) -> Schedule:
    """Arrivals that are neither steady nor wild."""
    gaps = np.random.default_rng(seed).uniform(0.5, 1.5, size)
    log = RequestLog(arrived_s=gaps.cumsum(), input_tokens=np.full(size, 200.0), output_tokens=np.full(size, 50.0))
    return scheduled(log, rate_rpm, start=0, seconds=1, least=size)


def served(schedule: Schedule, *, slots: int, service_s: float) -> dict[int, Answered]:
    """What a replica of so many slots makes of it, first come first served."""
    free_s = [0.0] * slots
    answers = {}
    for i, at_s in enumerate(schedule.at_s):
        begin_s = max(float(at_s), heapq.heappop(free_s))
        heapq.heappush(free_s, begin_s + service_s)
        answers[i] = Answered(
            sent_s=float(at_s),
            took_s=begin_s + service_s - at_s,
            first_s=begin_s + service_s / 50 - at_s,
            input_tokens=200,
            output_tokens=50,
        )
    return answers


@given(load=st.floats(0.2, 0.9), slots=st.integers(2, 32))
def test_a_replica_that_keeps_up_serves_what_is_sent(load: float, slots: int) -> None:
    schedule = step(load * slots * 60)
    point = measured(schedule, served(schedule, slots=slots, service_s=1))
    assert point is not None
    assert point.achieved_rpm == pytest.approx(load * slots * 60, rel=0.01)


@given(load=st.floats(1.1, 3), slots=st.integers(1, 32))
def test_one_that_falls_behind_serves_its_capacity(load: float, slots: int) -> None:
    schedule = step(load * slots * 60)
    point = measured(schedule, served(schedule, slots=slots, service_s=1))
    assert point is not None
    assert point.achieved_rpm == pytest.approx(slots * 60, rel=0.03)
    assert point.offered_rpm == pytest.approx(load * slots * 60)


def test_the_warm_up_does_not_count() -> None:
    schedule = step(60)
    answers = served(schedule, slots=4, service_s=1)
    cold = {i: Answered(sent_s=answer.sent_s, took_s=100, first_s=90) for i, answer in answers.items() if i < schedule.warm_up}
    assert measured(schedule, answers | cold) == measured(schedule, answers)


def test_what_has_no_answer_failed() -> None:
    schedule = step(60)
    answers = served(schedule, slots=4, service_s=1)
    last = schedule.at_s.size - 1
    point = measured(schedule, {**{i: answers[i] for i in range(last - 11)}, last: Answered(sent_s=1, failure="HTTP 500")})
    assert point is not None
    assert point.error_ratio == pytest.approx(12 / 240)
    assert point.achieved_rpm == pytest.approx(60 * 228 / 240)


def test_a_step_without_any_answer_has_no_point() -> None:
    assert measured(step(60), {0: Answered(sent_s=0, failure="refused")}) is None


def test_the_time_a_token_adds_up_to_the_requests_time() -> None:
    schedule = step(60)
    point = measured(schedule, served(schedule, slots=4, service_s=1))
    assert point is not None
    assert point.ttft.mean_s == pytest.approx(0.02)
    assert point.tpot.mean_s == pytest.approx(0.02)
    assert point.e2e.p95_s == pytest.approx(1)
    assert (point.input_tokens, point.output_tokens, point.output_std) == (200, 50, 0)


def test_what_the_endpoint_does_not_tell_is_unknown() -> None:
    schedule = step(60)
    answers = {i: Answered(sent_s=float(at_s), took_s=1) for i, at_s in enumerate(schedule.at_s)}
    point = measured(schedule, answers)
    assert point is not None
    assert (point.ttft, point.tpot, point.output_tokens) == (Spread(), Spread(), None)


def test_a_server_nearby_may_be_quicker_than_any_engine() -> None:
    """It sends the whole answer at once after a second, or begins within a millisecond: no unit is mixed up."""
    schedule = step(60)
    for first_s in (0.0001, 0.99999):
        answers = {i: Answered(sent_s=float(at_s), took_s=1, first_s=first_s, output_tokens=50) for i, at_s in enumerate(schedule.at_s)}
        point = measured(schedule, answers)
        assert point is not None
        assert point.e2e.p95_s == pytest.approx(1)
        assert point.ttft.p95_s == pytest.approx(max(0.001, first_s))


def test_answers_of_a_few_tokens_tell_no_time_a_token() -> None:
    schedule = step(60)
    answers = {i: Answered(sent_s=float(at_s), took_s=9, first_s=0.1, output_tokens=2) for i, at_s in enumerate(schedule.at_s)}
    point = measured(schedule, answers)
    assert point is not None
    assert point.tpot == Spread()


def test_a_generator_is_behind_when_a_twentieth_of_the_requests_leave_late() -> None:
    schedule = step(60)
    in_time = {i: Answered(sent_s=float(at_s) + 0.2, took_s=1) for i, at_s in enumerate(schedule.at_s)}
    late = {i: Answered(sent_s=float(at_s) * 1.1, took_s=1) for i, at_s in enumerate(schedule.at_s)}
    assert behind(schedule, in_time) == 0
    assert behind(schedule, late) == pytest.approx(0.1 * schedule.span_s, rel=0.1)


def test_an_answer_takes_time() -> None:
    with pytest.raises(ValueError, match="took_s must be above 0"):
        Answered(sent_s=0, took_s=0)
