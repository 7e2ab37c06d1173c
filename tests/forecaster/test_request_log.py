"""A request log: evened of what is load and not pattern, and stretched to any rate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.request_log import RequestLog, scheduled


def a_log(size: int = 400, seed: int = 1, rpm: float = 300) -> RequestLog:
    rng = np.random.default_rng(seed)
    return RequestLog(
        arrived_s=rng.exponential(60 / rpm, size).cumsum(),
        input_tokens=rng.integers(1, 2_000, size).astype(float),
        output_tokens=rng.integers(1, 500, size).astype(float),
    )


class TestEvened:
    def test_every_window_has_the_same_load(self) -> None:
        fast_then_slow = np.concatenate([np.arange(1_000) * 0.1, 100 + np.arange(100) * 1.0])
        log = RequestLog(arrived_s=fast_then_slow, input_tokens=np.ones(1_100), output_tokens=np.ones(1_100))
        arrived_s = log.evened(10).arrived_s
        assert arrived_s == pytest.approx(np.linspace(0, arrived_s[-1], 1_100), abs=1)

    def test_bursts_within_a_window_stay(self) -> None:
        pairs = np.repeat(np.arange(100) * 2.0, 2)
        log = RequestLog(arrived_s=pairs, input_tokens=np.ones(200), output_tokens=np.ones(200))
        gaps = np.diff(log.evened(10).arrived_s)
        assert gaps[::2] == pytest.approx(np.zeros(100))
        assert gaps[1::2] == pytest.approx(np.full(99, 2), abs=0.5)

    def test_a_window_without_requests_falls_out(self) -> None:
        with_a_silence = np.concatenate([np.arange(20) * 1.0, 1_000 + np.arange(20) * 1.0])
        log = RequestLog(arrived_s=with_a_silence, input_tokens=np.ones(40), output_tokens=np.ones(40)).evened(20)
        assert np.diff(log.arrived_s).max() < 2 * np.diff(log.arrived_s).min()

    @given(seed=st.integers(0, 50), over_s=st.floats(0.5, 1e6))
    def test_order_lengths_and_load_stay(self, seed: int, over_s: float) -> None:
        log = a_log(seed=seed)
        evened = log.evened(over_s)
        assert (np.diff(evened.arrived_s) >= 0).all()
        assert (evened.input_tokens == log.input_tokens).all()
        assert evened.rpm == pytest.approx(log.rpm)


class TestScheduled:
    @given(rate_rpm=st.floats(1, 100_000), start=st.integers(0, 399), seconds=st.floats(1, 300))
    def test_the_rate_after_the_warm_up_is_the_one_asked_for(self, rate_rpm: float, start: int, seconds: float) -> None:
        step = scheduled(a_log(), rate_rpm, start=start, seconds=seconds, least=50)
        measured_s = step.at_s[-1] - step.at_s[step.warm_up]
        assert (step.at_s.size - 1 - step.warm_up) / measured_s * 60 == pytest.approx(rate_rpm)
        assert step.at_s[0] == 0
        assert (np.diff(step.at_s) >= 0).all()
        assert 50 <= step.at_s.size <= 400

    def test_the_pattern_of_arrivals_stays(self) -> None:
        slow, fast = (scheduled(a_log(), rate_rpm, start=10, seconds=1, least=100) for rate_rpm in (30, 3_000))
        assert np.diff(slow.at_s) == pytest.approx(100 * np.diff(fast.at_s))

    def test_a_larger_rate_goes_on_where_a_smaller_one_ends(self) -> None:
        small, large = (scheduled(a_log(), rate_rpm, start=350, seconds=60, least=50) for rate_rpm in (100, 200))
        assert (large.output_tokens[:100] == small.output_tokens).all()

    def test_at_the_end_the_log_begins_again_as_far_off_as_its_requests_are_on_average(self) -> None:
        steady = RequestLog(arrived_s=np.arange(100.0), input_tokens=np.ones(100), output_tokens=np.ones(100))
        assert np.diff(scheduled(steady, 60, start=70, seconds=60, least=50).at_s) == pytest.approx(np.ones(59))

    def test_requests_that_all_arrived_at_once_keep_no_rate(self) -> None:
        log = RequestLog(arrived_s=np.repeat([0.0, 60.0], 100), input_tokens=np.ones(200), output_tokens=np.ones(200))
        with pytest.raises(ValueError, match="arrived at once"):
            scheduled(log, 60, start=0, seconds=1, least=50)


def test_a_stretch_begins_where_its_mix_is_that_of_the_log_at_every_length() -> None:
    sizes = np.concatenate([np.full(500, 100.0), np.tile([500.0, 1_500.0], 500), np.full(500, 1_900.0)])
    log = RequestLog(arrived_s=np.arange(2_000.0), input_tokens=sizes, output_tokens=np.ones(2_000))
    start = log.typical_start(100)
    for count in (100, 200, 400):
        assert log.input_tokens[start : start + count].mean() == pytest.approx(sizes.mean(), rel=0.02)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arrived_s": np.arange(30.0)[::-1]}, "in order"),
        ({"arrived_s": np.zeros(30)}, "same instant"),
        ({"arrived_s": np.full(30, math.nan)}, "finite"),
        ({"input_tokens": np.zeros(30)}, "input_tokens must be finite and at least 1"),
        ({"output_tokens": np.ones(29)}, "at least 20 requests"),
    ],
)
def test_what_is_no_log_is_refused(change: dict[str, np.ndarray], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RequestLog(**{"arrived_s": np.arange(30.0), "input_tokens": np.ones(30), "output_tokens": np.ones(30), **change})
