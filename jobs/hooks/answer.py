"""The one answer to whoever asks for a floor: values of the store and an instant in, replicas and a sentence out.

| what is known                                        | the floor                                                          |
|------------------------------------------------------|--------------------------------------------------------------------|
| the workload runs in mode `observe`                  | the fallback: what was decided there is for people to look at       |
| the last decision is fresh                           | as decided: plan, live load, orders of people and bounds are in it  |
| nobody decides any more, and the plan is good        | the largest of the last decision, while it holds, fallback and plan |
| nobody decides any more, no plan, the decision holds | the larger of the last decision and the fallback                    |
| nobody decides any more, and all has expired         | the fallback                                                       |
| nothing was ever seen, and no fallback is configured | unknown, never 0                                                   |

A configured window that is open is a floor under the third to the fifth; bounds outrank everything.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from forecaster.plan import Plan, window_floor
from forecaster.starts import Start
from forecaster.units import iso
from forecaster.workload import Mode, Policy, Pool
from jobs.postings import Posting

HPA_TOLERANCE_RATIO = 0.1
"""How far a metric may be off its target before a HorizontalPodAutoscaler moves: Kubernetes' default."""
_HAIR = 1e-9


class Source(StrEnum):
    """What a floor rests on."""

    DECIDED = "decided"
    PLANNED = "planned"
    LAST = "last"
    FALLBACK = "fallback"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that an answer rests on, of one pool. policy: in the mode that holds now.

    posting: what the last apply left, None = none ever did. plan: the one in force now, asked for only where the posting is not fresh.
    starts: replicas on their way, with the instant of their request. fresh_s: how old a posting may be while somebody still decides.
    """

    workload: str
    pool: Pool
    policy: Policy
    posting: Posting | None
    fresh_s: float
    plan: Plan | None = None
    starts: tuple[Start, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A pool's floor and what is known of its replicas at `at`; None = not known, never 0.

    why: the floor in one sentence. seen_at: when the numbers were seen. ready, warming, planned, planned_ahead: replicas. queue: requests.
    lead_s: what a replica asked for now takes until it is ready. eta_s: seconds until the next of the warming replicas should be ready, and
    `lead_s` where none is on its way.
    """

    workload: str
    pool: str
    at: datetime
    mode: Mode
    floor: int | None
    source: Source
    why: str
    seen_at: datetime | None
    ready: int | None
    warming: int | None
    queue: float | None
    planned: int | None
    planned_ahead: int | None
    lead_s: float
    eta_s: float

    @property
    def active(self) -> bool:
        """Whether there is to be any replica at all: false at a floor of 0 and nowhere else."""
        return self.floor != 0

    @property
    def age_s(self) -> float | None:
        """How old the numbers are, in seconds."""
        return None if self.seen_at is None else max((self.at - self.seen_at).total_seconds(), 0.0)

    @property
    def standing(self) -> int | None:
        """Replicas that were there or on their way."""
        return None if self.ready is None or self.warming is None else self.ready + self.warming


def is_fresh(posting: Posting | None, fresh_s: float, now: datetime) -> bool:
    """Whether somebody still decides; a posting of the future is of a clock that nobody can rely on."""
    return posting is not None and abs((now - posting.at).total_seconds()) <= fresh_s


def answer(known: Known, now: datetime) -> Answer:
    """The answer at `now`; its floor is None only where nothing was ever seen and no fallback is configured."""
    posting, pool = known.posting, known.pool
    floor, source, why = _bounded(posting, *_floor(known, now))
    lead_s = posting.lead_s if posting is not None and posting.lead_s is not None else pool.lead_time.plan_s
    warming = None if posting is None else posting.pending
    plan = known.plan.floor_at(now) if known.plan is not None else None
    return Answer(
        workload=known.workload,
        pool=pool.name,
        at=now,
        mode=known.policy.mode,
        floor=floor,
        source=source,
        why=why,
        seen_at=None if posting is None else posting.at,
        ready=None if posting is None else posting.ready,
        warming=warming,
        queue=None if posting is None else posting.queue,
        planned=plan.replicas if plan is not None else None if posting is None else posting.planned,
        planned_ahead=None if posting is None or plan is not None else posting.planned_ahead,
        lead_s=lead_s,
        eta_s=_eta_s(known.starts, warming, lead_s, now),
    )


