"""Whether every query is answered now, and how far back."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from connectors.sources.registry import OpenedSource, SourceConfig
from forecaster.errors import HistoryAtOtherStep, SourceError, StoreError
from forecaster.models.catalogue import model
from forecaster.ports import Query, Store
from forecaster.series import LOAD_SIGNALS, Window
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, WEEK_S, floor_to
from jobs.checking.finding import Finding, State
from jobs.checking.presets import PresetCheck
from jobs.config.document import ForecastSection
from jobs.config.presets import Supply
from jobs.config.workloads import WorkloadSection

_SEASON_S = 2 * WEEK_S
"""A weekly cycle is known once it was seen twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Where history can be: the source, and the store where there is one to read."""

    source: OpenedSource
    store: Store | None
    now: datetime


def check_load(section: WorkloadSection, forecast: ForecastSection, past: Past) -> Iterator[Finding]:
    """One finding a query, and one on the history of each load signal that is answered."""
    asked = [(str(query.signal), query) for query in section.written()] + [(f"hold_when.{name}", q) for name, q in section.conditions()]
    for name, query in asked:
        found = _answered(f"{section.name}: {name}", query, past)
        yield found
        if query.signal in LOAD_SIGNALS and found.state is not State.FAILED:
            yield _history(section, query, forecast, past)


def check_task(section: WorkloadSection, past: Past) -> Iterator[Finding]:
    """One finding a question on what a task takes; without an answer only tasks have no cost, so none of them fails the check."""
    end = floor_to(past.now, MINUTE_S)
    hour = Window(start=end - timedelta(seconds=HOUR_S), end=end)
    for name, query in ({} if section.task is None else section.task.to_core().questions()).items():
        state, sentence = State.WARNING, f"{query.expression!r} has no number of the last hour, and without one tasks have no cost"
        try:
            answers = past.source.fetch(query, hour, MINUTE_S).mean
        except SourceError as error:
            sentence = str(error)
        else:
            if not np.isnan(answers).all():
                state, sentence = State.OK, f"{query.expression!r} is {np.nanmean(answers):.4g} over the last hour"
        yield Finding(what="query", where=f"{section.name}: task.{name}", state=state, sentence=sentence)


def check_presets(section: WorkloadSection, config: SourceConfig, forecast: ForecastSection, past: Past) -> Iterator[Finding]:
    """One finding on what presets supply, one a preset that supplies nothing, one a signal that is asked for, one a history of load."""
    if not section.presets:
        return
    check = PresetCheck(section, config, past.source, past.now)
    answers = [(supply, *check.answered(supply)) for supply in section.supplies()]
    yield check.summary([(supply, last) for supply, _, last in answers])
    yield from check.doubts()
    telling = {supply.preset.name for supply, found, _ in answers if found.state is State.OK}
    used, silent = section.used(), set[str]()
    for supply, found, _ in answers:
        if supply.preset.name not in telling:
            if supply.preset.name not in silent:
                yield replace(found, what="presets", where=section.name, state=_worst(answers, supply.preset.name, used))
            silent.add(supply.preset.name)
        elif supply in used:
            yield found
            if supply.quantity.signal in LOAD_SIGNALS and found.state is not State.FAILED:
                yield _history(section, supply.query, forecast, past)


def _worst(answers: Sequence[tuple[Supply, Finding, float | None]], preset: str, used: Collection[Supply]) -> State:
    """How it is that a preset supplies nothing: worse where the core asks for it."""
    states = [found.state for supply, found, _ in answers if supply.preset.name == preset and supply in used]
    return State.FAILED if State.FAILED in states else State.WARNING


def _answered(where: str, query: Query, past: Past) -> Finding:
    end = floor_to(past.now, MINUTE_S)
    try:
        sentence = past.source.probe(query, past.now)
        hour = past.source.fetch(query, Window(start=end - timedelta(seconds=HOUR_S), end=end), MINUTE_S)
    except SourceError as error:
        return Finding(what="query", where=where, state=State.FAILED, sentence=str(error))
    known = not np.isnan(hour.mean).all()
    return Finding(what="query", where=where, state=State.OK if known else State.WARNING, sentence=sentence)


def _history(section: WorkloadSection, query: Query, forecast: ForecastSection, past: Past) -> Finding:
    where = f"{section.name}: {query.signal}"
    try:
        days = max(_kept_days(section, query, forecast, past), _days_back(query, forecast, past))
    except (SourceError, StoreError, HistoryAtOtherStep) as error:
        return Finding(what="history", where=where, state=State.FAILED, sentence=str(error))
    state, sentence = _judged(days, forecast)
    return Finding(what="history", where=where, state=state, sentence=sentence)


def _judged(days: int, forecast: ForecastSection) -> tuple[State, str]:
    """What so many whole days are good for."""
    least = model(forecast.model).minimum_history_s / DAY_S
    have = f"{days} of the {forecast.history / DAY_S:g} days wanted"
    if days < least:
        short = f"{days} whole days of the {forecast.history / DAY_S:g} wanted"
        borrowed = "no forecast is made unless similar older workloads lend their shape"
        return State.WARNING, f"{short}: with less than {least:g} {borrowed}, and without one floors stay at the fallback"
    if days * DAY_S < min(_SEASON_S, forecast.history):
        return State.WARNING, f"{have}: the week's own shape shows after {_SEASON_S / DAY_S:g}, until then forecasts go by the day"
    return State.OK, f"{have}" + ("" if days * DAY_S >= forecast.history else "; more is kept in the store as it comes")


def _kept_days(section: WorkloadSection, query: Query, forecast: ForecastSection, past: Past) -> int:
    """Days since the oldest measured bucket in the store."""
    if past.store is None:
        return 0
    step_s = int(section.step)
    end = floor_to(past.now, step_s)
    window = Window(start=floor_to(end - timedelta(seconds=forecast.history), step_s), end=end)
    kept = past.store.history(section.name, query.signal, window, step_s)
    measured = np.flatnonzero(~np.isnan(kept.mean))
    return 0 if measured.size == 0 else int((len(kept) - measured[0]) * step_s // DAY_S)


def _days_back(query: Query, forecast: ForecastSection, past: Past) -> int:
    """Whole days for which the source has load, found by halving: a few days are asked for, not all of them."""
    low, high = 0, int(forecast.history // DAY_S)
    oldest_h = _age_h(query, high, past)
    if oldest_h:
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        age_h = _age_h(query, middle, past)
        low, high = (middle, high) if age_h else (low, middle)
        oldest_h = age_h or oldest_h
    return oldest_h * HOUR_S // DAY_S


def _age_h(query: Query, days: int, past: Past) -> int:
    """Hours since the first measured hour of the day that began so many days ago, 0 where nothing of it was measured."""
    start = floor_to(past.now, HOUR_S) - timedelta(days=days)
    day = past.source.fetch(query, Window(start=start, end=start + timedelta(days=1)), HOUR_S)
    measured = np.flatnonzero(~np.isnan(day.mean))
    return 0 if measured.size == 0 else days * DAY_S // HOUR_S - int(measured[0])
