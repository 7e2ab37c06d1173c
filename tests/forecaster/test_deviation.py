"""What becomes of a deviation over the lead window, and the sentence that tells it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.deviation import Deviation
from forecaster.gains import Gains, fading
from forecaster.series import Signal

STEP_S = 300
LEARNED = Gains(leads_s=(0, 600, 1_800), short=(0.6, 0.4, 0.1), long=(0.3, 0.12, 0.1), days=9, cut=(0.4, 0.3, 0.1))
ratios = st.floats(0, 50)
medians = st.lists(st.floats(0.1, 1_000), min_size=1, max_size=12).map(np.array)
learned = st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)), min_size=3, max_size=3).map(
    lambda pairs: Gains(
        leads_s=(0, 600, 1_800),
        short=tuple(sorted((short for short, _ in pairs), reverse=True)),
        long=tuple(sorted((long for _, long in pairs), reverse=True)),
    )
)


@given(medians, learned, ratios, ratios, st.floats(0, 10), st.floats(0, 10))
def test_a_higher_ratio_over_either_span_never_lowers_the_lift(  # noqa: PLR0917  one argument a strategy
    ahead: np.ndarray, gains: Gains, short: float, long: float, more_short: float, more_long: float
) -> None:
    low = Deviation(short=short, long=long, broken=short > 1.5)
    high = Deviation(short=short + more_short, long=long + more_long, broken=short + more_short > 1.5)
    assert high.lift(ahead, gains, STEP_S) >= low.lift(ahead, gains, STEP_S) * (1 - 1e-12)


@given(medians, learned)
def test_load_as_forecast_lifts_nothing(ahead: np.ndarray, gains: Gains) -> None:
    assert Deviation(short=1, long=1).lift(ahead, gains, STEP_S) == 1


def test_a_deviation_on_a_ramp_lifts_the_top_by_what_is_left_of_it_then() -> None:
    ramp = np.array([100.0, 120.0, 200.0])
    assert Deviation(short=2, long=1).lift(ramp, LEARNED, STEP_S) == pytest.approx(2**0.4)


def test_on_a_falling_forecast_the_bucket_in_progress_counts() -> None:
    fall = np.array([200.0, 120.0, 100.0])
    assert Deviation(short=2, long=1).lift(fall, LEARNED, STEP_S) == pytest.approx(2**0.6)


def test_a_broken_forecast_is_lifted_by_all_of_the_ratio() -> None:
    assert Deviation(short=2, long=1, broken=True).lift(np.full(6, 100.0), LEARNED, STEP_S) == pytest.approx(2)


def test_a_lift_needs_a_median_above_zero() -> None:
    with pytest.raises(ValueError, match="each above 0"):
        Deviation(short=2, long=1).lift(np.array([3.0, 0.0]), LEARNED, STEP_S)


@pytest.mark.parametrize(
    ("deviation", "gains", "said"),
    [
        (
            Deviation(short=1.31, long=1.31),
            LEARNED,
            "live rpm is 1.31 x the forecast over 15 min; in the past 52% of such a deviation was still there 10 min later",
        ),
        (
            Deviation(short=1.31, long=1.1),
            fading(600),
            "live rpm is 1.31 x the forecast over 15 min; 50% of such a deviation is taken to be there 10 min later",
        ),
        (
            Deviation(short=0.95, long=2.0),
            LEARNED,
            "live rpm is 0.95 x the forecast over 15 min and 2.00 x over 120 min: 1.06 x is expected 10 min later",
        ),
        (
            Deviation(short=3.0, long=2.0, broken=True),
            LEARNED,
            "live rpm is 3.00 x the forecast over 15 min: the forecast is taken for wrong and the load is followed",
        ),
    ],
)
def test_a_deviation_is_told_in_one_sentence(deviation: Deviation, gains: Gains, said: str) -> None:
    assert deviation.told(Signal.RPM, gains, 600) == said


def test_a_load_that_vanished_has_a_deviation_too() -> None:
    assert 0 < Deviation(short=0, long=0).lift(np.full(3, 10.0), LEARNED, STEP_S) < 1e-3
