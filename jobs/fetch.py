"""The first step of the line: bring the history of a workload into the store, and take from there what models see."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from forecaster.detect.late import late
from forecaster.errors import NotEnoughHistory, SourceError
from forecaster.event_effects import ordinary
from forecaster.events import Event
from forecaster.history import prepare
from forecaster.ports import Query
from forecaster.reasons import Code
from forecaster.series import FORECAST_SIGNALS, LOAD_SIGNALS, PRESSURE_SIGNALS, Series, Window
from forecaster.units import HOUR_S, floor_to, iso
from jobs.draft import Draft
from jobs.failure import Failure, no_samples, unfetched
from jobs.fleet import Fleet, Member
from jobs.marking import Search, keep_told, marked
from jobs.route import Route, route

LATE_S = 2 * HOUR_S
"""Samples may arrive this late: so much is fetched again."""


def fetch(fleet: Fleet, draft: Draft, now: datetime, events: tuple[Event, ...] = ()) -> Draft:
    """Bring the workload's history up to `now` into the store, and take from there what models see: ordinary days, without events.

    A signal that was measured at no time is told of here, since no model can say more of it.
    """
    member = draft.member
    end = floor_to(now, member.step_s)
    span = Window(start=floor_to(end - timedelta(seconds=fleet.history_s), member.step_s), end=end)
    histories: list[Series] = []
    behind: list[tuple[str, SourceError]] = []
    absent: list[tuple[str, SourceError]] = []
    silent: list[Failure] = []
    notes: list[str] = []
    pressures = _pressures(fleet, member, span, now)
    for query in (q for q in member.queries if q.signal in FORECAST_SIGNALS):
        found, error = _brought(fleet, member, query, span, now)
        known = found.series
        notes += found.absent
        search = Search(measured=known, load=ordinary(known, draft.name, events), pressures=pressures)
        marks = marked(fleet.store, draft.name, found.marks, search, now)
        measured = known.measured_ratio > 0
        histories.append(ordinary(prepare(known, now, fleet.history_s, marks), draft.name, events))
        if error is not None:
            (behind if measured else absent).append((query.signal, error))
        elif not measured:
            silent.append(_silence(query, span))
        elif query.signal in LOAD_SIGNALS:  # a service without requests has no length
            silent.extend(_stopped(query, known, span))
    failures = (
        *unfetched(behind, "could not be fetched, older history is used"),
        *unfetched(absent, "could not be fetched, and without history nothing is forecast"),
        *silent,
    )
    return replace(draft, histories=tuple(histories), notes=(*draft.notes, *notes), failures=(*draft.failures, *failures))


def _pressures(fleet: Fleet, member: Member, span: Window, now: datetime) -> tuple[Series, ...]:
    """Queue and refusals beside the load, which tell a capped day. What fails here costs no forecast and is told by `check`."""
    asked = (query for query in member.queries if query.signal in PRESSURE_SIGNALS)
    return tuple(_brought(fleet, member, query, span, now)[0].series for query in asked)


def _brought(fleet: Fleet, member: Member, query: Query, span: Window, now: datetime) -> tuple[Route, SourceError | None]:
    """What is known of a signal over the span, after what the store did not have was fetched, and what kept it from that."""
    known = fleet.store.history(member.workload.name, query.signal, span, member.step_s)
    failed = None
    try:
        _kept(fleet, member, query, known, now)
    except SourceError as error:
        failed = error
    return route(fleet.store, member.lineage, query.signal, span, member.step_s), failed


def _kept(fleet: Fleet, member: Member, query: Query, known: Series, now: datetime) -> None:
    """Fetch what is not known yet, keep it, and keep what it and the source say of how the samples came. Raises SourceError."""
    name, window = member.workload.name, Window(start=_resume_at(known), end=known.end)
    fresh = member.source.fetch(query, window, member.step_s)
    fleet.store.append_history(name, fresh)
    keep_told(fleet.store, name, (*late(known, fresh, now), *member.source.remarks(query, window, now)))


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
