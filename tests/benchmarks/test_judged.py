"""Forecasts are judged by what came, where it was measured."""

from datetime import timedelta

import numpy as np
import pytest

from benchmarks.accuracy.judged import above, coverage, geometric_mean, overshoot, peaks, pinball
from benchmarks.accuracy.recordings import Group, Recording
from benchmarks.accuracy.rolling import Issued
from forecaster.series import Floats
from tests.traces import MONDAY, series_of

QUANTILES = np.array([10.0, 20.0, 30.0, 40.0])


def flat(actual: Floats) -> Floats:
    """The same quantiles at each bucket, shape (origins, levels, per_day)."""
    return np.broadcast_to(QUANTILES[:, None], (len(actual), 4, actual.shape[1]))


def test_pinball_is_the_mean_over_levels_and_measured_buckets() -> None:
    actual = np.array([[20.0, np.nan], [20.0, 20.0]])
    by_hand = np.mean([0.5 * 10, 0, 0.05 * 10, 0.01 * 20])
    assert pinball(actual, flat(actual)) == pytest.approx(by_hand)


def test_pinball_of_what_was_not_measured_is_unknown() -> None:
    actual = np.full((1, 3), np.nan)
    assert np.isnan(pinball(actual, flat(actual)))


def test_coverage_is_that_of_p95() -> None:
    assert coverage(np.array([[25.0, 30.0, 31.0, np.nan]]), flat(np.zeros((1, 4)))) == pytest.approx(2 / 3)


def test_ratios_are_averaged_geometrically_and_unknown_ones_do_not_count() -> None:
    assert geometric_mean([0.5, 2.0, np.nan]) == pytest.approx(1)
    assert geometric_mean([np.nan]) is None


def test_a_peak_is_known_when_half_of_the_day_was_measured() -> None:
    days = [np.full(24, 100.0), np.full(24, 50.0), np.full(24, np.nan)]
    days[2][:11] = 400.0
    origins = tuple(MONDAY - timedelta(days=ahead) for ahead in (3, 2, 1))
    recording = Recording(name="three days", group=Group.SHORT, series=series_of(np.concatenate(days)), origins=origins)
    said = np.array([[110.0, 120.0, 130.0, 140.0], [44.0, 48.0, 49.0, 60.0], [1.0, 1.0, 1.0, 1.0]])
    found = peaks(recording, Issued(quantiles=np.empty(0), peaks=said, own=1, cpu_s=0))
    assert found.actual.tolist() == [100, 50]
    assert found.bias == pytest.approx((0.1 - 0.12) / 2)
    assert found.bias_of_sums == pytest.approx(4 / 150)
    assert above(found.p95_ratio) == pytest.approx(0.5)
    assert overshoot(found.p95_ratio) == pytest.approx((0.3 - 0.02) / 2)
    assert found.young.all()
