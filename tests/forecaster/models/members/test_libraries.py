"""Rules of the members that bring a library: what each is there for."""

import sys
import warnings

import numpy as np
import pytest

from forecaster.errors import ModelFailed
from forecaster.models.members.cycles import without_cycle
from forecaster.models.members.gaps import complete
from forecaster.models.members.holt_winters import HoltWinters
from forecaster.models.members.quiet import quiet
from forecaster.models.members.statsforecast import StatsForecast
from forecaster.models.members.unobserved_components import UnobservedComponents
from forecaster.models.past import Member
from tests.contracts.members import past
from tests.traces import series_of, usual_rpm


@pytest.mark.parametrize("member", [HoltWinters(), UnobservedComponents()])
def test_a_weekend_is_half_of_a_working_day_after_two_weeks(member: Member) -> None:
    known = past(usual_rpm(16, noise_ratio=0.01))
    week = (np.exp(member.draw(known, 7 * 24)) - known.offset).reshape(7, 24).mean(axis=1)
    np.testing.assert_allclose(week, [200] * 5 + [100] * 2, rtol=0.1)


@pytest.mark.parametrize("member", [HoltWinters(), UnobservedComponents()])
def test_a_level_that_doubled_three_days_ago_is_followed(member: Member) -> None:
    load = usual_rpm(28, noise_ratio=0.01).mean * np.where(np.arange(28 * 24) < 25 * 24, 1.0, 2.0)
    known = past(series_of(load))
    day = np.exp(member.draw(known, 24)) - known.offset
    assert day.mean() == pytest.approx(400, rel=0.2)


def test_without_its_cycle_a_usual_load_is_flat() -> None:
    line = np.log(usual_rpm(28, noise_ratio=0.02).mean)
    line[50:60] = np.nan
    rest, ahead = without_cycle(line, 24, 3_600, weekly=True)
    assert np.isnan(rest).sum() == 10
    assert np.nanstd(rest) < 0.2 * np.nanstd(line)
    monday = np.log(200 - 100 * np.cos(2 * np.pi * np.arange(24) / 24))
    np.testing.assert_allclose(np.nanmean(rest) + ahead, monday, atol=0.25)


def test_a_gap_repeats_the_season_before_and_the_first_one_the_usual_day() -> None:
    days = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0], [np.nan, np.nan]])
    assert complete(days, 1).tolist() == [1.0, 1.0, 3.0, 4.0, 3.0, 6.0, 3.0, 6.0]
    assert complete(days, 2).tolist() == [1.0, 4.0, 3.0, 4.0, 1.0, 6.0, 3.0, 4.0]


def test_a_missing_library_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsforecast.models", None)  # as where it is not installed
    with pytest.raises(ModelFailed, match=r"pip install 'forecaster\[statsforecast\]'$"):
        StatsForecast().draw(past(usual_rpm(3)), 24)


def test_libraries_are_quiet_inside_and_as_before_outside() -> None:
    with quiet():
        warnings.warn("chatter", stacklevel=1)
    with pytest.raises(UserWarning, match="news"):
        warnings.warn("news", stacklevel=1)
