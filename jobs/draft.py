"""One workload on its way down the first half of the line."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

import structlog

from forecaster.envelope import Move
from forecaster.errors import ForecasterError, SourceError, StoreError
from forecaster.forecast import DailyPeak, Forecast
from forecaster.marks import Mark
from forecaster.plan import Plan
from forecaster.ports import Query
from forecaster.reasons import Reason
from forecaster.series import Series, Signal, Window
from forecaster.trust import Trust
from jobs.failure import Failure, failure
from jobs.fleet import Member

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a signal's history, in short. ratio: share of its buckets that were measured; until: its end."""

    signal: Signal
    ratio: float
    measured_s: float
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is told of a forecast once it is stored and planned from, events included."""

    signal: Signal
    model: str
    daily_peaks: tuple[DailyPeak, ...]
    notes: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Brought:
    """One signal over the span that models see, from the store and then from its source.

    known: what the store had. fresh: what the source answered, None = it was not asked, or failed with `error`. told: what was said of
    the samples.
    """

    query: Query
    span: Window
    known: Series
    fresh: Series | None = None
    told: tuple[Mark, ...] = ()
    error: SourceError | None = None

    @property
    def series(self) -> Series:
        """What is known now."""
        return self.known if self.fresh is None else self.known.updated(self.fresh)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One workload on its way down the line. failures: what went wrong so far; it goes on with what it has.

    believed: the load forecasts that plans rest on, where they were judged; trusts: what was thought of the issued ones. moves: one a
    plan. notes: what a person should know and is no failure. asides: what failed and kept nothing from being done.

    brought, histories, forecasts and believed are there while they are worked on. What stays of them is known and outlooks, since
    those of ten thousand workloads would take gigabytes.
    """

    member: Member
    brought: tuple[Brought, ...] = ()
    histories: tuple[Series, ...] = ()
    known: tuple[Known, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    believed: tuple[Forecast, ...] = ()
    outlooks: tuple[Outlook, ...] = ()
    trusts: tuple[Trust, ...] = ()
    plans: tuple[Plan, ...] = ()
    moves: tuple[Move, ...] = ()
    waiting: tuple[Plan, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    asides: tuple[Failure, ...] = ()

    @property
    def name(self) -> str:
        """The workload's name."""
        return self.member.workload.name

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each thing that failed."""
        return tuple(failed.sentence for failed in self.failures)

    def without_histories(self) -> Self:
        """The draft with what is known of its histories in their place."""
        return replace(self, brought=(), histories=(), known=tuple(map(_known, self.histories)))

    def without_forecasts(self) -> Self:
        """The draft with what is told of its forecasts in their place."""
        return replace(self, forecasts=(), believed=(), outlooks=tuple(map(_outlook, self.forecasts)))


def walled(step: Callable[[Draft], Draft], draft: Draft) -> Draft:
    """The step on a draft; one that raises keeps its draft as it was, with the sentence. Raises StoreError."""
    try:
        return step(draft)
    except StoreError:
        raise
    except Exception as error:  # the wall between workloads: whatever breaks one must not stop the others
        if not isinstance(error, ForecasterError):
            log.exception("forecast", workload=draft.name)
        return replace(draft, failures=(*draft.failures, failure("forecast", error)))


def _known(series: Series) -> Known:
    ratio = series.measured_ratio
    return Known(signal=series.signal, ratio=ratio, measured_s=ratio * len(series) * series.step_s, until=series.end)


def _outlook(forecast: Forecast) -> Outlook:
    return Outlook(signal=forecast.signal, model=forecast.model, daily_peaks=forecast.daily_peaks, notes=forecast.notes)