def hpa_value(floor: int, standing: int | None, tolerance_ratio: float = HPA_TOLERANCE_RATIO) -> int:
    """The least metric, one a replica, at which a HorizontalPodAutoscaler that has `standing` replicas wants at least `floor`.

    With a target of 1 a replica on average it wants ceil(metric), but moves only where metric / replicas leaves 1 by more than the
    tolerance (Kubernetes, GetExternalPerPodMetricReplicas): no metric makes 21 of 20. So where the floor itself would be swallowed, the
    metric is the next one that is not. standing None = not known: as if all but one were there, where the most is swallowed.
    """
    below = floor - 1 if standing is None else standing
    if below >= floor or below <= 0:
        return floor
    return max(floor, math.floor((1 + tolerance_ratio) * below + _HAIR) + 1)


def _floor(known: Known, now: datetime) -> tuple[int | None, Source, str]:
    posting, policy = known.posting, known.policy
    fallback = policy.fallback if policy.fallback is not None else None if posting is None else posting.original
    if policy.mode is Mode.OBSERVE:
        return _fallback(known, fallback, "mode observe moves nothing")
    if posting is None or posting.mode is Mode.OBSERVE:
        return _fallback(known, fallback, "nothing was decided yet that may be followed")
    if is_fresh(posting, known.fresh_s, now):
        return posting.floor, Source.DECIDED, f"decided at {iso(posting.at)}"
    silent = f"nobody has decided since {iso(posting.at)}"
    last = posting.floor if now < posting.valid_until else 0
    window = window_floor(policy.windows, now)
    planned = known.plan.floor_at(now) if known.plan is not None else None
    if planned is not None:
        told = f"{silent}: the largest of the plan's {planned.replicas}, the fallback {fallback or 0} and the last floor {last}"
        return max(planned.replicas, fallback or 0, last, window), Source.PLANNED, told
    if last:
        told = f"{silent}: the last floor {last} holds until {iso(posting.valid_until)}, the fallback is {fallback or 0}"
        return max(last, fallback or 0, window), Source.LAST, told
    floor, source, told = _fallback(known, fallback, f"{silent}, and plan and decision have expired")
    return None if floor is None else max(floor, window), source, told


def _fallback(known: Known, fallback: int | None, because: str) -> tuple[int | None, Source, str]:
    if fallback is None:
        told = f"{known.workload}: nothing is known of pool {known.pool.name} yet; run `forecaster apply`, or set policy.fallback"
        return None, Source.UNKNOWN, told
    whose = "as configured" if known.policy.fallback is not None else "as found at adoption"
    return fallback, Source.FALLBACK, f"{because}: the fallback {fallback}, {whose}"


def _bounded(posting: Posting | None, floor: int | None, source: Source, why: str) -> tuple[int | None, Source, str]:
    """The floor within the bounds as the last apply saw them; where they cross the ceiling wins."""
    if floor is None or posting is None:
        return floor, source, why
    within = max(floor, posting.least)
    within = within if posting.most is None else min(within, posting.most)
    return within, source, why if within == floor else f"{why}; bounds make it {within}"


def _eta_s(starts: Sequence[Start], warming: int | None, lead_s: float, now: datetime) -> float:
    """Until the next replica on its way should be ready; one that is overdue may come at any moment."""
    asked = [start.requested for start in starts if start.is_open]
    if not asked or warming == 0:
        return lead_s
    return min(max(lead_s - (now - requested).total_seconds(), 0.0) for requested in asked)
