"""From a profile to what one replica carries inside an SLO: the knee of the sweep, and whether compute or memory binds."""

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from forecaster.capacity import Capacity
from forecaster.profile import Origin, Point, Profile, Setup, Slo
from forecaster.units import DAY_S, spell_number

LEAST_ACHIEVED_RATIO = 0.95
"""Of what was sent: below it the replica falls behind, and its latencies are those of how long the test took."""
MOST_ERRORS_RATIO = 0.01
LEAST_POINTS = 2
_SIGMAS = 2
_NARROW_RATIO, _WIDE_RATIO = 1.25, 2.0
_YOUNG_S, _OLD_S = 90 * DAY_S, 365 * DAY_S


class Binds(StrEnum):
    """What a replica runs out of first."""

    RATE = "rate"
    MEMORY = "memory"

    @property
    def advice(self) -> str:
        """What helps, in words."""
        return "rate binds: add replicas" if self is Binds.RATE else "memory binds: add KV memory or quantise"


class Confidence(StrEnum):
    """How far a capacity is to be believed."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What one replica carries. knee: the largest step inside the SLO; beyond: the next one above it, None = a tool proved the knee.

    broke: why that one is outside. memory_in_flight: requests that the KV cache holds, None = not known; memory_unknown: why.
    """

    capacity: Capacity
    binds: Binds
    knee: Point
    beyond: Point | None
    broke: str
    memory_in_flight: float | None
    memory_unknown: str


Unproven: TypeAlias = str
"""The sentence that says why a profile proves no capacity, and what to do."""


def carried(profile: Profile, slo: Slo) -> Carried | Unproven:
    """What one replica carries within `slo`: min(compute, memory), or why the profile does not tell.

    Compute: the largest load whose P95 holds while at least 95 % of what is sent is served and at most 1 % fails, with a step above
    it that breaks: a sweep that never broke proves only "at least". rpm is what was served there, requests in flight = rate x mean time
    (Little 1961), tokens = rate x generated tokens a request, so that the three speak of one load. Memory: `requests_in_memory`; where
    it is less than what compute has in flight, all three fall in proportion.
    """
    found = _proven(profile, slo) if profile.proven is not None else _knee(profile, slo)
    if isinstance(found, str):
        return found
    knee, beyond, broke = found
    memory, unknown = requests_in_memory(profile.setup, knee)
    in_flight = knee.concurrency
    share = 1.0 if memory is None or in_flight is None else min(1.0, memory / in_flight)
    return Carried(
        capacity=Capacity(
            rpm=knee.achieved_rpm * share,
            concurrency=None if in_flight is None else in_flight * share,
            tokens=None if knee.tokens_s is None else knee.tokens_s * share,
            source=profile.source,
            measured_at=profile.measured_at,
        ),
        binds=Binds.MEMORY if share < 1 else Binds.RATE,
        knee=knee,
        beyond=beyond,
        broke=broke,
        memory_in_flight=memory,
        memory_unknown=unknown,
    )


def requests_in_memory(setup: Setup, point: Point) -> tuple[float | None, str]:
    """Requests that the KV cache holds: KV tokens / (mean + 2 sigma of input and output tokens - shared prefix); None with the reason.

    sigma = sqrt(input std^2 + output std^2), of lengths that do not depend on each other. What is shared takes its place once, off the
    KV tokens.
    """
    if setup.kv_tokens is None:
        return None, "the KV tokens of a replica are not told"
    if point.input_tokens is None or point.output_tokens is None:
        return None, "the file tells no token lengths"
    if point.input_std is None or point.output_std is None:
        return None, "the file tells no spread of token lengths"
    prefix = setup.shared_prefix_tokens or 0.0
    length = point.input_tokens + point.output_tokens + _SIGMAS * math.hypot(point.input_std, point.output_std) - prefix
    room = setup.kv_tokens - prefix
    if length <= 0 or room < length:
        return None, f"KV tokens of {spell_number(setup.kv_tokens)} and a shared prefix of {spell_number(prefix)} do not fit its requests"
    return room / length, ""


