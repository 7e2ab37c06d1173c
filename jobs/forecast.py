"""The first half of the line: fetch -> history -> forecast -> demand -> plan, kept in the store; every few hours.

A fleet goes down it in batches, each as soon as the executor has room for it: fetching, forecasting and planning go on at once, and of
ten thousand workloads only a few hundred are in memory. What stays is plans, which wait for each other: the envelope is of all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial, reduce
from typing import TypeAlias

from forecaster.backtest.settings import Progress, silent
from forecaster.errors import ForecasterError
from forecaster.events import Event
from forecaster.forecast import Issued
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from jobs.batches import Lessons, batches, chunks_of, state_key
from jobs.caches import relieved
from jobs.capacity.drifting import drifts, look_for_drift, with_drifts
from jobs.capacity.known import with_capacities
from jobs.chunks import Chunk, Key, through
from jobs.coming import announced
from jobs.draft import Draft, walled
from jobs.earned import with_promotions
from jobs.events import known_events
from jobs.failure import failure
from jobs.fetch import bring, keep, look_up, see
from jobs.fleet import Fleet, ModelChoice
from jobs.levels import with_levels
from jobs.plan import budgeted, foresee, planned, recall, settle
from jobs.progress import beside, told
from jobs.starts import look_at_all, with_lead_times
from jobs.trusting import believe

Batch: TypeAlias = tuple[Draft, ...]
_FETCHING, _FORECASTING = 0.5, 0.45
"""Shares of a run's time, roughly: it depends on the source and the model."""


def forecast_fleet(fleet: Fleet, now: datetime, progress: Progress = silent) -> Batch:
    """Forecast and plan every workload; a broken one carries its sentence and stops no other. Raises StoreError."""
    unread = look_at_all(fleet, now)
    fleet = with_lead_times(with_capacities(fleet, now), now)
    fleet = with_levels(with_promotions(fleet, now), now)
    events, count = known_events(fleet, now), len(fleet.members)
    fetching, forecasting = beside(progress, _FETCHING, _FORECASTING)
    fetched = _fetched(fleet, now, events, fetching)
    made = (draft for batch in forecast(fleet, fetched, now) for draft in plan_batch(fleet, batch, now, events))
    drafts = announced(budgeted(fleet, tuple(told(made, count, forecasting, "forecast workload")), now), now, fleet.workers)
    drifting, unlooked = look_for_drift(fleet, now)
    progress(_FETCHING + _FORECASTING, "plan")
    settled = settle(fleet, with_drifts(drafts, drifting), now)
    settled = (replace(draft, asides=(*unread.get(draft.name, ()), *unlooked.get(draft.name, ()))) for draft in settled)
    return _in_order(fleet, settled)


def fetch_fleet(fleet: Fleet, now: datetime, progress: Progress = silent) -> Batch:
    """Only the first step: bring the history of every workload into the store."""
    fetched = _fetched(fleet, now, known_events(fleet, now), progress)
    return _in_order(fleet, (draft.without_histories() for batch in fetched for draft in batch))


def plan_fleet(fleet: Fleet, now: datetime) -> Batch:
    """Only the last steps: plan anew from the newest forecasts in the store, say after the policy changed."""
    fleet = with_lead_times(with_capacities(fleet, now), now)
    fleet = with_levels(with_promotions(fleet, now), now)
    events = known_events(fleet, now)
    recalled = (tuple(walled(partial(recall, fleet, now=now), draft) for draft in batch) for batch in batches(fleet.members))
    made = [draft for batch in recalled for draft in plan_batch(fleet, batch, now, events)]
    drafts = announced(budgeted(fleet, made, now), now, fleet.workers)
    return _in_order(fleet, settle(fleet, with_drifts(drafts, drifts(fleet.store, now)), now))


def forecast(fleet: Fleet, fetched: Iterable[Batch], now: datetime) -> Iterator[Batch]:
    """Forecast batches as the executor takes them, and keep what comes; a series that fails costs only its own forecast."""
    asked = partial(forecast_panel, main=fleet.model, fallback=fleet.fallback)
    for drafts, answers in through(fleet.executor, asked, _with_chunks(fleet, fetched, now)):
        issued = {series: answer for series, answer in answers.items() if isinstance(answer, Issued)}
        fleet.store.save_states({state_key(series): each.state for series, each in issued.items() if each.state is not None})
        fleet.store.append_forecasts([(name, each.forecast) for (name, _), each in issued.items()])
        yield tuple(_answered(draft, answers) for draft in drafts)


def forecast_panel(chunk: Chunk, *, main: ModelChoice, fallback: str) -> tuple[Issued | ForecasterError, ...]:
    """One chunk, by model name, so that it can travel to another process."""
    chosen = model(main.name, members=main.members, watched=main.watched, learned=chunk.learned)
    return forecast_chunk(chunk.panel, chunk.states, chunk.request, chosen, model(fallback))


def plan_batch(fleet: Fleet, drafts: Batch, now: datetime, events: tuple[Event, ...]) -> Iterator[Draft]:
    """Judge the forecasts of each draft, add the events, plan, and compare. One by one: threads would only wait for each other."""
    steps: tuple[Callable[[Draft], Draft], ...] = (
        partial(relieved, fleet, now=now),
        partial(believe, fleet, now=now),
        partial(foresee, events=events),
        partial(planned, fleet, now=now),
    )
    for draft in drafts:
        yield reduce(lambda done, step: walled(step, done), steps, draft).without_forecasts()


def _fetched(fleet: Fleet, now: datetime, events: tuple[Event, ...], progress: Progress) -> Iterator[Batch]:
    """The fleet in batches, as they are asked for, with their histories."""
    done, count = 0, len(fleet.members)
    for batch in batches(fleet.members):
        known = [walled(partial(look_up, fleet, now=now), draft) for draft in batch]
        with ThreadPoolExecutor(max_workers=fleet.workers) as pool:  # sources are waited for, so several at once
            answers = pool.map(partial(walled, partial(bring, now=now)), known)
            brought = tuple(told(answers, count, progress, "fetch workload", done))
        keep(fleet, brought)
        yield tuple(walled(partial(see, fleet, now=now, events=events), draft) for draft in brought)
        done += len(batch)


def _with_chunks(fleet: Fleet, fetched: Iterable[Batch], now: datetime) -> Iterator[tuple[Batch, tuple[Chunk, ...]]]:
    """Batches beside the chunks that travel; these have the histories, so that drafts need not."""
    lessons: Lessons = {}
    for drafts in fetched:
        chunks = chunks_of(fleet, drafts, now, lessons)
        yield tuple(draft.without_histories() for draft in drafts), chunks


def _answered(draft: Draft, answers: Mapping[Key, Issued | ForecasterError]) -> Draft:
    """The draft with its forecasts, and with the reason of each one that it lacks."""
    of_draft = [answers[draft.name, known.signal] for known in draft.known if (draft.name, known.signal) in answers]
    forecasts = tuple(answer.forecast for answer in of_draft if isinstance(answer, Issued))
    failures = (failure("forecast", answer) for answer in of_draft if isinstance(answer, ForecasterError))
    return replace(draft, forecasts=forecasts, failures=(*draft.failures, *failures))


def _in_order(fleet: Fleet, drafts: Iterable[Draft]) -> Batch:
    by_name = {draft.name: draft for draft in drafts}
    return tuple(by_name[member.workload.name] for member in fleet.members)
