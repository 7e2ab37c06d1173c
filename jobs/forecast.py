"""The first half of the line: fetch -> history -> forecast -> demand -> plan, kept in the store; every few hours."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np
import structlog

from forecaster.approval import last_followed
from forecaster.calendar import Calendar
from forecaster.demand import demand
from forecaster.envelope import enveloped
from forecaster.errors import ForecasterError, NotEnoughHistory, SourceError, StoreError
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon
from forecaster.history import prepare
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from forecaster.plan import Plan, plan
from forecaster.ports import Query
from forecaster.reasons import Code
from forecaster.series import LOAD_SIGNALS, Panel, Series, Signal, Window, panel_of
from forecaster.units import HOUR_S, floor_to, iso
from jobs.failure import Failure, failure, no_samples, unfetched
from jobs.fleet import Fleet, Member
from jobs.standing import NEAR_S, inherit_approvals, plans_near, rulings_of

CHUNK = 500
"""Series a chunk: the size from which batching gains no more."""
LATE_S = 2 * HOUR_S
"""Samples may arrive this late: so much is fetched again."""
log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One workload on its way down the line. failures: what went wrong so far; it goes on with what it has."""

    member: Member
    histories: tuple[Series, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    plans: tuple[Plan, ...] = ()
    waiting: tuple[Plan, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def name(self) -> str:
        """The workload's name."""
        return self.member.workload.name

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each thing that failed."""
        return tuple(failed.sentence for failed in self.failures)


def forecast_fleet(fleet: Fleet, now: datetime) -> tuple[Draft, ...]:
    """Forecast and plan every workload; a broken one carries its sentence and stops no other. Raises StoreError."""
    drafts = fetch_fleet(fleet, now)
    drafts = forecast(fleet, drafts, now)
    fleet.store.append_forecasts([(draft.name, issued) for draft in drafts for issued in draft.forecasts])
    return plan_drafts(fleet, drafts, now)


def fetch_fleet(fleet: Fleet, now: datetime) -> tuple[Draft, ...]:
    """Only the first step: bring the history of every workload into the store."""
    return _each(fleet, tuple(Draft(member=member) for member in fleet.members), partial(fetch, fleet, now=now))


def plan_fleet(fleet: Fleet, now: datetime) -> tuple[Draft, ...]:
    """Only the last steps: plan anew from the newest forecasts in the store, say after the policy changed."""
    return plan_drafts(fleet, _each(fleet, tuple(Draft(member=member) for member in fleet.members), partial(recall, fleet, now=now)), now)


def plan_drafts(fleet: Fleet, drafts: tuple[Draft, ...], now: datetime) -> tuple[Draft, ...]:
    """Plan, hold what changes the fleet too much, keep the plans, and let them inherit approvals."""
    drafts = _each(fleet, drafts, partial(plan_pools, now=now))
    drafts = hold_beyond_envelope(fleet, drafts, now)
    fleet.store.append_plans([made for draft in drafts for made in draft.plans])
    return _each(fleet, drafts, partial(approve, fleet, now=now))


def fetch(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """Bring the workload's history up to `now` into the store, and take from there what models see.

    A signal that was measured at no time is told of here, since no model can say more of it.
    """
    member = draft.member
    end = floor_to(now, member.step_s)
    span = Window(start=floor_to(end - timedelta(seconds=fleet.history_s), member.step_s), end=end)
    histories: list[Series] = []
    behind: list[tuple[str, SourceError]] = []
    absent: list[tuple[str, SourceError]] = []
    silent: list[Failure] = []
    for query in (q for q in member.queries if q.signal in LOAD_SIGNALS):
        known, error = _brought(fleet, member, query, span)
        measured = known.measured_ratio > 0
        histories.append(prepare(known, now, fleet.history_s))
        if error is not None:
            (behind if measured else absent).append((query.signal, error))
        elif not measured:
            silent.append(_silence(query, span))
        else:
            silent.extend(_stopped(query, known, span))
    failures = (
        *unfetched(behind, "could not be fetched, older history is used"),
        *unfetched(absent, "could not be fetched, and without history nothing is forecast"),
        *silent,
    )
    return replace(draft, histories=tuple(histories), failures=(*draft.failures, *failures))


def forecast(fleet: Fleet, drafts: tuple[Draft, ...], now: datetime) -> tuple[Draft, ...]:
    """Forecast all histories in chunks of one signal, grid, lead window and zone; a series that fails costs only its own forecast."""
    groups: dict[tuple[Signal, Horizon, Calendar], dict[str, Series]] = defaultdict(dict)
    for draft in drafts:
        for series in (series for series in draft.histories if series.measured_ratio > 0):
            groups[series.signal, _horizon(fleet, draft.member, now), draft.member.workload.calendar][draft.name] = series
    issued: dict[str, list[Forecast | ForecasterError]] = defaultdict(list)
    for (_, horizon, calendar), histories in groups.items():
        run = partial(forecast_panel, horizon=horizon, calendar=calendar, main=fleet.model, fallback=fleet.fallback)
        for panel, results in fleet.executor.map(run, _chunks(histories)):
            for name, result in zip(panel.names, results, strict=True):
                issued[name].append(result)
    return tuple(
        replace(
            draft,
            forecasts=tuple(r for r in issued[draft.name] if isinstance(r, Forecast)),
            failures=(*draft.failures, *(failure("forecast", r) for r in issued[draft.name] if isinstance(r, ForecasterError))),
        )
        for draft in drafts
    )


def forecast_panel(
    panel: Panel, *, horizon: Horizon, calendar: Calendar, main: str, fallback: str
) -> tuple[Panel, tuple[Forecast | ForecasterError, ...]]:
    """One chunk, by model name, so that it can travel to another process."""
    return panel, forecast_chunk(panel, horizon, STANDARD_LEVELS, calendar, model(main), model(fallback))


def recall(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """The newest forecasts of one instant that the store has and that still speak of `now`."""
    span = Window(start=now - timedelta(seconds=fleet.horizon_s), end=now + timedelta(seconds=1))
    kept = [f for s in LOAD_SIGNALS for f in fleet.store.forecasts(draft.name, s, span) if f.issued_at <= now < f.end]
    newest = max((f.issued_at for f in kept), default=None)
    if newest is None:
        missing = Failure(
            verb="plan", error=Code.PLAN_MISSING, sentence="there is no forecast to plan from; run `forecaster forecast` first"
        )
        return replace(draft, failures=(missing,))
    return replace(draft, forecasts=tuple(f for f in kept if f.issued_at == newest))


def plan_pools(draft: Draft, now: datetime) -> Draft:
    """Demand and plan of every pool that a forecast and a capacity speak of; a pool without is reported, never guessed."""
    plans, failures = [], []
    workload = draft.member.workload
    for pool in workload.pools if draft.forecasts else ():
        needed = demand(draft.forecasts, pool, workload.policy)
        if needed is None:
            signals = ", ".join(f.signal for f in draft.forecasts)
            sentence = f"pool {pool.name} has no capacity for {signals}: it is held where it is; set capacity in its section"
            failures.append(Failure(verb="plan", error=Code.NO_CAPACITY, sentence=sentence))
        else:
            plans.append(plan(needed, workload, pool, now))
    return replace(draft, plans=tuple(plans), failures=(*draft.failures, *failures))


def hold_beyond_envelope(fleet: Fleet, drafts: tuple[Draft, ...], now: datetime) -> tuple[Draft, ...]:
    """Mark the plans that change the fleet beyond the envelope: they wait for approval, whatever the mode."""
    followed, unanswered = {}, set()
    for draft in drafts:
        workload, rulings = draft.member.workload, rulings_of(fleet.store, draft.name, now)
        for made in draft.plans:
            for span_s in (NEAR_S, fleet.horizon_s):  # the longer one is read only while nothing of the last hours was followed
                earlier = tuple(p for p in plans_near(fleet.store, draft.name, made.pool, now, span_s) if p.id != made.id)
                old = last_followed(earlier, rulings, workload.policy.mode, now)
                if old is not None:
                    followed[made.workload, made.pool] = old
                    break
            if earlier and earlier[-1].held:
                unanswered.add((made.workload, made.pool))
    plans = tuple(made for draft in drafts for made in draft.plans)
    held = {p.id: p for p in enveloped(plans, followed, frozenset(unanswered), fleet.envelope, now)}
    return tuple(replace(draft, plans=tuple(held[p.id] for p in draft.plans)) for draft in drafts)


def approve(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """Let plans inherit a person's approval where they are close enough; the others wait for one and say so."""
    waiting = inherit_approvals(fleet.store, draft.member.workload, draft.plans, now)
    return replace(draft, waiting=waiting)


def _each(fleet: Fleet, drafts: tuple[Draft, ...], step: Callable[[Draft], Draft]) -> tuple[Draft, ...]:
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
        return tuple(pool.map(guarded, drafts))


def _brought(fleet: Fleet, member: Member, query: Query, span: Window) -> tuple[Series, SourceError | None]:
    """The history of a signal over the span, after what the store did not have was fetched, and what kept it from that."""
    name = member.workload.name
    known = fleet.store.history(name, query.signal, span, member.step_s)
    try:
        fresh = member.source.fetch(query, Window(start=_resume_at(known), end=span.end), member.step_s)
    except SourceError as error:
        return known, error
    fleet.store.append_history(name, fresh)
    return fleet.store.history(name, query.signal, span, member.step_s), None


def _stopped(query: Query, known: Series, span: Window) -> Iterator[Failure]:
    """One failure when the source answers but its samples ended a while ago."""
    last = int(np.flatnonzero(~np.isnan(known.mean))[-1])
    until = known.start + timedelta(seconds=known.step_s * (last + 1))
    behind_s = (span.end - until).total_seconds()
    if behind_s >= max(HOUR_S, 2 * known.step_s):
        told = f"{query.signal} was last measured at {iso(until)}, {behind_s / HOUR_S:.1f} h ago: the forecast rests on older load; "
        sentence = told + "see whether the source still gets samples"
        yield Failure(verb="fetch", error=Code.GAPS_IN_HISTORY, sentence=sentence, cause=no_samples(query.signal))


def _silence(query: Query, span: Window) -> Failure:
    """A source that answers without a single number: a name that is spelled otherwise, or the wrong time."""
    sentence = (
        f"{query.signal}: {query.expression!r} has no number from {iso(span.start)} to {iso(span.end)}; correct its name and labels, "
        "or wait for the first"
    )
    return Failure(verb="fetch", error=NotEnoughHistory.__name__, sentence=sentence, cause=no_samples(query.signal))


def _resume_at(known: Series) -> datetime:
    """Where fetching goes on: a little before the last measured bucket, since samples may arrive late; the start when none is."""
    measured = np.flatnonzero(~np.isnan(known.mean))
    if measured.size == 0:
        return known.start
    last = known.start + timedelta(seconds=known.step_s * int(measured[-1]))
    return max(known.start, floor_to(last - timedelta(seconds=LATE_S), known.step_s))


def _horizon(fleet: Fleet, member: Member, now: datetime) -> Horizon:
    """The workload's horizon; its lead window is that of its slowest pool."""
    return Horizon(
        issued_at=now,
        start=floor_to(now, member.step_s),
        step_s=member.step_s,
        steps=max(1, fleet.horizon_s // member.step_s),
        window_steps=max(pool.lead_time.window_steps(member.step_s) for pool in member.workload.pools),
    )


def _chunks(series: dict[str, Series]) -> list[Panel]:
    names = list(series)
    return [panel_of({name: series[name] for name in names[i : i + CHUNK]}) for i in range(0, len(names), CHUNK)]
