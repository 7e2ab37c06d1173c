"""Faults that others met when they forecast load: docs/scenarios.md says who reported each."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError, ModelFailed
from forecaster.forecast import Forecast, Issued
from forecaster.history import gaps, prepare_alone
from forecaster.models.catalogue import MODEL_NAMES, model
from forecaster.models.chunk import forecast_chunk
from forecaster.ports import ForecastModel
from forecaster.reasons import Code
from forecaster.series import Series
from forecaster.units import DAY_S
from tests.asking import answers, asked, issued
from tests.asking import forecast as forecast_by
from tests.contracts.models import any_model
from tests.forecaster.models.broken import Broken, Flat, ensemble_of
from tests.traces import MONDAY, horizon, panel, series_of, usual_rpm

DAY = timedelta(days=1)
EIGHT_WEEKS_S = 56 * DAY_S
NEW_YORK = Calendar(zone="America/New_York")


def answered(
    load: Series, *, steps: int = 24, calendar: Calendar | None = None, main: ForecastModel | None = None
) -> Forecast | ForecasterError:
    """What the forecast job gets for one series at its end."""
    request = asked(horizon(start=load.end, step_s=load.step_s, steps=steps), calendar=calendar)
    known = panel(prepare_alone(load, load.end, EIGHT_WEEKS_S))
    (answer,) = forecast_chunk(known, (None,), request, main or model("ensemble"), model("seasonal_naive"))
    return answer.forecast if isinstance(answer, Issued) else answer


def forecast(load: Series, *, steps: int = 24, calendar: Calendar | None = None) -> Forecast:
    answer = answered(load, steps=steps, calendar=calendar)
    assert isinstance(answer, Forecast), answer
    return answer


def test_k08_short_gaps_are_drawn_through_and_long_ones_left_out_and_told() -> None:
    whole = usual_rpm(28, step_s=900)
    load = whole.mean.copy()
    load[500:502] = np.nan
    load[96 * 20 : 96 * 21] = np.nan
    known = prepare_alone(series_of(load, step_s=900), MONDAY, EIGHT_WEEKS_S)
    assert not np.isnan(known.mean[500:502]).any()
    assert np.isnan(known.mean[96 * 20 : 96 * 21]).all()
    assert [reason.code for reason in gaps(known)] == [Code.GAPS_IN_HISTORY]
    got, expected = (forecast(s, steps=96).at_level(0.5) for s in (series_of(load, step_s=900), whole))
    np.testing.assert_allclose(got, expected, rtol=0.05)


def test_k12_under_two_seasons_the_forecast_says_so_and_covers_the_last_day() -> None:
    load = usual_rpm(2).mean.copy()
    load[:20] = np.nan
    answer = forecast(series_of(load))
    assert answer.notes[0].code is Code.YOUNG_HISTORY
    assert answer.notes[0].detail == "a has 1.2 days of history, under a week: what weekdays and weekends do to it is not known yet"
    assert answer.at_level(0.95).max() >= np.nanmax(load)


def test_k12_a_model_that_needs_two_seasons_leaves_it_to_the_fallback_which_says_why() -> None:
    answer = answered(usual_rpm(1), main=model("holt_winters"))
    assert isinstance(answer, Forecast)
    assert answer.model == "seasonal_naive"
    assert answer.notes[0].detail.endswith("forecast by seasonal_naive instead")


def test_k14_a_flat_zero_load_divides_nothing_by_zero() -> None:
    answer = forecast(series_of([0.0] * 24 * 28))
    assert (answer.values == 0).all()
    assert answer.notes[0].code is Code.FLAT_ZERO


def test_zeros_are_known_since_they_were_measured_and_not_since_history_was_asked_for() -> None:
    answer = forecast(series_of([np.nan] * 24 * 14 + [0.0] * 24 * 14))
    assert answer.trained_on.length_s == 14 * 86_400


@pytest.mark.parametrize("factor", [5.0, 0.1])
def test_k15_one_abnormal_day_moves_the_next_day_by_less_than_a_quarter(factor: float) -> None:
    load = usual_rpm(28).mean.copy()
    usual = forecast(series_of(load)).at_level(0.5)
    load[-24:] *= factor
    np.testing.assert_allclose(forecast(series_of(load)).at_level(0.5), usual, rtol=0.25)


def test_k15_one_abnormal_day_last_week_moves_nothing() -> None:
    load = usual_rpm(28).mean.copy()
    usual = forecast(series_of(load)).at_level(0.5)
    load[-24 * 7 : -24 * 6] *= 5
    np.testing.assert_allclose(forecast(series_of(load)).at_level(0.5), usual, rtol=0.1)


def test_k16_a_level_shift_by_half_is_followed_within_three_days() -> None:
    load = usual_rpm(31).mean.copy()
    usual = forecast(series_of(load)).at_level(0.5)
    load[-3 * 24 :] *= 1.5
    np.testing.assert_allclose(forecast(series_of(load)).at_level(0.5), 1.5 * usual, rtol=0.1)


@pytest.mark.parametrize(("sunday", "hours"), [(datetime(2026, 3, 8, 5, tzinfo=UTC), 23), (datetime(2026, 11, 1, 4, tzinfo=UTC), 25)])
def test_k17_the_day_of_a_clock_change_has_its_own_length_and_its_peak_at_the_local_hour(sunday: datetime, hours: int) -> None:
    offset_s = -5 * 3_600 if hours == 23 else -4 * 3_600
    load = usual_rpm(28, end=sunday, zone_s=offset_s, noise_ratio=0.01)
    answer = forecast(load, steps=72, calendar=NEW_YORK)
    day, monday = answer.daily_peaks[0], answer.daily_peaks[1]
    assert day.covers.length_s == hours * 3_600
    assert day.zone == "America/New_York"
    assert NEW_YORK.local(monday.at).hour == 12  # by the wall clock of the new season
    assert monday.at_level(0.5) == pytest.approx(300, rel=0.1)


def test_k17_history_over_a_clock_change_keeps_its_local_hours() -> None:
    """Ten days after the change, 18 of 28 days of history still have their noon at another hour of UTC."""
    change, end = datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 3, 18, 4, tzinfo=UTC)
    before = usual_rpm(18, end=change, zone_s=-5 * 3_600, noise_ratio=0.01).mean
    after = usual_rpm(10, end=end, zone_s=-4 * 3_600, noise_ratio=0.01).mean[-int((end - change).total_seconds() // 3_600) :]
    answer = forecast(series_of(np.concatenate((before, after)), end=end), calendar=NEW_YORK)
    expected = usual_rpm(1, end=end + DAY, zone_s=-4 * 3_600, noise_ratio=0.0).mean
    np.testing.assert_allclose(answer.at_level(0.5), expected, rtol=0.06)


def test_k17_a_leap_day_is_a_day() -> None:
    load = usual_rpm(28, end=datetime(2028, 2, 29, tzinfo=UTC))
    assert [peak.day.isoformat() for peak in forecast(load, steps=48).daily_peaks] == ["2028-02-29", "2028-03-01"]


def test_k20_a_negative_forecast_is_zero_and_a_huge_one_an_error() -> None:
    load = panel(usual_rpm(10))
    below, zero = (forecast_by(ensemble_of(Flat(load=level)), load) for level in (-50.0, 0.0))
    np.testing.assert_allclose(below.at_level(0.5), zero.at_level(0.5), rtol=0.05, atol=1)
    for level in (1e9, np.inf, np.nan):
        (answer,) = answers(ensemble_of(Flat(load=level)), load)
        assert isinstance(answer, ModelFailed)
        assert str(answer).startswith("no member of ensemble has an opinion on a")


def test_k20_a_member_that_runs_away_moves_no_forecast() -> None:
    load, honest = panel(usual_rpm(10)), ensemble_of(*(voice.member for voice in model("seasonal_naive").voices))
    with_it = ensemble_of(*(voice.member for voice in honest.voices), Flat(load=1e9))
    np.testing.assert_allclose(forecast_by(with_it, load).values, forecast_by(honest, load).values)


def test_k20_when_every_model_fails_the_answer_is_a_typed_error_and_not_a_crash() -> None:
    load = panel(usual_rpm(10))
    (answer,) = forecast_chunk(load, (None,), asked(), Broken(), Broken())
    assert isinstance(answer, ModelFailed)
    assert str(answer).startswith("broken failed on a with ZeroDivisionError")


def test_l04_zeros_before_the_first_request_train_nothing() -> None:
    load = usual_rpm(28).mean.copy()
    since_launch = forecast(series_of(load[-24 * 9 :]))
    load[: 24 * 19] = 0.0
    padded = forecast(series_of(load))
    np.testing.assert_allclose(padded.values, since_launch.values)


@pytest.mark.parametrize("step_s", [60, 900, 3_600, 21_600])
def test_l10_a_forecast_is_stamped_in_its_own_steps(step_s: int) -> None:
    load = usual_rpm(4, step_s=step_s, end=MONDAY + timedelta(hours=6))
    answer = forecast(load, steps=DAY_S // step_s)
    assert answer.end - answer.start == DAY
    assert answer.daily_peaks[0].at - MONDAY == pytest.approx(timedelta(hours=12), abs=timedelta(hours=1, seconds=step_s))


def test_l11_a_steady_decline_ends_at_zero_and_not_below() -> None:
    load = np.maximum(0.0, np.linspace(100, -20, 24 * 21))
    answer = forecast(series_of(load), steps=48)
    assert answer.values.min() >= 0
    assert answer.at_level(0.5).max() < 5


def test_l12_a_constant_load_is_forecast_as_that_constant() -> None:
    np.testing.assert_allclose(forecast(series_of([12.5] * 24 * 20)).at_level(0.5), 12.5)


def test_l13_a_model_that_raises_does_not_answer_and_the_fallback_says_so() -> None:
    answer = answered(usual_rpm(20), main=Broken())
    assert isinstance(answer, Forecast)
    assert answer.model == "seasonal_naive"
    assert answer.notes[0].code is Code.MODEL_FAILED


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Kiritimati"])
def test_l14_local_days_join_without_gap_wherever_midnight_is(zone: str) -> None:
    load = usual_rpm(10, end=MONDAY + timedelta(hours=17))
    answer = forecast(load, steps=60, calendar=Calendar(zone=zone))
    covers = [peak.covers for peak in answer.daily_peaks]
    assert (covers[0].start, covers[-1].end) == (answer.start, answer.end)
    assert all(one.end == next_one.start for one, next_one in pairwise(covers))


def test_l15_a_week_that_grows_is_followed() -> None:
    """Sixty per cent in two weeks, as one vendor's mid-size models did."""
    steady = usual_rpm(21, noise_ratio=0.03).mean
    growth = np.concatenate((np.ones(7 * 24), np.linspace(1, 1.6, 14 * 24)))
    answer = forecast(series_of(steady * growth))
    actual = usual_rpm(1, end=MONDAY + DAY, noise_ratio=0.0).mean * 1.62
    np.testing.assert_allclose(answer.at_level(0.5), actual, rtol=0.1)
    assert (answer.at_level(0.95) > actual).mean() > 0.9


