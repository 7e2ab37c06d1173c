"""Models on whatever hypothesis thinks of: a forecast of a load, or the sentence that says what is missing."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed, NotEnoughHistory
from forecaster.forecast import STANDARD_LEVELS, Horizon
from forecaster.models.catalogue import MODEL_NAMES, model
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S, floor_to
from tests.traces import MONDAY, panel, series_of

ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
SHAPES = ("day", "zero", "constant", "spikes", "decline", "counts", "jump", "wild")
MAY_DIVERGE = {"prophet"}  # its trend runs away after a jump, which is refused
EXAMPLES = {"prophet": 10}
PHASES = {"prophet": (Phase.explicit, Phase.reuse, Phase.generate)}  # shrinking refits for minutes


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
def cases(draw: st.DrawFn) -> tuple[Panel, Horizon, Calendar]:
    step_s = draw(st.sampled_from((60, 900, 3_600, 7_200, 21_600, 43_200, DAY_S)))
    issued_at: datetime = MONDAY + timedelta(minutes=draw(st.integers(0, 60 * 24 * 400)))
    start = floor_to(issued_at, step_s)
    steps = draw(st.sampled_from((1, 2, DAY_S // step_s, 7 * DAY_S // step_s if step_s >= 900 else 30)))
    ahead = Horizon(issued_at=issued_at, start=start, step_s=step_s, steps=steps, window_steps=draw(st.sampled_from((1, 3, 11))))
    late = timedelta(seconds=step_s * draw(st.sampled_from((0, 0, 1, DAY_S // step_s))))
    load = series_of(draw(loads(step_s)), end=start - late, step_s=step_s)
    return panel(load), ahead, Calendar(zone=draw(st.sampled_from(ZONES)))


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_forecast_is_of_a_load_or_says_what_is_missing(name: str) -> None:
    any_model = model(name)

    @settings(
        max_examples=EXAMPLES.get(name, 60), phases=PHASES.get(name, tuple(Phase)), deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(cases())
    def check(case: tuple[Panel, Horizon, Calendar]) -> None:
        load, ahead, calendar = case
        try:
            (answer,) = any_model.forecast(load, any_model.fit(load, ahead.start), ahead, STANDARD_LEVELS, calendar)
        except NotEnoughHistory:
            return
        except ModelFailed:
            if name not in MAY_DIVERGE:
                raise
            return
        largest = float(np.nanmax(load.mean))
        assert len(answer) == ahead.steps  # finite, not negative and in order is what constructing a Forecast checks
        assert answer.daily_peaks[0].covers.start == answer.start
        assert answer.daily_peaks[-1].covers.end == answer.end
        assert (answer.window_max >= answer.values).all()
        assert answer.at_level(0.25).max() <= 10 * largest  # rough, but no forecast of another world

    check()
