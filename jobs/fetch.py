"""The first step of the line: bring the history of a workload into the store, and take from there what models see."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.detect.late import late
from forecaster.errors import NotEnoughHistory, SourceError
from forecaster.event_effects import ordinary
from forecaster.events import Event
from forecaster.history import prepare
from forecaster.ports import MetricSource, Query
from forecaster.reasons import Code
from forecaster.series import FORECAST_SIGNALS, HIT_SIGNALS, LOAD_SIGNALS, PRESSURE_SIGNALS, Series, Window
from forecaster.units import HOUR_S, floor_to, iso
from jobs.draft import Brought, Draft
from jobs.failure import Failure, no_samples, unfetched
from jobs.fleet import Fleet
from jobs.marking import Search, keep_told, marked
from jobs.route import led

LATE_S = 2 * HOUR_S
"""Samples may arrive this late: so much is fetched again."""


def look_up(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """What the store has of the workload's signals, over the span that models see at `now`. Raises StoreError and HistoryAtOtherStep."""
    member = draft.member
    end = floor_to(now, member.step_s)
    span = Window(start=floor_to(end - timedelta(seconds=fleet.history_s), member.step_s), end=end)
    asked = (query for query in member.queries if query.signal in {*FORECAST_SIGNALS, *HIT_SIGNALS, *PRESSURE_SIGNALS})
    return replace(
        draft,
        brought=tuple(
            Brought(query=query, span=span, known=fleet.store.history(draft.name, query.signal, span, member.step_s)) for query in asked
        ),
    )


def bring(draft: Draft, now: datetime) -> Draft:
    """The same with what their source has since then. What keeps it from answering is told later."""
    return replace(draft, brought=tuple(_asked(draft.member.source, each, now) for each in draft.brought))


def keep(fleet: Fleet, drafts: Iterable[Draft]) -> None:
    """Keep what was brought, of all at once. Raises StoreError."""
    pairs = [(draft.name, each) for draft in drafts for each in draft.brought]
    fleet.store.append_histories([(name, each.fresh) for name, each in pairs if each.fresh is not None])
    for name, each in pairs:
        keep_told(fleet.store, name, each.told)


def see(fleet: Fleet, draft: Draft, now: datetime, events: tuple[Event, ...] = ()) -> Draft:
    """What models see of what was brought: ordinary days, without events, led by those under older names.

    A signal that was measured at no time is told of here, since no model can say more of it. What fails of queue and refusals beside
    the load costs no forecast and is told by `check`.
    """
    histories: list[Series] = []
    behind: list[tuple[str, SourceError]] = []
    absent: list[tuple[str, SourceError]] = []
    silent: list[Failure] = []
    notes: list[str] = []
    routes = [(each, led(fleet.store, draft.member.lineage, each.series, each.span)) for each in draft.brought]
    pressures = tuple(found.series for each, found in routes if each.query.signal in PRESSURE_SIGNALS)
    for each, found in ((each, found) for each, found in routes if each.query.signal in FORECAST_SIGNALS):
        known, query = found.series, each.query
        notes += found.absent
        search = Search(measured=known, load=ordinary(known, draft.name, events), pressures=pressures)
        marks = marked(fleet.store, draft.name, found.marks, search, now)
        measured = known.measured_ratio > 0
        histories.append(ordinary(prepare(known, now, fleet.history_s, marks), draft.name, events))
        if each.error is not None:
            (behind if measured else absent).append((query.signal, each.error))
        elif not measured:
            silent.append(_silence(query, each.span))
        elif query.signal in LOAD_SIGNALS:  # a service without requests has no length
            silent.extend(_stopped(query, known, each.span))
    failures = (
        *unfetched(behind, "could not be fetched, older history is used"),
        *unfetched(absent, "could not be fetched, and without history nothing is forecast"),
        *silent,
    )
    return replace(draft, histories=tuple(histories), notes=(*draft.notes, *notes), failures=(*draft.failures, *failures))


def _asked(source: MetricSource, each: Brought, now: datetime) -> Brought:
    known = each.known
    window = Window(start=_resume_at(known), end=known.end)
    try:
        fresh = source.fetch(each.query, window, known.step_s)
        told = (*late(known, fresh, now), *source.remarks(each.query, window, now))
    except SourceError as error:
        return replace(each, error=error)
    return replace(each, fresh=fresh, told=told)


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