def test_l17_a_young_history_gets_a_wider_margin() -> None:
    young, old = forecast(usual_rpm(1)), forecast(usual_rpm(28))
    assert young.notes[0].code is Code.YOUNG_HISTORY
    margin_young, margin_old = (answer.at_level(0.95) / answer.at_level(0.5) for answer in (young, old))
    assert margin_young.min() > margin_old.max()


def test_l16_when_errors_grow_the_quantiles_follow_within_a_week() -> None:
    """Five times the noise for a week: the margin is twice what it was, and P95 holds nine in ten buckets of the day that follows."""
    calm, noisy = usual_rpm(36, noise_ratio=0.03, seed=4).mean, usual_rpm(36, noise_ratio=0.15, seed=4).mean
    grown = np.concatenate((calm[: 28 * 24], noisy[28 * 24 : 35 * 24]))
    before, after = (forecast(series_of(load, end=MONDAY)) for load in (calm[: 35 * 24], grown))
    margins = [answer.at_level(0.95) / answer.at_level(0.5) - 1 for answer in (before, after)]
    assert margins[1].mean() > 2 * margins[0].mean()


@pytest.mark.parametrize("name", [name for name in MODEL_NAMES if name != "naive_day"])
def test_l18_a_saturday_is_forecast_as_a_saturday(name: str) -> None:
    saturday = MONDAY + timedelta(days=5)
    load = panel(usual_rpm(28, end=saturday, noise_ratio=0.02))
    (answer,) = issued(any_model(name), load, asked(horizon(start=saturday, steps=72)))
    peaks = [peak.at_level(0.5) for peak in answer.forecast.daily_peaks]
    assert peaks[0] == pytest.approx(150, rel=0.15)
    assert peaks[2] == pytest.approx(300, rel=0.15)
