"""Models on whatever hypothesis thinks of: a forecast of a load, or the sentence that says what is missing."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed, NotEnoughHistory
from forecaster.forecast import Forecast, Horizon, Issued, Request
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S, floor_to
from tests.asking import asked
from tests.contracts.models import ALL, any_model
from tests.traces import MONDAY, panel, series_of

ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
SHAPES = ("day", "zero", "constant", "spikes", "decline", "counts", "jump", "wild")
ANSWERS_ALWAYS = {"ensemble", "seasonal_naive", "naive_day", "naive_week", "slot_quantile", "ridge_slow", "ridge_quick"}
TOO_SLOW = {"sarimax", "statsforecast"}  # a second a case; asked by the suite of members
EXAMPLES = {"prophet": 5, "unobserved_components": 5}
PHASES = dict.fromkeys(EXAMPLES, (Phase.explicit, Phase.reuse, Phase.generate))  # shrinking refits for minutes


@st.composite
def loads(draw: st.DrawFn, step_s: int) -> Floats:
    """Up to 16 days of load, many of them odd, with gaps."""
    per_day = DAY_S // step_s
    size = int(draw(st.sampled_from((0.5, 1, 2, 2.3, 3) if step_s < 600 else (0, 0.9, 2, 3.4, 9, 16))) * per_day)
    rng = np.random.default_rng(draw(st.integers(0, 1_000)))
    time = np.arange(size)
    load: Floats
    match draw(st.sampled_from(SHAPES)):
        case "day":
            load = (200 + 100 * np.sin(2 * np.pi * time / per_day)) * rng.lognormal(0, 0.1, size)
        case "zero":
            load = np.zeros(size)
        case "constant":
            load = np.full(size, draw(st.sampled_from((1e-6, 7.0, 1e9))))
        case "spikes":
            load = np.where(rng.random(size) < 0.02, rng.lognormal(5, 3, size), 0.0)
        case "decline":
            load = np.maximum(0.0, 1_000 - 3_000 / max(size, 1) * time)
        case "counts":
            load = rng.poisson(0.3, size).astype(np.float64)
        case "jump":
            load = np.where(time < size // 2, 10.0, 500.0) * rng.lognormal(0, 0.1, size)
        case _:
            load = rng.lognormal(0, 4, size)
    first, last = sorted(draw(st.tuples(st.integers(0, size), st.integers(0, size))))
    match draw(st.sampled_from(("none", "hole", "sieve"))):
        case "hole":
            load[first:last] = np.nan
        case "sieve":
            load[rng.random(size) < draw(st.floats(0, 0.9))] = np.nan
    return load


@st.composite
def cases(draw: st.DrawFn) -> tuple[Panel, Request]:
    step_s = draw(st.sampled_from((60, 900, 3_600, 7_200, 21_600, 43_200, DAY_S)))
    issued_at: datetime = MONDAY + timedelta(minutes=draw(st.integers(0, 60 * 24 * 400)))
    start = floor_to(issued_at, step_s)
    steps = draw(st.sampled_from((1, 2, DAY_S // step_s, 7 * DAY_S // step_s if step_s >= 900 else 30)))
    ahead = Horizon(issued_at=issued_at, start=start, step_s=step_s, steps=steps, window_steps=draw(st.sampled_from((1, 3, 11))))
    late = timedelta(seconds=step_s * draw(st.sampled_from((0, 0, 1, DAY_S // step_s))))
    load = series_of(draw(loads(step_s)), end=start - late, step_s=step_s)
    return panel(load), asked(ahead, calendar=Calendar(zone=draw(st.sampled_from(ZONES))))


@pytest.mark.parametrize("name", [name for name in ALL if name not in TOO_SLOW])
def test_a_forecast_is_of_a_load_or_says_what_is_missing(name: str) -> None:
    main = any_model(name)

    @settings(
        max_examples=EXAMPLES.get(name, 40), phases=PHASES.get(name, tuple(Phase)), deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(cases(), st.booleans())
    def check(case: tuple[Panel, Request], again: bool) -> None:
        load, request = case
        (answer,) = main.forecast(load, (None,), request)
        if again and isinstance(answer, Issued):
            (answer,) = main.forecast(load, (answer.state,), request)
        match answer:
            case Issued():
                assert_sane(answer.forecast, load, request.horizon)
            case ModelFailed():
                assert name not in ANSWERS_ALWAYS
            case _:
                assert isinstance(answer, NotEnoughHistory)

    check()


def assert_sane(answer: Forecast, load: Panel, ahead: Horizon) -> None:
    """Of the load's own world. That values are finite, not negative and in order is what constructing a Forecast checks."""
    largest = float(np.nanmax(load.mean))
    assert len(answer) == ahead.steps
    assert answer.daily_peaks[0].covers.start == answer.start
    assert answer.daily_peaks[-1].covers.end == answer.end
    assert (answer.window_max >= answer.values).all()
    assert answer.at_level(0.25).max() <= 10 * largest * (1 + 1e-6)
    assert answer.at_level(0.99).max() <= 30 * largest * (1 + 1e-6)
    assert sum(one.weight_ratio for one in answer.members) == pytest.approx(1) if largest > 0 else not answer.members
