"""Rules of the coarse grid: what it averages away comes back, and what a library cannot fit is no opinion."""

import numpy as np
import pytest

from forecaster.models.members.coarse import coarse
from forecaster.series import Floats
from tests.contracts.members import past
from tests.traces import series_of, usual_rpm

DAY = 288
HALF_HOUR_S = 1_800


def last_day(line: Floats, slots: int) -> Floats:
    return line[-48:][np.arange(slots) % 48]


@pytest.mark.parametrize(("step_s", "ratio"), [(60, 30), (300, 6), (900, 2), (1_200, 1), (3_600, 1), (86_400, 1)])
def test_a_day_is_whole_coarse_slots_of_at_most_the_step_asked_for(step_s: int, ratio: int) -> None:
    grid = coarse(past(usual_rpm(3, step_s=step_s)), HALF_HOUR_S, 28)
    assert (grid.ratio, grid.step_s, grid.per_day) == (ratio, ratio * step_s, 86_400 // step_s // ratio)


def test_a_cron_spike_of_five_minutes_survives_the_half_hour() -> None:
    load = np.full(28 * DAY, 100.0)
    load[102::DAY] = 1_000.0
    known = past(series_of(load, step_s=300))
    drawn = np.exp(coarse(known, HALF_HOUR_S, 28).drawn(DAY, 2, last_day)) - known.offset
    assert drawn[0, 102] > 800
    assert np.delete(drawn[0], np.arange(96, 108)) == pytest.approx(100)


def test_half_hours_of_which_less_than_half_was_measured_are_gaps() -> None:
    load = np.full(3 * DAY, 100.0)
    load[:4] = np.nan
    load[6:9] = np.nan
    grid = coarse(past(series_of(load, step_s=300)), HALF_HOUR_S, 28)
    assert np.flatnonzero(np.isnan(grid.lines[0])).tolist() == [0]


def test_a_path_starts_from_the_first_whole_day() -> None:
    lengths = []

    def path(line: Floats, slots: int) -> Floats:
        lengths.append(line.size)
        return np.zeros(slots)

    coarse(past(usual_rpm(9), series_of(np.concatenate((np.full(100, np.nan), np.ones(116))))), 3_600, 28).drawn(24, 2, path)
    assert lengths == [9 * 24, 4 * 24]  # 116 hours are four whole days


@pytest.mark.parametrize("failure", [ValueError, np.linalg.LinAlgError, RuntimeError, FloatingPointError])
def test_a_line_on_which_a_library_gives_up_is_no_opinion(failure: type[Exception]) -> None:
    def path(line: Floats, slots: int) -> Floats:
        if line.std() > 0.5:
            raise failure
        return np.full(slots, line.mean())

    wild = series_of(np.where(np.arange(9 * 24) % 5, 1.0, 900.0))
    drawn = coarse(past(wild, usual_rpm(9)), 3_600, 28).drawn(24, 2, path)
    assert np.isnan(drawn[0]).all()
    assert np.isfinite(drawn[1]).all()


@pytest.mark.parametrize("end", [np.nan, np.inf, 9.0, -12.0])
def test_a_path_that_diverges_is_no_opinion(end: float) -> None:
    def path(line: Floats, slots: int) -> Floats:
        return np.append(np.full(slots - 1, line.mean()), end)

    assert np.isnan(coarse(past(usual_rpm(9)), 3_600, 28).drawn(24, 2, path)).all()
