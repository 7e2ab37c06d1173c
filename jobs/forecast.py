"""The first half of the line: fetch -> history -> forecast -> demand -> plan, kept in the store; every few hours."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TypeAlias

import structlog

from forecaster.backtest.settings import Progress, silent
from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError, StoreError
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon, Issued, Request, State
from forecaster.models.catalogue import DEFAULT_MODEL, model
from forecaster.models.chunk import forecast_chunk
from forecaster.models.learning import SERIES, is_due, learn, learned_of
from forecaster.series import Panel, Series, Signal, panel_of
from forecaster.units import floor_to
from jobs.chunks import Chunk, through
from jobs.draft import Draft
from jobs.events import known_events
from jobs.failure import failure
from jobs.fetch import fetch
from jobs.fleet import Fleet, Member, ModelChoice
from jobs.plan import approve, foresee, hold_beyond_envelope, plan_pools, recall
from jobs.progress import told, within
from jobs.trusting import believe

CHUNK = 250
"""Series a chunk: the size from which batching gains no more, while a worker stays under 500 MB."""
Groups: TypeAlias = dict[tuple[Signal, Horizon, Calendar], dict[str, Series]]
"""Histories by workload, for each signal, grid and lead window, and zone."""
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
    groups: Groups = defaultdict(dict)
    for draft in drafts:
        for series in (series for series in draft.histories if series.measured_ratio > 0):
            groups[series.signal, _horizon(fleet, draft.member, now), draft.member.workload.calendar][draft.name] = series
    issued: dict[str, list[Forecast | ForecasterError]] = defaultdict(list)
    kept: dict[str, State] = {}
    asked = partial(forecast_panel, main=fleet.model, learned=_learned(fleet, groups, now), fallback=fleet.fallback)
    results = through(fleet.executor, asked, _chunks(fleet, groups))
    for (name, signal), result in told(results, sum(map(len, groups.values())), progress, "forecast series"):
        issued[name].append(result.forecast if isinstance(result, Issued) else result)
        if isinstance(result, Issued) and result.state is not None:
            kept[_state_key(name, signal)] = result.state
    fleet.store.save_states(kept)
    return tuple(
        replace(
            draft,
            forecasts=tuple(r for r in issued[draft.name] if isinstance(r, Forecast)),
            failures=(*draft.failures, *(failure("forecast", r) for r in issued[draft.name] if isinstance(r, ForecasterError))),
        )
        for draft in drafts
    )


def forecast_panel(
    chunk: Chunk, *, main: ModelChoice, learned: Mapping[tuple[Signal, int], bytes], fallback: str
) -> tuple[Issued | ForecasterError, ...]:
    """One chunk, by model name, so that it can travel to another process."""
    chosen = model(
        main.name, members=main.members, watched=main.watched, learned=learned.get((chunk.panel.signal, chunk.panel.step_s), b"")
    )
    return forecast_chunk(chunk.panel, chunk.states, chunk.request, chosen, model(fallback))


def _learned(fleet: Fleet, groups: Groups, now: datetime) -> dict[tuple[Signal, int], bytes]:
    """What members have learned on the fleet, by signal and step; learned anew once a week, on a sample of what this run forecasts."""
    found: dict[tuple[Signal, int], bytes] = {}
    for (signal, horizon, calendar), histories in sorted(groups.items(), key=lambda group: -len(group[1])):
        if (signal, horizon.step_s) in found:
            continue  # the largest group of a signal and step speaks for all
        key = f"learned/{signal}/{horizon.step_s}"
        state = fleet.store.states([key]).get(key)
        if fleet.model.name == DEFAULT_MODEL and is_due(state, now, fleet.model.members):
            names = list(histories)[:: max(1, len(histories) // SERIES)]
            fresh = _learn(panel_of({name: histories[name] for name in names}), now, calendar)
            if fresh is not None:
                fleet.store.save_states({key: fresh})
                state = fresh
        found[signal, horizon.step_s] = learned_of(state, now)
    return found


def _learn(panel: Panel, now: datetime, calendar: Calendar) -> State | None:
    """What is learned of the panel; None, with a line in the log, where that fails: what was learned before serves on, or nothing."""
    try:
        return learn(panel, now, calendar)
    except Exception as error:  # noqa: BLE001  a library may raise anything, say OSError without libgomp, and one member stops no fleet
        log.warning("forecast", member="gbm", error=f"did not learn: {type(error).__name__}: {error}")
        return None


def _chunks(fleet: Fleet, groups: Groups) -> Iterator[Chunk]:
    """The series in chunks, each with what was kept of it; read when a chunk's turn comes, so that a large fleet need not fit in memory."""
    for (signal, horizon, calendar), histories in groups.items():
        request = Request(horizon=horizon, levels=STANDARD_LEVELS, calendar=calendar)
        for panel in _panels(histories):
            keys = [_state_key(name, signal) for name in panel.names]
            states = fleet.store.states(keys)
            yield Chunk(panel=panel, states=tuple(states.get(key) for key in keys), request=request)


def _state_key(workload: str, signal: Signal) -> str:
    return f"kept/{signal}/{workload}"


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
