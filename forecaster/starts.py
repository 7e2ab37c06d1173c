"""Starts of replicas as they were observed, and the lead time that they come to."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

import numpy as np
from numpy.typing import NDArray

from forecaster.leadtime import Evidence, LeadTime
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, check_instant, check_named

LEVEL = 0.9
LEAST_STARTS = 10
"""The largest of ten is beyond the P90 two times in three (1 - 0.9^10): with fewer the tail was likely not seen."""
LEAST_DAYS = 3
"""One morning's starts share one registry, one node group and one luck."""
LEAST_WITHOUT_COLD = 30
"""None of n seen bounds a share at 3 / n, with 95 % confidence: at 30 nine of ten starts find their node (the rule of three)."""
LAST = 100
"""So many of a pool's newest starts are looked at."""
SPAN_S = 56 * DAY_S
HALF_LIFE_S = 14 * DAY_S
"""A start counts half after so long: images grow and registries move within weeks."""
LONGEST_S = 2 * HOUR_S
"""What takes longer is an outage of supply, which no earlier request outruns; it counts as this long, or as the configured lead time."""
YOUNG_S = 1 * HOUR_S
"""A ready replica older than this at first sight does not tell when it was first ready: its readiness may have come back since."""
_RECENT = 10
_DECIDE = 2
"""One start alone decides nothing."""
_JITTER = 3 / math.log(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One replica on its way from request to ready, as it was when last seen.

    replica: its name, never used again. scheduled, pulled, ready: instants, None = not yet or not known; pulled is when the containers ran.
    cold: whether its node came after the request, None = not known. rollout: it replaced another, and was not asked for by a larger
    count. gone: it went, or failed, before it was ready.
    """

    target: str
    replica: str
    requested: datetime
    seen_at: datetime
    scheduled: datetime | None = None
    pulled: datetime | None = None
    ready: datetime | None = None
    cold: bool | None = None
    rollout: bool = False
    gone: bool = False

    def __post_init__(self) -> None:
        check_named("start.target", self.target)
        check_named("start.replica", self.replica)
        check_instant("start.requested", self.requested)
        check_instant("start.seen_at", self.seen_at)
        if self.ready is not None and self.ready < self.requested:
            msg = f"start.ready must not be before start.requested, got {self.ready.isoformat()} and {self.requested.isoformat()}"
            raise ValueError(msg)

    @property
    def is_open(self) -> bool:
        """Whether it may still become ready."""
        return self.ready is None and not self.gone

    @property
    def took_s(self) -> float:
        """Request to ready, or to when it was last seen: then it took longer than this."""
        return max((self.known_at - self.requested).total_seconds(), 0.0)

    @property
    def known_at(self) -> datetime:
        """When it was ready, or last seen without being so."""
        return self.ready or self.seen_at

    @property
    def waited_for_node(self) -> bool:
        """Whether it counts as cold; one that no node took yet does."""
        return self.cold if self.cold is not None else self.scheduled is None

    def since(self, before: Self) -> Self:
        """What is known after it was seen once more. What is no longer told stays; whether it was a rollout the first look told best."""
        return replace(
            self,
            scheduled=self.scheduled or before.scheduled,
            pulled=self.pulled or before.pulled,
            cold=before.cold if self.cold is None else self.cold,
            rollout=before.rollout,
        )


def followed(found: Iterable[Start], known: Sequence[Start], now: datetime) -> tuple[Start, ...]:
    """The starts worth keeping of one look at a target, with what is known of those that were open before (`known`).

    One that was open and is not found any more is gone: it took longer than when it was last seen. A ready one that is seen for the first
    time long after its request is left out.
    """
    before, seen = {start.replica: start for start in known}, {start.replica: start for start in found}
    oldest = now - timedelta(seconds=YOUNG_S)
    goes_on = [start.since(before[name]) if name in before else start for name, start in seen.items()]
    kept = [start for start in goes_on if start.replica in before or start.is_open or start.requested > oldest]
    lost = [replace(start, gone=True) for name, start in before.items() if name not in seen and start.is_open]
    return (*kept, *lost)


def measured(starts: Iterable[Start], configured: LeadTime, now: datetime) -> LeadTime:
    """The lead time of a pool from its starts: P90 of request-to-ready plus jitter, warm and cold apart, in whole minutes.

    | starts seen                                          | lead time                                                      |
    |------------------------------------------------------|----------------------------------------------------------------|
    | fewer than 10, or on fewer than 3 days               | the configured one, widened                                    |
    | enough warm ones, and enough cold ones               | each part as measured, widened                                 |
    | enough warm ones, 1 to 9 cold ones                   | cold: the configured one, widened                              |
    | 30 warm ones, no cold one                            | cold as warm: nine of ten starts find their node               |

    Widened: at least what the second slowest of a part's last ten starts took, so that one alone decides nothing. Pending and gone ones
    are censored (Kaplan and Meier 1958): they took longer than they were seen. A start weighs half after 14 days. Jitter is a standard
    error of the P90, 3 / ln 5 x (P90 - P50) / sqrt(n): sqrt(p (1 - p) / n) / f of a sample quantile (Serfling 1980, 2.3.3) with the
    density f of an exponential tail through P50 and P90.
    """
    seen = _counted(starts, now)
    if not seen:
        return configured
    longest_s = max(LONGEST_S, configured.plan_s)
    warm_starts = [start for start in seen if not start.waited_for_node]
    cold_starts = [start for start in seen if start.waited_for_node]
    warm = _part(warm_starts, configured.warm_s, longest_s, now)
    is_warm = not cold_starts and warm.enough and len(warm_starts) >= LEAST_WITHOUT_COLD
    cold = replace(warm, late=0) if is_warm else _part(cold_starts, configured.cold_s, longest_s, now)
    enough = warm.enough or cold.enough
    return LeadTime(
        warm_s=warm.lead_s,
        cold_s=cold.lead_s,
        source="measured" if enough else configured.source,
        nodes_first=configured.nodes_first,
        evidence=Evidence(
            starts=len(seen),
            cold=len(cold_starts),
            pending=sum(start.is_open for start in seen),
            since=seen[0].requested,
            enough=enough,
            late=warm.late + cold.late,
            configured_s=configured.plan_s,
            node_s=_median(start.scheduled - start.requested for start in seen if start.scheduled is not None),
            image_s=_median(start.pulled - start.scheduled for start in seen if start.pulled is not None and start.scheduled is not None),
            load_s=_median(start.ready - start.pulled for start in seen if start.ready is not None and start.pulled is not None),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One part of a lead time. late: how many of its last ten starts widened it, 0 = it was not."""

    lead_s: float
    enough: bool
    late: int


def _counted(starts: Iterable[Start], now: datetime) -> list[Start]:
    """The newest that tell of the lead time at `now`, oldest first."""
    first = now - timedelta(seconds=SPAN_S)
    counted = (start for start in starts if not start.rollout and start.took_s > 0 and first < start.requested <= start.known_at <= now)
    return sorted(counted, key=lambda start: (start.requested, start.replica))[-LAST:]


def _part(starts: Sequence[Start], configured_s: float, longest_s: float, now: datetime) -> _Part:
    """P90 plus jitter where there are enough, else the configured value; widened where the last ten say so."""
    took_s = np.minimum([start.took_s for start in starts], longest_s)
    ready = np.array([start.ready is not None for start in starts], dtype=bool)
    days = {start.requested.date() for start in starts if start.ready is not None}
    enough = int(ready.sum()) >= LEAST_STARTS and len(days) >= LEAST_DAYS
    age_s = np.array([(now - start.requested).total_seconds() for start in starts])
    base_s = min(_whole_minutes(_p90(took_s, ready, 0.5 ** (age_s / HALF_LIFE_S))), longest_s) if enough else configured_s
    late = np.sort(took_s[-_RECENT:][took_s[-_RECENT:] > base_s])
    if late.size < _DECIDE:
        return _Part(lead_s=base_s, enough=enough, late=0)
    return _Part(lead_s=_whole_minutes(float(late[-_DECIDE])), enough=enough, late=late.size)


def _p90(took_s: Floats, ready: NDArray[np.bool_], weight: Floats) -> float:
    """With its jitter. The median is that of the ready ones, so that a pending one only ever lengthens it."""
    p90, p50 = _quantile(took_s, ready, weight, LEVEL), _quantile(took_s[ready], ready[ready], weight[ready], 0.5)
    count = float(weight.sum() ** 2 / (weight**2).sum())  # as many equal ones would say as much (Kish 1965)
    return p90 + _JITTER * (p90 - p50) / math.sqrt(count)


def _quantile(took_s: Floats, ready: NDArray[np.bool_], weight: Floats, level: float) -> float:
    """The Kaplan-Meier quantile; where too many have not ended to reach it, what the second slowest took at least."""
    order = np.lexsort((~ready, took_s))
    left = weight[order][::-1].cumsum()[::-1]
    survival = np.cumprod(1 - np.where(ready[order], weight[order] / left, 0.0))
    reached = np.flatnonzero(survival <= 1 - level + 1e-9)
    return float(took_s[order][reached[0]] if reached.size else np.sort(took_s)[-_DECIDE])


def _whole_minutes(span_s: float) -> float:
    """Rounded up, so that a lead window does not change with every start: models start anew where it does."""
    return float(math.ceil(span_s / MINUTE_S - 1e-9) * MINUTE_S)


def _median(spans: Iterable[timedelta]) -> float | None:
    """In seconds; clocks of two machines may be a little apart, so below 0 counts as 0."""
    seconds = [max(span.total_seconds(), 0.0) for span in spans]
    return float(np.median(seconds)) if seconds else None
