"""One answer a series, whatever happens to the others."""

import pickle
from datetime import UTC, datetime
from functools import partial

import numpy as np

from forecaster.errors import ForecasterError, ModelFailed, NotEnoughHistory
from forecaster.forecast import Horizon, Issued, State
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from forecaster.ports import ForecastModel
from forecaster.reasons import Code
from forecaster.series import Panel
from tests.asking import asked
from tests.forecaster.models.broken import AfraidOf, Broken
from tests.traces import panel, series_of, usual_rpm

PROFILE, WINTERS, NAIVE = model("profile"), model("holt_winters"), model("seasonal_naive")


def answers(load: Panel, main: ForecastModel = PROFILE, fallback: ForecastModel = NAIVE) -> tuple[Issued | ForecasterError, ...]:
    return forecast_chunk(load, (None,) * len(load.names), asked(), main, fallback)


def test_each_series_is_answered_in_order_by_the_best_that_its_history_allows() -> None:
    young, nothing = (np.full(24 * 20, np.nan) for _ in range(2))
    young[-30:] = 50.0
    good, second, none = answers(panel(usual_rpm(20), series_of(young), series_of(nothing)), WINTERS)
    assert isinstance(good, Issued)
    assert (good.forecast.model, good.forecast.notes) == ("holt_winters", ())
    assert isinstance(second, Issued)
    assert second.forecast.model == "seasonal_naive"
    assert second.forecast.notes[0].code is Code.MODEL_FAILED
    assert second.forecast.notes[0].detail.startswith("no member of holt_winters has an opinion on b")
    assert second.forecast.notes[0].detail.endswith("; forecast by seasonal_naive instead")
    assert isinstance(none, NotEnoughHistory)
    assert str(none).startswith("c has 0.0 h of history")


def test_a_series_that_breaks_a_model_costs_the_others_nothing() -> None:
    load = panel(usual_rpm(20, seed=1), usual_rpm(20, seed=2), usual_rpm(20, seed=3))
    first, broken, last = answers(load, AfraidOf(afraid_of="b", main=PROFILE))
    plain = answers(load)
    for got, expected in ((first, plain[0]), (last, plain[2])):
        assert isinstance(got, Issued)
        assert isinstance(expected, Issued)
        np.testing.assert_allclose(got.forecast.values, expected.forecast.values)
        assert got.state is not None
    assert isinstance(broken, Issued)
    assert broken.forecast.notes[0].code is Code.MODEL_FAILED
    assert broken.forecast.notes[0].detail == "afraid failed on b with FloatingPointError: b; forecast by seasonal_naive instead"


def test_when_the_fallback_breaks_too_its_error_is_the_answer() -> None:
    afraid = AfraidOf(afraid_of="b", main=PROFILE)
    _, broken = answers(panel(usual_rpm(20), usual_rpm(20)), afraid, afraid)
    assert isinstance(broken, ModelFailed)


def test_what_was_kept_of_a_series_stays_while_the_fallback_speaks() -> None:
    load = panel(usual_rpm(20))
    (before,) = answers(load)
    assert isinstance(before, Issued)
    (answer,) = forecast_chunk(load, (before.state,), asked(), Broken(), NAIVE)
    assert isinstance(answer, Issued)
    assert answer.state == before.state
    assert isinstance(answer.state, State)


def test_a_step_that_no_day_has_is_answered_with_an_error() -> None:
    start = datetime.fromtimestamp(420 * 4_220_000, UTC)
    ahead = Horizon(issued_at=start, start=start, step_s=420, steps=2, window_steps=1)
    (answer,) = forecast_chunk(panel(series_of([1.0] * 500, end=start, step_s=420)), (None,), asked(ahead), PROFILE, NAIVE)
    assert isinstance(answer, ModelFailed)
    assert "no whole number of buckets a day" in str(answer)


def test_history_at_another_step_is_answered_with_an_error() -> None:
    (answer,) = answers(panel(series_of([1.0] * 500, step_s=1_800)))
    assert isinstance(answer, ModelFailed)
    assert str(answer) == "history at a step of 1800 s cannot be forecast at one of 3600 s: bring it to that step"


def test_a_chunk_travels_to_another_process() -> None:
    run = partial(forecast_chunk, states=(None,), request=asked(), model=PROFILE, fallback=NAIVE)
    sent = pickle.loads(pickle.dumps((run, panel(usual_rpm(5)))))  # noqa: S301  our own bytes
    (answer,) = pickle.loads(pickle.dumps(sent[0](sent[1])))  # noqa: S301
    assert isinstance(answer, Issued)
    assert isinstance(answer.state, State)
