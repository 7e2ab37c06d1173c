"""Whether production still serves as a profile says, and what moved where it does not.

P95 of each bucket is held against the profile's P95 at the same load a replica, from its smallest step to its knee: below nobody measured,
and beyond P95 only tells how long a test took. The newest 6 hours of buckets without fresh replicas decide:

| median of measured / profiled P95           | told                                         |
|---------------------------------------------|----------------------------------------------|
| above 1.3 for one of what the SLO limits    | production serves worse: an alarm            |
| below 1 / 1.3 for all of them               | production serves better: capacity is unused |
| between                                     | nothing                                      |

| cause             | named where                                                                               |
|-------------------|-------------------------------------------------------------------------------------------|
| mix               | input or output tokens a request moved by more than 20 %, in the direction of the drift   |
| prefix hits       | what the cache leaves to prefill (1 - hits) moved likewise, against what it was before    |
| hardware, engine  | what is served is said to be another; or both were judged, and neither moved              |

What nobody measures is not judged, and the sentence says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from forecaster.learned import Flags, Observed, rising
from forecaster.profile import Point, ProfileEntry
from forecaster.profile_carried import Carried
from forecaster.series import Floats
from forecaster.units import HOUR_S, spell_number

LEAST_H = 6
TOLERANCE_RATIO = 1.3
"""P95 of minutes differs by so much from that of a long test without anything being wrong."""
MOVED_RATIO = 1.2


class Cause(StrEnum):
    """What moved."""

    MIX = "mix"
    PREFIX_HITS = "prefix hits"
    HARDWARE = "hardware"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Production against its profile. ratio: measured over profiled P95. sentence: what is so, why, and what to do."""

    ratio: float
    causes: tuple[Cause, ...]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """drift: None = there is none, or nobody can tell. unjudged: why nobody can, empty where it was judged."""

    drift: Drift | None = None
    unjudged: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a pool's profile comes to. changed: what is served otherwise than it was measured.

    hits_before: share of the input that the prefix cache had since then and until lately, None = not known.
    """

    entry: ProfileEntry
    found: Carried
    changed: tuple[str, ...] = ()
    hits_before: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Held:
    """One kind of latency in the buckets that are compared: medians of what was measured and of what the profile says there."""

    name: str
    ratio: float
    measured_s: float
    profiled_s: float
    load_rpm: float


def drift(measured: Measured, seen: Observed) -> Judged:
    """Whether and why production serves otherwise than a profile says."""
    names = [name for name, _ in measured.entry.slo.limits if name in seen.p95_s]
    points = [point for point in measured.entry.profile.points if point.load_rpm <= measured.found.knee.load_rpm]
    names = [name for name in names if all(getattr(point, name).p95_s for point in points)]
    if not names:
        return Judged(unjudged="its P95 is not asked for, or not in the profile")
    least = int(np.ceil(LEAST_H * HOUR_S / seen.step_s))
    smallest = min(point.load_rpm for point in points)
    used = _newest(seen.usable(*names) & (seen.load_rpm >= smallest) & (seen.load_rpm <= measured.found.knee.load_rpm), least)
    count = np.count_nonzero(used)
    if count < least:
        hours = count * seen.step_s / HOUR_S
        between = f"{spell_number(round(smallest))} to {spell_number(round(measured.found.knee.load_rpm))} rpm a replica"
        return Judged(unjudged=f"{hours:.1f} h of settled replicas with load and P95 were seen at {between}, and {LEAST_H} h are needed")
    held = [_held(points, name, seen, used) for name in names]
    worst = max(held, key=lambda each: each.ratio)
    if 1 / TOLERANCE_RATIO <= worst.ratio <= TOLERANCE_RATIO:
        return Judged()
    causes, words = _why(measured, seen, used, is_worse=worst.ratio > 1)
    return Judged(drift=Drift(ratio=worst.ratio, causes=causes, sentence=f"{_told(worst)}; {words}; measure again"))


def _newest(usable: Flags, least: int) -> Flags:
    """The last `least` of the flagged buckets."""
    kept: Flags = usable & (np.cumsum(usable[::-1])[::-1] <= least)
    return kept


def _held(points: list[Point], name: str, seen: Observed, used: Flags) -> _Held:
    steps = sorted((point.load_rpm, getattr(point, name).p95_s) for point in points)
    loads, p95_s = np.array(steps, dtype=np.float64).T
    load, measured_s = seen.load_rpm[used], seen.p95_s[name][used]
    said_s: Floats = np.exp(np.interp(load, loads, np.log(rising(p95_s, np.ones(p95_s.size)))))
    middle = np.median(measured_s / said_s)
    return _Held(
        name=name,
        ratio=float(middle),
        measured_s=float(np.median(measured_s)),
        profiled_s=float(np.median(said_s)),
        load_rpm=float(np.median(load)),
    )


def _why(measured: Measured, seen: Observed, used: Flags, *, is_worse: bool) -> tuple[tuple[Cause, ...], str]:
    """The causes that moved as the drift did, and the words for them."""
    knee = measured.found.knee
    lengths = (
        ("input", knee.input_tokens, _mean(seen.input_tokens[used])),
        ("output", knee.output_tokens, _mean(seen.output_tokens[used])),
    )
    hits = _mean(seen.hits[used])
    told: list[tuple[Cause, str]] = [(Cause.MIX, f"mix: {words}") for words in _lengths(lengths, is_worse=is_worse)]
    if hits is not None and measured.hits_before is not None and _moved(1 - measured.hits_before, 1 - hits, is_worse=is_worse):
        before = f"and {measured.hits_before:.0%} before"
        told.append((Cause.PREFIX_HITS, f"prefix hits: the prefix cache has {hits:.0%} of the input, {before}"))
    told += [(Cause.HARDWARE, f"hardware or engine: {change}") for change in measured.changed]
    if told:
        return tuple(dict.fromkeys(cause for cause, _ in told)), "; ".join(words for _, words in told)
    unknown = [f"{name} tokens" for name, was, now in lengths if was is None or now is None]
    unknown += ["prefix hits"] if hits is None or measured.hits_before is None else []
    if unknown:
        rest = f"{' and '.join(unknown)} are not known of both times, so that they cannot be told from hardware or engine"
        return (Cause.UNKNOWN,), rest
    return (Cause.HARDWARE,), "neither mix nor prefix hits moved: hardware or engine"


def _lengths(lengths: tuple[tuple[str, float | None, float | None], ...], *, is_worse: bool) -> Iterator[str]:
    for name, was, now in lengths:
        if was is not None and now is not None and _moved(was, now, is_worse=is_worse):
            yield f"requests carry {spell_number(round(now))} {name} tokens, {spell_number(round(was))} were measured"


def _moved(was: float, now: float, *, is_worse: bool) -> bool:
    """Whether work a request grew (or fell, where production serves better) by more than 20 %."""
    more, less = (now, was) if is_worse else (was, now)
    return more > MOVED_RATIO * less


def _told(held: _Held) -> str:
    how = "worse" if held.ratio > 1 else "better"
    at = f"P95 {held.name.upper()} is {held.measured_s:.3g} s at {spell_number(round(held.load_rpm))} rpm a replica"
    return f"production serves {how} than its profile: {at}, {held.profiled_s:.3g} s were measured"


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None
