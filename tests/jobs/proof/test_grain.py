"""How fine a history is, and what it is joined to."""

import numpy as np
import pytest

from forecaster.series import Floats
from jobs.proof.grain import coarser, grain_min


def noise(n: int) -> Floats:
    values: Floats = np.random.default_rng(3).uniform(1, 9, n)
    return values


def test_values_that_change_every_minute_are_minutes() -> None:
    assert grain_min(noise(600)) == 1


@pytest.mark.parametrize("step_min", [2, 5, 10, 60])
def test_values_that_repeat_are_as_coarse_as_their_changes(step_min: int) -> None:
    assert grain_min(np.repeat(noise(100), step_min)[3:]) == step_min


def test_values_with_holes_between_them_are_as_coarse_as_these() -> None:
    minutes = np.full(1_500, np.nan)
    minutes[::15] = noise(100)
    assert grain_min(minutes) == 15


def test_a_gauge_that_seldom_changes_is_not_coarse() -> None:
    steps = np.random.default_rng(4).integers(1, 30, 200)
    assert grain_min(np.repeat(np.arange(200.0), steps)) == 1


def test_few_changes_show_nothing() -> None:
    assert grain_min(np.repeat(noise(10), 60)) == 1
    assert grain_min(np.full(90, np.nan)) == 1


def test_a_bucket_is_the_mean_of_what_was_measured_in_it() -> None:
    joined = coarser(np.array([1.0, 3.0, np.nan, 5.0, np.nan, np.nan, 7.0]), 2)
    assert np.array_equal(joined, [2.0, 5.0, np.nan, 7.0], equal_nan=True)
