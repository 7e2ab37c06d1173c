"""The engine as a fleet calls it: a chunk of series, what was kept of the day before, and their forecasts. The only place that calls it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from benchmarks.accuracy.generated import loads
from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon, Issued, Request, State
from forecaster.leadtime import LeadTime
from forecaster.models.catalogue import DEFAULT_MEMBERS, DEFAULT_MODEL, FALLBACK_MODEL, member, model
from forecaster.models.chunk import forecast_chunk
from forecaster.models.learning import SERIES, is_due, learn, learned_of
from forecaster.models.past import past_of
from forecaster.series import Panel, Series, panel_of
from forecaster.units import DAY_S

CHUNK = 200
"""Series a chunk, as the jobs have it."""
HISTORY_DAYS = 28
CORE_MEMBERS = tuple(name for name in DEFAULT_MEMBERS if name != "gbm")
"""Members that are plain arithmetic on a whole chunk."""
_LEAD_TIME_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """One chunk on one day, in a form that travels. states: what was kept of each series; learned: what all series have in common."""

    panel: Panel
    states: tuple[State | None, ...] = field(repr=False)
    members: tuple[str, ...] = DEFAULT_MEMBERS
    learned: bytes = field(default=b"", repr=False)


def forecast(work: Work) -> tuple[Issued, ...]:
    """A day ahead for each series. Raises where the fallback had to answer or nobody could: a benchmark of failures is none."""
    panel, lead_time = work.panel, LeadTime(warm_s=_LEAD_TIME_S, cold_s=_LEAD_TIME_S)
    horizon = Horizon(
        issued_at=panel.end,
        start=panel.end,
        step_s=panel.step_s,
        steps=DAY_S // panel.step_s,
        window_steps=lead_time.window_steps(panel.step_s),
    )
    request = Request(horizon=horizon, levels=STANDARD_LEVELS, calendar=Calendar())
    main = model(DEFAULT_MODEL, members=work.members, learned=work.learned)
    answers = forecast_chunk(panel, work.states, request, main, model(FALLBACK_MODEL))
    return tuple(_answered(answer) for answer in answers)


def drawn(panel: Panel) -> None:
    """The core alone: the past of a chunk, and the medians of its batched members a day ahead."""
    past = past_of(panel, panel.end, Calendar())
    for name in CORE_MEMBERS:
        member(name).draw(past, DAY_S // panel.step_s)


def forecasts(panel: Panel) -> tuple[Forecast, ...]:
    """Of a chunk on its first day: nothing is kept of it, nothing is learned."""
    return tuple(issued.forecast for issued in forecast(fresh(panel)))


def fresh(panel: Panel, members: tuple[str, ...] = DEFAULT_MEMBERS, learned: bytes = b"") -> Work:
    """A chunk of which nothing is kept."""
    return Work(panel=panel, states=(None,) * len(panel.names), members=members, learned=learned)


def learned(panel: Panel, members: Sequence[str] = DEFAULT_MEMBERS) -> bytes:
    """What all series have in common, from the first ones of a chunk; nothing where no member learns."""
    if not is_due(None, panel.end, members):
        return b""
    return learned_of(learn(head(panel, SERIES), panel.end, Calendar()), panel.end)


def chunk(days: int) -> dict[str, Series]:
    """A chunk of generated loads of that many days, by name."""
    found: dict[str, Series] = {}
    seed = 0
    while len(found) < CHUNK:
        found.update({f"{name} {seed}": series for name, series in loads(days, seed)})
        seed += 1
    return dict(list(found.items())[:CHUNK])


def on_day(series: dict[str, Series], day: int) -> Panel:
    """What is known `day` days after the first 28: as many days of history, the last ones."""
    since, until = timedelta(days=day), timedelta(days=day + HISTORY_DAYS)
    return panel_of({name: one.between(one.start + since, one.start + until) for name, one in series.items()})


def head(panel: Panel, count: int) -> Panel:
    """The first series of a chunk."""
    return replace(panel, names=panel.names[:count], mean=panel.mean[:count], peak=panel.peak[:count])


def _answered(answer: Issued | ForecasterError) -> Issued:
    if isinstance(answer, ForecasterError):
        raise answer
    if answer.forecast.model != DEFAULT_MODEL:
        msg = f"{answer.forecast.model} answered for {DEFAULT_MODEL}: {'; '.join(note.detail for note in answer.forecast.notes)}"
        raise RuntimeError(msg)
    return answer
