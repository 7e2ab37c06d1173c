"""The step between forecast and demand: which forecasts plans may rest on, and what they rest on instead."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, partial

from forecaster.cycle import cycle_ratio
from forecaster.errors import ForecasterError
from forecaster.event_effects import ordinary
from forecaster.forecast import Forecast, Horizon, Issued, Request
from forecaster.history import prepare
from forecaster.marks import marks_in_force
from forecaster.models.catalogue import model
from forecaster.models.chunk import forecast_chunk
from forecaster.series import LOAD_SIGNALS, Series, Signal, Window, panel_of
from forecaster.trust import Trust, Verdict, base_forecast, is_wide, reactive, trust
from forecaster.units import floor_to
from jobs.draft import Draft
from jobs.events import known_events
from jobs.failure import Failure, failure
from jobs.fleet import Fleet
from jobs.route import route


def believe(fleet: Fleet, draft: Draft, now: datetime) -> Draft:
    """What is thought of each load forecast, and what plans rest on: the forecast itself, the naive one, or the base load.

    A forecast that is distrusted and cannot be replaced stays, with a failure that says so: a doubtful plan is better than none.
    """
    if draft.member.workload.policy.trust.score == 0:
        return draft
    earlier = cache(partial(_last_verdicts, fleet, draft, now))
    believed, trusts, failures = [], [], list(draft.failures)
    for forecast in draft.forecasts:
        if forecast.signal not in LOAD_SIGNALS:
            continue
        found, rests_on, failed = _judged(fleet, draft, forecast, partial(_of, forecast.signal, earlier))
        believed.append(rests_on)
        trusts.append(found)
        failures += failed
    return replace(draft, believed=tuple(believed), trusts=tuple(trusts), failures=tuple(failures))


def _judged(fleet: Fleet, draft: Draft, forecast: Forecast, last: Callable[[], Verdict | None]) -> tuple[Trust, Forecast, list[Failure]]:
    found, rests_on, failures = _settled(partial(trust, forecast, draft.member.workload.policy.trust), last), forecast, []
    if found.verdict is Verdict.NAIVE:
        naive = _naive(fleet, draft, forecast)
        if isinstance(naive, Forecast):
            rests_on = naive
        else:
            failures.append(failure("forecast", naive, f"{found.sentence}, but {fleet.fallback} has no answer: {naive}"))
            found = replace(found, verdict=Verdict.TRUSTED, reason=None)
    if is_wide(rests_on, Verdict.REACTIVE):  # at the lower of the two limits
        history = _history(fleet, draft, forecast)
        found = _settled(partial(_by_cycle, found, rests_on, cycle_ratio(history)), last)
        if found.verdict is Verdict.REACTIVE:
            rests_on = base_forecast(forecast, history)
    return found, rests_on, failures


def _settled(judge: Callable[[Verdict | None], Trust], last: Callable[[], Verdict | None]) -> Trust:
    """A verdict; the one before, which costs reading a plan, is asked only where it makes a difference."""
    fresh, doubted = judge(None), judge(Verdict.REACTIVE)
    return fresh if fresh.verdict is doubted.verdict else judge(last())


def _by_cycle(found: Trust, rests_on: Forecast, ratio: float | None, last: Verdict | None) -> Trust:
    return reactive(found, ratio, last) if is_wide(rests_on, last) else replace(found, cycle_ratio=ratio)


def _naive(fleet: Fleet, draft: Draft, forecast: Forecast) -> Forecast | ForecasterError:
    """The fallback's forecast on the grid of another one, from what was known when that was issued."""
    horizon = Horizon(
        issued_at=forecast.issued_at,
        start=forecast.start,
        step_s=forecast.step_s,
        steps=len(forecast),
        window_steps=max(1, forecast.window_s // forecast.step_s),
    )
    panel = panel_of({draft.name: _history(fleet, draft, forecast)})
    fallback = model(fleet.fallback)
    asked = Request(horizon=horizon, levels=forecast.levels, calendar=draft.member.workload.calendar)
    (answer,) = forecast_chunk(panel, (None,), asked, fallback, fallback)
    return answer.forecast if isinstance(answer, Issued) else answer


def _history(fleet: Fleet, draft: Draft, forecast: Forecast) -> Series:
    """What the forecast was made from; from the store where this run has fetched nothing."""
    fetched = next((s for s in draft.histories if (s.signal, s.step_s, s.end) == (forecast.signal, forecast.step_s, forecast.start)), None)
    if fetched is not None:
        return fetched
    start = floor_to(forecast.start - timedelta(seconds=fleet.history_s), forecast.step_s)
    kept = route(fleet.store, draft.member.lineage, forecast.signal, Window(start=start, end=forecast.start), forecast.step_s)
    marks = marks_in_force([mark for mark in kept.marks if mark.at <= forecast.issued_at])
    return ordinary(prepare(kept.series, forecast.start, fleet.history_s, marks), draft.name, known_events(fleet, forecast.issued_at))


def _of(signal: Signal, earlier: Callable[[], dict[Signal, Verdict]]) -> Verdict | None:
    return earlier().get(signal)


def _last_verdicts(fleet: Fleet, draft: Draft, now: datetime) -> dict[Signal, Verdict]:
    """What the newest plans before `now` thought of each signal; a run done again at `now` finds the same."""
    verdicts: dict[Signal, Verdict] = {}
    before = Window(start=now - timedelta(seconds=fleet.horizon_s), end=now)
    for pool in draft.member.workload.pools:
        for plan in fleet.store.plans(draft.name, pool.name, before, last=1, span=before):
            verdicts |= {found.signal: found.verdict for found in plan.trusts}
    return verdicts
