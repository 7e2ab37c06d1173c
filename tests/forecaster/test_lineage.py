"""The load of a route under all the names that it had."""

from datetime import timedelta

import numpy as np
import pytest

from forecaster.lineage import Lineage, began, continued, inherited
from forecaster.marks import Mark, MarkKind
from forecaster.series import Series, Signal, Window
from tests.traces import MONDAY, series_of

NAN = np.nan


def load(*values: float) -> Series:
    return series_of(list(values))


def route(own: Series, *before: tuple[Series, float]) -> list[float]:
    return [float(value) for value in continued(own, before).mean]


def test_before_its_first_traffic_a_workload_has_its_share_of_the_older_one() -> None:
    assert route(load(NAN, NAN, 4, 5), (load(10, 20, 30, 40), 0.3)) == [3, 6, 4, 5]


def test_own_samples_win_and_nothing_is_added_to_them() -> None:
    np.testing.assert_array_equal(route(load(NAN, 4, NAN, 5), (load(10, 20, 30, 40), 1)), [10, 4, NAN, 5])


def test_zeros_of_a_new_name_that_idles_are_not_its_traffic() -> None:
    assert route(load(0, 0, 4, 5), (load(10, 20, 30, 40), 0.5)) == [5, 10, 4, 5]
    assert began(load(0, 0, 4)) == MONDAY - timedelta(hours=1)
    assert began(load(0, NAN)) == MONDAY


def test_several_older_ones_add_up_and_one_that_was_not_there_yet_adds_nothing() -> None:
    assert route(load(NAN, NAN, NAN, 5), (load(10, 20, 30, NAN), 1), (load(NAN, 1, 1, 1), 0.5)) == [10, 20.5, 30.5, 5]


def test_what_one_of_several_did_not_measure_is_unknown() -> None:
    np.testing.assert_array_equal(route(load(NAN, NAN, NAN, 5), (load(10, 20, 30, 40), 1), (load(2, NAN, 2, 2), 1)), [12, NAN, 32, 5])


def test_where_nothing_is_kept_of_the_older_ones_the_history_is_its_own() -> None:
    np.testing.assert_array_equal(route(load(NAN, 4), (load(NAN, NAN), 1)), [NAN, 4])
    np.testing.assert_array_equal(route(load(NAN, 4)), [NAN, 4])


def test_peaks_go_over_like_means() -> None:
    older = Series(signal=Signal.RPM, start=MONDAY - timedelta(hours=2), step_s=3_600, mean=np.array([10.0, 20]), peak=np.array([30.0, 40]))
    assert continued(load(NAN, 5), [(older, 0.1)]).peak.tolist() == [3, 5]


def test_marks_go_over_as_far_as_history_does() -> None:
    hour = timedelta(hours=1)
    one, two = (
        Mark(kind=MarkKind.OUTAGE, span=Window(start=MONDAY + a * hour, end=MONDAY + b * hour), signal=Signal.RPM, at=MONDAY)
        for a, b in ((0, 3), (2, 4))
    )
    assert [mark.span for mark in inherited([one, two], MONDAY + 2 * hour)] == [Window(start=MONDAY, end=MONDAY + 2 * hour)]


def test_a_share_is_above_zero() -> None:
    with pytest.raises(ValueError, match=r"lineage\.share_ratio must be above 0"):
        Lineage(name="old", share_ratio=0)
