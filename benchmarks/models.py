"""What a model costs and how well it forecasts the packaged week, against the prophet model in the same run."""

import os
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import as_file, files

import numpy as np

from benchmarks.figures import Figure
from connectors.sources.csv import read_trace
from forecaster.calendar import Calendar
from forecaster.forecast import Forecast, Horizon
from forecaster.history import prepare
from forecaster.models.catalogue import model
from forecaster.score import PINBALL
from forecaster.series import Series, panel_of
from forecaster.units import DAY_S

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
NAMES = ("profile", "seasonal_naive", "holt_winters")
ORIGINS = 3
"""The last days of the packaged week: the first ones train."""


def figures() -> Iterator[Figure]:
    """Pinball and CPU of each model as ratios to those of the prophet model, on the packaged week of Azure conversation traffic."""
    with as_file(files("jobs.demo").joinpath("llm_azure2024_conv_1m.csv.gz")) as path:
        series = read_trace(path).series()
    pinball, cpu_s = _measured("prophet", series)
    for name in NAMES:
        loss, seconds = _measured(name, series)
        yield Figure(name=f"pinball of {name} / the prophet model, Azure 2024 week", value=loss / pinball, unit="x")
        yield Figure(name=f"CPU of {name} / the prophet model, Azure 2024 week", value=seconds / cpu_s, unit="x")


def _measured(name: str, series: Series) -> tuple[float, float]:
    """Mean pinball over the levels and the last days, and the CPU seconds of one forecast."""
    losses = []
    begun = _cpu_s()
    for days in range(ORIGINS, 0, -1):
        now = series.end - timedelta(days=days)
        losses.append(_pinball(_forecast(name, prepare(series, now, 28 * DAY_S)), series))
    return float(np.mean(losses)), (_cpu_s() - begun) / ORIGINS


def _forecast(name: str, known: Series) -> Forecast:
    chosen, panel = model(name), panel_of({"azure": known})
    horizon = Horizon(issued_at=known.end, start=known.end, step_s=known.step_s, steps=DAY_S // known.step_s, window_steps=3)
    (forecast,) = chosen.forecast(panel, chosen.fit(panel, known.end), horizon, LEVELS, Calendar())
    return forecast


def _pinball(forecast: Forecast, series: Series) -> float:
    actual = series.between(forecast.start, forecast.end).mean
    losses = [PINBALL(actual, values, level) for level, values in zip(LEVELS, forecast.values, strict=True)]
    return float(np.mean([loss for loss in losses if loss is not None]))


def _cpu_s() -> float:
    """CPU seconds of this process and of those that it ran: Prophet fits in one."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
