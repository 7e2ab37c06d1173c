"""The first half of the line: fetch -> history -> forecast -> demand -> plan, kept in the store; every few hours."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog

from forecaster.backtest.settings import Progress, silent
from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError, StoreError
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from forecaster.series import Panel, Series, Signal, panel_of
from forecaster.units import floor_to
from jobs.chunks import Chunk, through
from jobs.draft import Draft
from jobs.events import known_events
from jobs.failure import failure
from jobs.fetch import fetch
from jobs.fleet import Fleet, Member
from jobs.plan import approve, foresee, hold_beyond_envelope, plan_pools, recall
from jobs.progress import told, within
from jobs.trusting import believe

CHUNK = 500
"""Series a chunk: the size from which batching gains no more."""
_FETCHED_AT, _FORECAST_AT = 0.5, 0.95  # shares of a run's time, roughly: it depends on the source and the model
log = structlog.get_logger()


def forecast_fleet(fleet: Fleet, now: datetime, progress: Progress = silent) -> tuple[Draft, ...]:
    """Forecast and plan every workload; a broken one carries its sentence and stops no other. Raises StoreError."""
    drafts = fetch_fleet(fleet, now, within(progress, 0.0, _FETCHED_AT))
    drafts = forecast(fleet, drafts, now, within(progress, _FETCHED_AT, _FORECAST_AT))
    progress(_FORECAST_AT, "plan")
    fleet.store.append_forecasts([(draft.name, issued) for draft in drafts for issued in draft.forecasts])
    return plan_drafts(fleet, drafts, now)


def fetch_fleet(fleet: Fleet, now: datetime, progress: Progress = silent) -> tuple[Draft, ...]:
    """Only the first step: bring the history of every workload into the store."""
    return _each(
        fleet,
        tuple(Draft(member=member) for member in fleet.members),
        partial(fetch, fleet, now=now, events=known_events(fleet, now)),
        progress,
    )


def plan_fleet(fleet: Fleet, now: datetime) -> tuple[Draft, ...]:
    """Only the last steps: plan anew from the newest forecasts in the store, say after the policy changed."""
    return plan_drafts(fleet, _each(fleet, tuple(Draft(member=member) for member in fleet.members), partial(recall, fleet, now=now)), now)


def plan_drafts(fleet: Fleet, drafts: tuple[Draft, ...], now: datetime) -> tuple[Draft, ...]:
    """Judge the forecasts, add the events, plan, hold what changes the fleet too much, keep the plans, and let them inherit approvals."""
    drafts = _each(fleet, drafts, partial(believe, fleet, now=now))
    drafts = _each(fleet, drafts, partial(foresee, events=known_events(fleet, now)))
    drafts = _each(fleet, drafts, partial(plan_pools, now=now))
    drafts = hold_beyond_envelope(fleet, drafts, now)
    fleet.store.append_plans([made for draft in drafts for made in draft.plans])
    return _each(fleet, drafts, partial(approve, fleet, now=now))


def forecast(fleet: Fleet, drafts: tuple[Draft, ...], now: datetime, progress: Progress = silent) -> tuple[Draft, ...]:
    """Forecast all histories in chunks of one signal, grid, lead window and zone; a series that fails costs only its own forecast."""
    groups: dict[tuple[Signal, Horizon, Calendar], dict[str, Series]] = defaultdict(dict)
    for draft in drafts:
        for series in (series for series in draft.histories if series.measured_ratio > 0):
            groups[series.signal, _horizon(fleet, draft.member, now), draft.member.workload.calendar][draft.name] = series
    issued: dict[str, list[Forecast | ForecasterError]] = defaultdict(list)
    chunks = (
        Chunk(panel=panel, horizon=horizon, calendar=calendar)
        for (_, horizon, calendar), histories in groups.items()
        for panel in _panels(histories)
    )
    results = through(fleet.executor, partial(forecast_panel, main=fleet.model, fallback=fleet.fallback), chunks)
    for name, result in told(results, sum(map(len, groups.values())), progress, "forecast series"):
        issued[name].append(result)
    return tuple(
        replace(
            draft,
            forecasts=tuple(r for r in issued[draft.name] if isinstance(r, Forecast)),
            failures=(*draft.failures, *(failure("forecast", r) for r in issued[draft.name] if isinstance(r, ForecasterError))),
        )
        for draft in drafts
    )


def forecast_panel(chunk: Chunk, *, main: str, fallback: str) -> tuple[Forecast | ForecasterError, ...]:
    """One chunk, by model name, so that it can travel to another process."""
    return forecast_chunk(chunk.panel, chunk.horizon, STANDARD_LEVELS, chunk.calendar, model(main), model(fallback))


def _each(fleet: Fleet, drafts: tuple[Draft, ...], step: Callable[[Draft], Draft], progress: Progress = silent) -> tuple[Draft, ...]:
    """The step on every draft, several at once; one that raises keeps its draft as it was, with the sentence."""

    def guarded(draft: Draft) -> Draft:
        try:
            return step(draft)
        except StoreError:
            raise
        except Exception as error:  # the wall between workloads: whatever breaks one must not stop the others
            if not isinstance(error, ForecasterError):
                log.exception("forecast", workload=draft.name)
            return replace(draft, failures=(*draft.failures, failure("forecast", error)))

    with ThreadPoolExecutor(max_workers=fleet.workers) as pool:
        return tuple(told(pool.map(guarded, drafts), len(drafts), progress, "fetch workload"))


def _horizon(fleet: Fleet, member: Member, now: datetime) -> Horizon:
    """The workload's horizon; its lead window is that of its slowest pool."""
    return Horizon(
        issued_at=now,
        start=floor_to(now, member.step_s),
        step_s=member.step_s,
        steps=max(1, fleet.horizon_s // member.step_s),
        window_steps=max(pool.lead_time.window_steps(member.step_s) for pool in member.workload.pools),
    )


def _panels(series: dict[str, Series]) -> Iterator[Panel]:
    names = list(series)
    return (panel_of({name: series[name] for name in names[i : i + CHUNK]}) for i in range(0, len(names), CHUNK))
