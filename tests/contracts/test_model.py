"""What every model promises, whatever it is made of: one suite over all of them."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.errors import NotEnoughHistory, StateIncompatible
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon, State
from forecaster.models.catalogue import MODEL_NAMES, model
from forecaster.ports import ForecastModel
from forecaster.reasons import Code
from forecaster.series import Panel
from forecaster.units import WEEK_S
from tests.traces import MONDAY, horizon, panel, series_of, usual_rpm

UTC_DAYS = Calendar()


@pytest.fixture(params=MODEL_NAMES)
def any_model(request: pytest.FixtureRequest) -> ForecastModel:
    return model(request.param)


def forecast(any_model: ForecastModel, load: Panel, ahead: Horizon, calendar: Calendar = UTC_DAYS) -> tuple[Forecast, ...]:
    return any_model.forecast(load, any_model.fit(load, ahead.start), ahead, STANDARD_LEVELS, calendar)


def assert_equal(a: Forecast, b: Forecast, *, rtol: float = 0.0) -> None:
    np.testing.assert_allclose(a.values, b.values, rtol=rtol)
    np.testing.assert_allclose(a.window_max, b.window_max, rtol=rtol)
    for one, other in zip(a.daily_peaks, b.daily_peaks, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=rtol)
    assert a.coverage == b.coverage


def test_a_forecast_answers_what_was_asked(any_model: ForecastModel) -> None:
    ahead = horizon(steps=30, window_steps=3)
    (answer,) = forecast(any_model, panel(usual_rpm(20)), ahead)
    assert (answer.start, answer.end, answer.step_s, answer.issued_at) == (ahead.start, ahead.end, ahead.step_s, ahead.issued_at)
    assert answer.levels == STANDARD_LEVELS
    assert answer.window_s == 3 * 3_600
    assert answer.model == any_model.name
    assert answer.trained_on.end == ahead.start
    assert [peak.day.isoformat() for peak in answer.daily_peaks] == ["2026-03-02", "2026-03-03"]


def test_equal_input_gives_equal_bytes(any_model: ForecastModel) -> None:
    load, ahead = panel(usual_rpm(16)), horizon()
    assert any_model.fit(load, ahead.start) == any_model.fit(load, ahead.start)
    first, second = (forecast(any_model, load, ahead)[0] for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes()
    assert_equal(first, second)


def test_a_maximum_is_never_below_the_buckets_that_it_covers(any_model: ForecastModel) -> None:
    (answer,) = forecast(any_model, panel(usual_rpm(20, noise_ratio=0.4)), horizon(steps=48, window_steps=3))
    for later in range(3):
        assert (answer.window_max[:, : 48 - later] >= answer.values[:, later:]).all()


def test_a_daily_peak_is_never_below_a_bucket_of_its_day(any_model: ForecastModel) -> None:
    (answer,) = forecast(any_model, panel(usual_rpm(20, noise_ratio=0.4)), horizon(steps=48))
    for day, peak in enumerate(answer.daily_peaks):
        assert (peak.values >= answer.values[:, 24 * day : 24 * (day + 1)].max(axis=1)).all()


def test_what_comes_after_the_start_is_not_looked_at(any_model: ForecastModel) -> None:
    past = usual_rpm(16)
    longer = replace(past, mean=np.concatenate((past.mean, [9e6] * 24)), peak=np.concatenate((past.peak, [9e6] * 24)))
    assert_equal(forecast(any_model, panel(longer), horizon())[0], forecast(any_model, panel(past), horizon())[0])


def test_hindcasts_of_a_day_do_not_know_that_day(any_model: ForecastModel) -> None:
    """A flash crowd on the last day moves the forecast; the errors of the days before it stay what they were."""
    calm = usual_rpm(20, noise_ratio=0.0)
    crowd = calm.mean.copy()
    crowd[-24:] *= 50
    (answer,) = forecast(any_model, panel(series_of(crowd)), horizon(steps=1))
    assert answer.at_level(0.25)[0] < 50 * 200  # errors that had seen the crowd coming would have no downside


def test_a_shift_by_whole_weeks_moves_the_stamps_alone(any_model: ForecastModel) -> None:
    here, there = MONDAY, MONDAY - timedelta(seconds=5 * WEEK_S)
    one, other = (forecast(any_model, panel(usual_rpm(16, end=at, seed=3)), horizon(start=at))[0] for at in (here, there))
    assert_equal(one, other, rtol=1e-9)
    assert one.start - other.start == timedelta(weeks=5)


def test_eight_times_the_load_is_eight_times_the_forecast(any_model: ForecastModel) -> None:
    load = usual_rpm(20)
    (one,) = forecast(any_model, panel(load), horizon())
    (eight,) = forecast(any_model, panel(series_of(load.mean * 8)), horizon())  # a power of 2: no rounding for an optimiser to follow
    np.testing.assert_allclose(eight.values, one.values * 8, rtol=1e-9)
    np.testing.assert_allclose(eight.window_max, one.window_max * 8, rtol=1e-9)


def test_gaps_are_left_out_and_not_read_as_zero(any_model: ForecastModel) -> None:
    load = usual_rpm(21, noise_ratio=0.02).mean.copy()
    load[5 * 24 : 6 * 24 + 7] = np.nan
    load[::17] = np.nan
    (answer,) = forecast(any_model, panel(series_of(load)), horizon())
    (whole,) = forecast(any_model, panel(usual_rpm(21, noise_ratio=0.02)), horizon())
    np.testing.assert_allclose(answer.at_level(0.5), whole.at_level(0.5), rtol=0.15)


def test_an_outage_right_before_the_start_does_not_pull_the_forecast_down(any_model: ForecastModel) -> None:
    load = usual_rpm(21, noise_ratio=0.02).mean.copy()
    load[-30:] = np.nan
    (answer,) = forecast(any_model, panel(series_of(load)), horizon())
    (whole,) = forecast(any_model, panel(usual_rpm(21, noise_ratio=0.02)), horizon())
    assert (answer.at_level(0.5) > 0.7 * whole.at_level(0.5)).all()


def test_a_service_that_was_never_used_is_forecast_as_zero_and_says_so(any_model: ForecastModel) -> None:
    (answer,) = forecast(any_model, panel(series_of([0.0] * 24 * 9)), horizon())
    assert (answer.values == 0).all()
    assert (answer.window_max == 0).all()
    assert [note.code for note in answer.notes] == [Code.FLAT_ZERO]


def test_a_constant_load_stays_what_it_is(any_model: ForecastModel) -> None:
    (answer,) = forecast(any_model, panel(series_of([40.0] * 24 * 20)), horizon())
    np.testing.assert_allclose(answer.at_level(0.5), 40, rtol=1e-3)
    np.testing.assert_allclose(answer.at_level(0.99), 40, rtol=0.02)


@pytest.mark.parametrize("hours", [0, 1, 23])
def test_less_than_a_day_of_history_is_not_enough_for_anybody(any_model: ForecastModel, hours: int) -> None:
    load = np.full(24 * 3, np.nan)
    load[load.size - hours :] = 5.0
    with pytest.raises(NotEnoughHistory, match=rf"^a has {hours}\.0 h of history .* {any_model.name} needs (24|48) h"):
        forecast(any_model, panel(series_of(load)), horizon())


def test_the_minimum_of_history_is_enough(any_model: ForecastModel) -> None:
    days = any_model.minimum_history_s // 86_400
    (answer,) = forecast(any_model, panel(usual_rpm(days)), horizon())
    assert answer.at_level(0.95).min() > answer.at_level(0.5).min() > 0
    assert answer.coverage == (None,) * len(STANDARD_LEVELS)


def test_series_of_a_chunk_do_not_know_each_other(any_model: ForecastModel) -> None:
    one, other = usual_rpm(15, seed=1), series_of(usual_rpm(15, seed=2).mean * 30)
    ahead = horizon()
    together = forecast(any_model, panel(one, other), ahead)
    assert_equal(together[0], forecast(any_model, panel(one), ahead)[0])
    assert_equal(together[1], forecast(any_model, panel(other), ahead)[0])


def test_a_state_that_waited_in_the_store_is_as_good_as_a_fresh_one(any_model: ForecastModel) -> None:
    load, ahead = panel(usual_rpm(15)), horizon()
    fresh = any_model.fit(load, ahead.start)
    kept = State(model=str(fresh.model), version=int(fresh.version), payload=bytes(bytearray(fresh.payload)))
    one, other = (any_model.forecast(load, state, ahead, STANDARD_LEVELS, UTC_DAYS)[0] for state in (fresh, kept))
    assert_equal(one, other)


def test_a_state_of_yesterday_still_forecasts(any_model: ForecastModel) -> None:
    load, ahead = panel(usual_rpm(15)), horizon()
    state = any_model.fit(load, ahead.start - timedelta(days=1))
    assert any_model.forecast(load, state, ahead, STANDARD_LEVELS, UTC_DAYS)[0].start == ahead.start


def test_k22_a_state_that_is_not_this_models_is_refused(any_model: ForecastModel) -> None:
    load, ahead = panel(usual_rpm(9)), horizon()
    state = any_model.fit(load, ahead.start)
    strangers = (
        replace(state, model="another"),
        replace(state, version=state.version + 1),
        replace(state, payload=b"\x80torn"),
        replace(state, payload=b"[]"),
        any_model.fit(panel(usual_rpm(9), usual_rpm(9)), ahead.start),
        any_model.fit(load, ahead.start + timedelta(days=1)),
    )
    for stranger in strangers:
        with pytest.raises(StateIncompatible, match=r"fit again$"):
            any_model.forecast(load, stranger, ahead, STANDARD_LEVELS, UTC_DAYS)