def confidence(profile: Profile, found: Carried, stale: tuple[str, ...], now: datetime) -> tuple[Confidence, tuple[str, ...]]:
    """How far to believe a capacity, and what speaks against it.

    | low    | what was measured is not what is served; or older than a year                                              |
    | medium | a closed loop; the next step is more than 25 % above the knee; older than 90 days, or of no true age; a tool's own word |
    |        | production, where nobody sets the load                                                                     |
    | high   | else                                                                                                       |
    """
    low, medium = list(stale), []
    age_s = None if profile.measured_at is None else (now - profile.measured_at).total_seconds()
    if age_s is None:
        medium.append("nobody tells when it was measured")
    elif age_s < -DAY_S:  # by less it may be a zone that the file does not tell
        medium.append(f"measured {-age_s / DAY_S:.0f} days from now, so that a clock was wrong")
    elif age_s > _YOUNG_S:
        (low if age_s > _OLD_S else medium).append(f"measured {age_s / DAY_S:.0f} days ago")
    if profile.origin is Origin.PRODUCTION:
        medium.append("learned from production, where nobody sets the load")
        if found.knee.error_ratio is None:
            medium.append("nobody tells how many requests were refused")
    if profile.is_closed_loop:
        medium.append("a closed loop hides the queue that independent arrivals would stand in")
    if found.beyond is None:
        medium.append("the tool tells its result and not its steps")
    elif (gap := found.beyond.load_rpm / found.knee.load_rpm) > _NARROW_RATIO:
        (low if gap > _WIDE_RATIO else medium).append(f"the next step was {gap - 1:.0%} above")
    level = Confidence.LOW if low else Confidence.MEDIUM if medium else Confidence.HIGH
    return level, (*low, *medium)


def _knee(profile: Profile, slo: Slo) -> tuple[Point, Point, str] | Unproven:
    if len(profile.points) < LEAST_POINTS:
        return "one load step shows no knee: measure at least two, one of which breaks the SLO"
    points = _rising(profile.points)
    judged = []
    for point in points:
        missing = untold(point, slo, profile.origin)
        if missing:
            return missing
        judged.append(outside(point, slo))
    holding = [i for i, broke in enumerate(judged) if not broke]
    if not holding:
        return f"the smallest load of the sweep, {_rate(points[0])}, already breaks the SLO: {judged[0]}; measure smaller ones"
    last = holding[-1]
    if last == len(points) - 1:
        return f"the sweep never broke the SLO: at least {_rate(points[-1])}; go on to larger loads"
    return points[last], points[last + 1], judged[last + 1]


def _proven(profile: Profile, slo: Slo) -> tuple[Point, None, str] | Unproven:
    assert profile.proven is not None  # noqa: S101 - as its only caller asked
    proven = dict(profile.proven.limits)
    for name, limit_s in slo.limits:
        if name not in proven or proven[name] > limit_s:
            return f"it was made for {profile.proven.told}, which does not prove {slo.told}: make it for that SLO"
    return profile.points[0], None, ""


def _rising(points: tuple[Point, ...]) -> list[Point]:
    """By the load that was asked; loops by their clients, since what they serve may fall once the replica is full."""
    if all(point.offered_rpm is None and point.clients is not None for point in points):
        return sorted(points, key=lambda point: (point.clients or 0.0, point.achieved_rpm))
    return sorted(points, key=lambda point: (point.load_rpm, point.achieved_rpm))


def untold(point: Point, slo: Slo, origin: Origin) -> str:
    """What a step does not tell that it takes to judge it, empty where nothing is missing."""
    lacks = [name for name, _ in slo.limits if not getattr(point, name).p95_s]  # 0 = nothing was streamed
    if lacks:
        return f"P95 of {' and '.join(name.upper() for name in lacks)} is missing at {_rate(point)}"
    if point.error_ratio is None and origin is not Origin.PRODUCTION:  # nobody need count refusals to serve, and the waits tell
        return f"how many requests failed is not told at {_rate(point)}"
    return ""


def outside(point: Point, slo: Slo) -> str:
    """Why a step is not carried within the SLO, empty where it is."""
    for name, limit_s in slo.limits:
        if (p95_s := getattr(point, name).p95_s) > limit_s:
            return f"P95 {name.upper()} {p95_s:.3g} s is above {limit_s:g} s"
    if point.error_ratio is not None and point.error_ratio > MOST_ERRORS_RATIO:
        return f"{point.error_ratio:.1%} of the requests failed"
    if point.offered_rpm is not None and point.achieved_rpm < LEAST_ACHIEVED_RATIO * point.offered_rpm:
        return f"of {spell_number(point.offered_rpm)} rpm sent {spell_number(point.achieved_rpm)} were served"
    return ""


def _rate(point: Point) -> str:
    return f"{spell_number(point.load_rpm)} rpm"
