"""Whether production confirms what a replica is said to carry."""

from datetime import UTC, datetime

import numpy as np
import pytest

from forecaster.confirmation import Confirmation, Finding, confirmation
from forecaster.series import Floats, Series, Signal

START = datetime(2026, 3, 2, tzinfo=UTC)
DAY = 288
HOUR = 12
CAPACITY = 100.0


def series_of(values: Floats | list[float], signal: Signal) -> Series:
    array = np.asarray(values, dtype=np.float64)
    return Series(signal=signal, start=START, step_s=300, mean=array, peak=array)


def confirmed(per_replica: Floats, queue: Floats | None, *, replicas: float = 4.0, refused: Floats | None = None) -> Confirmation:
    pressures = [series_of(queue, Signal.QUEUE_DEPTH)] if queue is not None else []
    pressures += [series_of(refused, Signal.REFUSED)] if refused is not None else []
    ready = series_of(np.full(per_replica.size, replicas), Signal.READY)
    return confirmation(series_of(per_replica * replicas, Signal.RPM), ready, tuple(pressures), CAPACITY)


def busy(ratio: float, buckets: int = HOUR) -> Floats:
    """A quiet day at a fifth of the capacity with so many buckets at a share of it."""
    load = np.full(DAY, 20.0)
    load[100 : 100 + buckets] = ratio * CAPACITY
    return load


CALM = np.zeros(DAY)


@pytest.mark.parametrize("ratio", [0.86, 1.0, 1.14])
def test_an_hour_in_all_near_the_capacity_with_nothing_waiting_confirms_it(ratio: float) -> None:
    found = confirmed(busy(ratio), CALM)
    assert found.finding is Finding.CONFIRMED
    assert found.carried_ratio == pytest.approx(ratio)


def test_less_than_an_hour_confirms_nothing() -> None:
    assert confirmed(busy(1.0, HOUR - 1), CALM).finding is Finding.UNKNOWN


def test_a_fleet_that_was_never_that_busy_says_nothing() -> None:
    assert confirmed(busy(0.84), CALM).finding is Finding.UNKNOWN


def test_more_than_the_capacity_without_a_queue_says_that_it_is_too_low() -> None:
    assert confirmed(busy(1.3), CALM).finding is Finding.TOO_LOW


def test_requests_that_wait_at_seven_tenths_say_that_it_is_too_high() -> None:
    load = busy(0.7)
    assert confirmed(load, np.where(load > 50, 8.0, 0.0)).finding is Finding.TOO_HIGH


def test_a_queue_that_is_the_exception_at_that_load_is_a_start_or_an_accident() -> None:
    load = busy(0.7, 4 * HOUR)
    queue = np.zeros(DAY)
    queue[100:112] = 8.0
    assert confirmed(load, queue).finding is Finding.UNKNOWN


def test_requests_that_wait_at_the_capacity_are_what_capacity_means() -> None:
    load = busy(1.0, 3 * HOUR)
    queue = np.zeros(DAY)
    queue[100:110] = 8.0
    assert confirmed(load, queue).finding is Finding.CONFIRMED


def test_where_nobody_measures_what_waits_nothing_is_confirmed() -> None:
    found = confirmed(busy(1.0), None)
    assert (found.finding, found.carried_ratio, found.measured_h) == (Finding.UNKNOWN, None, 0.0)


def test_a_queue_that_was_not_measured_is_not_empty() -> None:
    assert confirmed(busy(1.0), np.full(DAY, np.nan)).finding is Finding.UNKNOWN


def test_one_waiting_request_now_and_then_is_no_queue() -> None:
    assert confirmed(busy(1.0), np.full(DAY, 0.4)).finding is Finding.CONFIRMED


def test_refusals_count_as_waiting_from_a_hundredth_of_the_load_on() -> None:
    load = busy(0.7)
    assert confirmed(load, None, refused=load * 4 * 0.005).finding is Finding.UNKNOWN
    assert confirmed(load, None, refused=load * 4 * 0.02).finding is Finding.TOO_HIGH


def test_replicas_that_nobody_saw_or_that_are_none_confirm_nothing() -> None:
    for replicas in (0.0, np.nan):
        load, ready = series_of(busy(1.0), Signal.RPM), series_of(np.full(DAY, replicas), Signal.READY)
        assert confirmation(load, ready, (series_of(CALM, Signal.QUEUE_DEPTH),), CAPACITY).finding is Finding.UNKNOWN


def test_series_on_unlike_grids_are_refused() -> None:
    with pytest.raises(ValueError, match="one grid"):
        confirmation(series_of(busy(1.0), Signal.RPM), series_of(CALM[:10], Signal.READY), (), CAPACITY)
