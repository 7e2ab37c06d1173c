"""Whether what tiers watch is answered now, and can exceed what it is compared with."""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime

from connectors.live.exposition import answer, lacking, largest_bound
from connectors.live.pages import Asked, Pages
from forecaster.errors import SourceError
from forecaster.ladder import Ladder
from forecaster.ports import MetricSource
from forecaster.tiers import Rules
from forecaster.units import spell_number
from jobs.checking.finding import Finding, State
from jobs.config.tiers import TiersSection
from jobs.levers.asking import SourceSignal, latest
from jobs.levers.desk import asked_of, sources_of


def check_signals(tiers: TiersSection, sources: Mapping[str, MetricSource], now: datetime) -> Iterator[Finding]:
    """One finding a signal; several where some of its pages do not answer."""
    rules, pages = tiers.to_core(), Pages()
    watched = {ladder.trigger.signal for ladder in rules.ladders}
    for asked in asked_of(tiers):
        yield from _of_pages(asked, pages, rules, now)
    for signal in sources_of(tiers, sources):
        yield _of_source(signal, now)
    for name in tiers.signals:
        if name not in watched:
            yield _finding(name, State.WARNING, "no rule or ladder watches it: remove it")


def _of_pages(asked: Asked, pages: Pages, rules: Rules, now: datetime) -> Iterator[Finding]:
    look, _, errors = pages.look((asked,), None, now)
    dead = State.FAILED if len(errors) == len(asked.pages) else State.WARNING
    for error in errors:
        yield _finding(asked.signal, dead, str(error))
    if dead is State.FAILED:
        return
    counts = look.counts[asked.signal]
    missing = lacking(asked.question, counts)
    if missing:
        what = (
            f"histogram {missing[0].name} (no {missing[0].name}_bucket)"
            if asked.question.kind == "quantile"
            else f"sample of {missing[0].name}"
        )
        told = f"no {what} is on {_of(asked.pages)} now, so that it is unknown"
        yield _finding(asked.signal, State.WARNING, f"{told}: correct the query, unless it comes with the first request")
        return
    blunt = _blunt(asked, counts, rules)
    if blunt:
        yield _finding(asked.signal, State.FAILED, blunt)
        return
    known = answer(asked.question, counts, None, math.nan)
    stands = f"is {spell_number(known)} now" if math.isfinite(known) else "can be told from the second look on"
    yield _finding(asked.signal, State.OK, f"{stands}, of {_of(asked.pages)}")


def _blunt(asked: Asked, counts: Mapping[str, float], rules: Rules) -> str:
    """Why a quantile can never be above what it is compared with; empty where it can."""
    largest = largest_bound(counts) if asked.question.kind == "quantile" else math.nan
    for ladder in rules.ladders:
        if ladder.trigger.signal == asked.signal and ladder.trigger.above >= largest:
            return _told(ladder, largest)
    return ""


def _told(ladder: Ladder, largest: float) -> str:
    told = f"the histogram's largest bucket ends at {spell_number(largest)}, and no quantile of it is above that"
    return f"{told}: {ladder.name} acts above {spell_number(ladder.trigger.above)}, which it never will; lower it, or add buckets"


def _of_source(signal: SourceSignal, now: datetime) -> Finding:
    try:
        known = latest(signal, now)
    except SourceError as error:
        return _finding(signal.signal, State.FAILED, str(error))
    if math.isnan(known):
        return _finding(signal.signal, State.WARNING, f"{signal.expression!r} has no number now, so that it is unknown: correct the query")
    return _finding(signal.signal, State.OK, f"is {spell_number(known)} now")


def _of(pages: tuple[str, ...]) -> str:
    return pages[0] if len(pages) == 1 else f"{len(pages)} pages"


def _finding(name: str, state: State, sentence: str) -> Finding:
    return Finding(what="signal", where=name, state=state, sentence=sentence)
