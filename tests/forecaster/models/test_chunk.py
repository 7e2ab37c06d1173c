"""One answer a series, whatever happens to the others."""

import pickle
from datetime import datetime
from functools import partial

import numpy as np

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed, NotEnoughHistory
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon, State
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from forecaster.ports import ForecastModel
from forecaster.reasons import Code
from forecaster.series import Panel
from tests.traces import horizon, panel, series_of, usual_rpm

PROFILE, NAIVE = model("profile"), model("seasonal_naive")


class AfraidOf:
    """The profile model, but for one series on which its library breaks."""

    name = "afraid"
    minimum_history_s = 0

    def __init__(self, name: str) -> None:
        self._name = name

    def fit(self, panel: Panel, now: datetime) -> State:
        return PROFILE.fit(panel, now)

    def forecast(self, panel: Panel, state: State, horizon: Horizon, levels: tuple[float, ...], calendar: Calendar) -> tuple[Forecast, ...]:
        if self._name in panel.names:
            raise FloatingPointError(self._name)
        return PROFILE.forecast(panel, state, horizon, levels, calendar)


def answers(load: Panel, main: ForecastModel = PROFILE, fallback: ForecastModel = NAIVE) -> tuple[object, ...]:
    return forecast_chunk(load, horizon(), STANDARD_LEVELS, Calendar(), main, fallback)


def test_each_series_is_answered_in_order_by_the_best_that_its_history_allows() -> None:
    young, nothing = (np.full(24 * 20, np.nan) for _ in range(2))
    young[-30:] = 50.0
    good, second, none = answers(panel(usual_rpm(20), series_of(young), series_of(nothing)))
    assert isinstance(good, Forecast)
    assert (good.model, good.notes) == ("profile", ())
    assert isinstance(second, Forecast)
    assert (second.model, [note.code for note in second.notes]) == ("seasonal_naive", [Code.YOUNG_HISTORY])
    assert isinstance(none, NotEnoughHistory)
    assert str(none).startswith("c has 0.0 h of history")


def test_a_series_that_breaks_a_model_costs_the_others_nothing() -> None:
    load = panel(usual_rpm(20, seed=1), usual_rpm(20, seed=2), usual_rpm(20, seed=3))
    first, broken, last = answers(load, AfraidOf("b"))
    plain = answers(load)
    for got, expected in ((first, plain[0]), (last, plain[2])):
        assert isinstance(got, Forecast)
        assert isinstance(expected, Forecast)
        np.testing.assert_array_equal(got.values, expected.values)
    assert isinstance(broken, Forecast)
    assert broken.notes[0].code is Code.MODEL_FAILED
    assert broken.notes[0].detail == "afraid failed on b with FloatingPointError: b; forecast by seasonal_naive instead"


def test_when_the_fallback_breaks_too_its_error_is_the_answer() -> None:
    _, broken = answers(panel(usual_rpm(20), usual_rpm(20)), AfraidOf("b"), AfraidOf("b"))
    assert isinstance(broken, ModelFailed)


def test_history_at_another_step_is_answered_with_an_error() -> None:
    (answer,) = answers(panel(series_of([1.0] * 500, step_s=1_800)))
    assert isinstance(answer, ModelFailed)


def test_a_chunk_travels_to_another_process() -> None:
    run = partial(forecast_chunk, horizon=horizon(), levels=STANDARD_LEVELS, calendar=Calendar(), model=PROFILE, fallback=NAIVE)
    sent = pickle.loads(pickle.dumps((run, panel(usual_rpm(5)))))  # noqa: S301  our own bytes
    (answer,) = pickle.loads(pickle.dumps(sent[0](sent[1])))  # noqa: S301
    assert isinstance(answer, Forecast)
