"""What every member of the ensemble promises, whatever it is made of. Costly ones are asked the few questions that break libraries."""

import importlib
import inspect
import pkgutil
from datetime import timedelta

import numpy as np
import pytest

from forecaster.models import catalogue, members
from forecaster.models.members.gbm import Gbm
from forecaster.models.members.statsforecast import StatsForecast
from forecaster.models.past import Member, Past
from forecaster.series import Floats, Series
from tests.contracts.members import ALL, QUICK, member, past
from tests.traces import MONDAY, series_of, usual_rpm


@pytest.fixture(params=ALL)
def any_member(request: pytest.FixtureRequest) -> Member:
    return member(request.param)


@pytest.fixture(params=QUICK)
def quick_member(request: pytest.FixtureRequest) -> Member:
    return member(request.param)


def load(member: Member, known: Past, reach: int) -> Floats:
    """Drawn medians in the signal's unit, shape (series, reach)."""
    return np.exp(member.draw(known, reach)) - known.offset[:, None]


def assert_sane(member: Member, *series: Series, reach: int = 48) -> None:
    """Each row is a path near what was measured, or no opinion at all."""
    known = past(*series)
    drawn = member.draw(known, reach)
    assert drawn.shape == (len(series), reach)
    assert drawn.dtype == np.float64
    for row, line in zip(drawn, known.lines, strict=True):
        assert np.isnan(row).all() or np.isfinite(row).all()
        if np.isfinite(row).all():
            assert np.nanmin(line) - 2.4 <= row.min()  # rough, but no path of another world: a factor of eleven
            assert row.max() <= np.nanmax(line) + 2.4


def test_every_member_stands_in_the_catalogue() -> None:
    """And so in this suite."""
    modules = [importlib.import_module(f"{members.__name__}.{found.name}") for found in pkgutil.iter_modules(members.__path__)]
    drawing = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass) if hasattr(kind, "draw")}
    made = {type(catalogue.member(name)) for name in ALL if catalogue.is_installed(name)}
    assert drawing - made <= {Gbm, StatsForecast}  # those that need an extra


def test_the_usual_day_is_forecast_and_twice_is_the_same(any_member: Member) -> None:
    wednesday = MONDAY + timedelta(days=2)
    known = past(usual_rpm(28, end=wednesday, noise_ratio=0.02), at=wednesday)
    first = load(any_member, known, 24)
    assert first.tobytes() == load(any_member, known, 24).tobytes()
    expected = 200 - 100 * np.cos(2 * np.pi * np.arange(24) / 24)
    assert np.abs(first[0] - expected).mean() < 0.15 * 200


def test_series_of_a_chunk_do_not_know_each_other(any_member: Member) -> None:
    one, other = usual_rpm(15, seed=1), series_of(usual_rpm(15, seed=2).mean * 30)
    together = past(one, other)
    drawn = any_member.draw(together, 24)
    np.testing.assert_allclose(drawn[:1], any_member.draw(together.only(np.array([0])), 24), rtol=1e-9)
    np.testing.assert_allclose(drawn[1:], any_member.draw(together.only(np.array([1])), 24), rtol=1e-9)


def test_eight_times_the_load_is_eight_times_the_forecast(any_member: Member) -> None:
    one = usual_rpm(20)
    eight = series_of(one.mean * 8)
    drawn = load(any_member, past(one), 24)
    np.testing.assert_allclose(load(any_member, past(eight), 24), 8 * drawn, rtol=2e-3)  # optimisers follow the last digit


def test_a_series_that_breaks_libraries_takes_no_other_with_it(any_member: Member) -> None:
    usual = usual_rpm(16)
    nothing = series_of(np.full(len(usual), np.nan))
    zero = series_of(np.zeros(len(usual)))
    drawn = any_member.draw(past(nothing, zero, usual), 24)
    assert np.isnan(drawn[0]).all()
    assert np.isnan(drawn[1]).all() or np.allclose(drawn[1], 0.0, atol=0.1)  # log(0 + 1), and what a global model adds
    assert np.isfinite(drawn[2]).all()


def test_a_reach_of_one_slot_or_of_nine_days_is_the_same_path(quick_member: Member) -> None:
    known = past(usual_rpm(21))
    longest = quick_member.draw(known, 9 * 24)
    assert longest.shape == (1, 9 * 24)
    for reach in (1, 7, 24, 31):
        np.testing.assert_allclose(quick_member.draw(known, reach), longest[:, :reach], rtol=1e-9)


@pytest.mark.parametrize("hours", [1, 24, 48, 61, 8 * 24, 14 * 24, 60 * 24])
def test_any_length_of_history_is_forecast_or_no_opinion(quick_member: Member, hours: int) -> None:
    assert_sane(quick_member, series_of(usual_rpm(60).mean[-hours:]), reach=26)


