"""The engine as a fleet calls it: a chunk of series, what was kept of the day before, and their forecasts. The only place that calls it."""

from dataclasses import dataclass
from datetime import timedelta

from benchmarks.accuracy.generated import loads
from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon
from forecaster.leadtime import LeadTime
from forecaster.models.catalogue import DEFAULT_MODEL, FALLBACK_MODEL, model
from forecaster.models.chunk import forecast_chunk
from forecaster.series import Panel, Series, panel_of
from forecaster.units import DAY_S

CHUNK = 500
"""Series a chunk, as the jobs have it."""
HISTORY_DAYS = 28
_LEAD_TIME_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One chunk on one day: its history, and the model by name so that it travels."""

    panel: Panel
    model: str = DEFAULT_MODEL


def forecasts_of(work: Work) -> tuple[Forecast, ...]:
    """A day ahead for each series. Raises the first error that stands in place of a forecast: a benchmark of failures is none."""
    panel, lead_time = work.panel, LeadTime(warm_s=_LEAD_TIME_S, cold_s=_LEAD_TIME_S)
    horizon = Horizon(
        issued_at=panel.end,
        start=panel.end,
        step_s=panel.step_s,
        steps=DAY_S // panel.step_s,
        window_steps=lead_time.window_steps(panel.step_s),
    )
    answers = forecast_chunk(panel, horizon, STANDARD_LEVELS, Calendar(), model(work.model), model(FALLBACK_MODEL))
    for answer in answers:
        if isinstance(answer, ForecasterError):
            raise answer
    return tuple(answer for answer in answers if isinstance(answer, Forecast))


def chunk(days: int) -> dict[str, Series]:
    """500 generated loads of that many days, by name."""
    found: dict[str, Series] = {}
    seed = 0
    while len(found) < CHUNK:
        found.update({f"{name} {seed}": series for name, series in loads(days, seed)})
        seed += 1
    return dict(list(found.items())[:CHUNK])


def on_day(series: dict[str, Series], day: int) -> Panel:
    """What is known `day` days after the first 28: as many days of history, the last ones."""
    known = {
        name: one.between(one.start + timedelta(days=day), one.start + timedelta(days=day + HISTORY_DAYS)) for name, one in series.items()
    }
    return panel_of(known)