@pytest.mark.parametrize("step_s", [60, 300, 1_200, 7_200, 86_400])
def test_any_step_that_divides_a_day_is_forecast(quick_member: Member, step_s: int) -> None:
    assert_sane(quick_member, usual_rpm(15, step_s=step_s), reach=86_400 // step_s + 3)


ODD = {
    "zero": np.zeros(24 * 9),
    "constant": np.full(24 * 20, 40.0),
    "one spike": np.where(np.arange(24 * 20) == 400, 5_000.0, 0.0),
    "a launch on the last day": np.where(np.arange(24 * 20) < 24 * 19, 10.0, 500.0),
    "on and off": np.where(np.arange(24 * 20) % 24 < 3, 900.0, 0.0),
    "counts": np.random.default_rng(5).poisson(0.3, 24 * 20).astype(float),
    "wild": np.random.default_rng(6).lognormal(0, 4, 24 * 20),
    "one measured bucket": np.where(np.arange(24 * 20) == 100, 7.0, np.nan),
    "leading zeros": np.where(np.arange(24 * 20) < 24 * 12, 0.0, usual_rpm(20).mean),
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_loads_are_forecast_or_no_opinion(quick_member: Member, odd: str) -> None:
    assert_sane(quick_member, series_of(ODD[odd]))


@pytest.mark.parametrize("odd", ["constant", "one spike", "wild"])
def test_odd_loads_break_no_costly_member(any_member: Member, odd: str) -> None:
    if any_member.name not in QUICK:
        assert_sane(any_member, series_of(ODD[odd]))


def test_a_constant_load_stays_what_it_is(any_member: Member) -> None:
    known = past(series_of(ODD["constant"]))
    drawn = load(any_member, known, 24)
    assert np.isnan(drawn).all() or np.allclose(drawn, 40, rtol=0.1)


def test_gaps_are_left_out_and_not_read_as_zero(any_member: Member) -> None:
    whole = usual_rpm(21, noise_ratio=0.02)
    holed = whole.mean.copy()
    holed[5 * 24 : 6 * 24 + 7] = np.nan
    holed[::17] = np.nan
    np.testing.assert_allclose(load(any_member, past(series_of(holed)), 24), load(any_member, past(whole), 24), rtol=0.15)


@pytest.mark.parametrize("hours", [5, 30])
def test_an_outage_right_before_the_origin_does_not_pull_the_forecast_down(any_member: Member, hours: int) -> None:
    whole = usual_rpm(21, noise_ratio=0.02)
    holed = whole.mean.copy()
    holed[-hours:] = np.nan
    assert (load(any_member, past(series_of(holed)), 24) > 0.7 * load(any_member, past(whole), 24)).all()


def test_a_shift_by_whole_weeks_changes_nothing(any_member: Member) -> None:
    there = MONDAY - timedelta(weeks=5)
    here, before = (any_member.draw(past(usual_rpm(16, end=at, seed=3), at=at), 24) for at in (MONDAY, there))
    np.testing.assert_allclose(here, before, rtol=1e-6)


def test_what_comes_after_the_origin_is_not_looked_at(quick_member: Member) -> None:
    usual = usual_rpm(16)
    longer = series_of(np.concatenate((usual.mean, [9e6] * 24)), end=MONDAY + timedelta(days=1))
    np.testing.assert_array_equal(quick_member.draw(past(longer), 24), quick_member.draw(past(usual), 24))


def test_earlier_is_what_was_known_then(quick_member: Member) -> None:
    """As when hindcasts are drawn from one past."""
    usual = usual_rpm(24)
    then = MONDAY - timedelta(days=3)
    known = past(usual)
    np.testing.assert_allclose(
        quick_member.draw(known.earlier(3), 24) - np.log(known.offset),
        quick_member.draw(past(usual, at=then), 24) - np.log(past(usual, at=then).offset),
        atol=0.05,  # offsets are those of the longer history
    )


def test_nothing_measured_is_no_opinion(any_member: Member) -> None:
    assert np.isnan(any_member.draw(past(series_of(np.full(24, np.nan))), 24)).all()


def test_local_days_repeat_by_the_clock_on_the_wall(quick_member: Member) -> None:
    """A day that is busy from 9 to 17 in Paris stays so after the change of the clock on 29 March 2026."""
    at = MONDAY + timedelta(days=28, hours=-2)  # midnight of 30 March in Paris, summer time
    hours = np.arange(-28 * 24, 0)
    utc = np.array([(at + timedelta(hours=int(hour))) for hour in hours])
    offset = np.array([1 if moment < MONDAY + timedelta(days=27, hours=1) else 2 for moment in utc])
    wall = np.array([moment.hour for moment in utc]) + offset
    busy = np.where((wall % 24 >= 9) & (wall % 24 < 17), 400.0, 100.0)
    drawn = load(quick_member, past(series_of(busy, end=at), at=at, zone="Europe/Paris"), 24)[0]
    assert (drawn[10:16] > 300).all()
    assert (drawn[:7] < 150).all()
    assert (drawn[19:] < 150).all()
