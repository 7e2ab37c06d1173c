"""What one replica carries, learned from production: P95 latency against load a replica.

Buckets in which load, ready replicas and P95 are known, and no replica is fresh, are sorted by load a replica into bins; each bin is a load
step that production drove by itself, and `carried` finds the knee among them as in a load test. What production does not show is said:

| what the buckets show                                   | told                                                                       |
|---------------------------------------------------------|----------------------------------------------------------------------------|
| fewer than 12 hours of them                             | how many there are, and why the others do not count                        |
| load a replica within a factor of 1.25                  | it hardly varies: the autoscaler keeps it constant                         |
| every bin inside the SLO                                | at least so many rpm                                                       |
| every bin outside                                       | only a saturated fleet was seen                                            |
| P95 that does not rise with load (rank correlation 0.5) | something else makes it                                                    |
| refusals instead of waits, or a knee                    | the capacity                                                               |
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from forecaster.profile import Origin, Point, Profile, Setup, Slo, Spread
from forecaster.profile_carried import Carried, carried
from forecaster.series import Floats
from forecaster.units import HOUR_S, check_positive, spell_number

LEAST_H = 12
"""Of usable buckets; fewer show one kind of hour only."""
FRESH_RATIO = 0.02
"""Replicas that started lately, as a share of those that are ready: fewer serve too few requests to move a P95."""
_BIN_RATIO = 1.03
"""Loads within one bin: as fine as a knee has to be."""
_BIN_S, _LEAST_IN_BIN = HOUR_S, 4
_VARIES_RATIO = 1.25
_FOLLOWS = 0.5
_RARELY_RATIO = 0.1
"""Of the buckets: outages and single long requests break an SLO in so many without a replica being full."""
_LEAST_BINS = 3
Flags: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """What production showed of one pool, by bucket; arrays have shape (n,), NaN = not known.

    rpm: its load. ready: replicas. p95_s: seconds by what is limited (`ttft`, `e2e`), those that are measured. fresh: whether replicas were
    fresh. left_out: whether somebody says that the hour lies. refused_rpm, in_flight, input_tokens and output_tokens (of a request), hits
    (share of the input that the prefix cache had): all NaN where nobody measures them.
    """

    step_s: int
    rpm: Floats = field(repr=False)
    ready: Floats = field(repr=False)
    p95_s: Mapping[str, Floats] = field(repr=False)
    fresh: Flags = field(repr=False)
    left_out: Flags = field(repr=False)
    refused_rpm: Floats = field(repr=False)
    in_flight: Floats = field(repr=False)
    input_tokens: Floats = field(repr=False)
    output_tokens: Floats = field(repr=False)
    hits: Floats = field(repr=False)

    def __post_init__(self) -> None:
        check_positive("observed.step_s", self.step_s, "seconds")
        both = (self.ready, *self.p95_s.values(), self.fresh, self.left_out, self.refused_rpm, self.in_flight)
        if any(each.shape != self.rpm.shape for each in (*both, self.input_tokens, self.output_tokens, self.hits)):
            msg = "what is observed of a pool must share one grid"
            raise ValueError(msg)

    @property
    def load_rpm(self) -> Floats:
        """Load a ready replica, NaN where one of them is not known or nothing is ready; shape (n,)."""
        known: Floats = np.divide(self.rpm, self.ready, out=np.full(self.rpm.shape, np.nan), where=self.ready > 0)
        return np.where(known > 0, known, np.nan)

    def usable(self, *limited: str) -> Flags:
        """Buckets that tell of a replica at work, with the P95 of all that is limited."""
        known = ~np.isnan(self.load_rpm) & ~self.fresh & ~self.left_out
        for name in limited:
            known &= self.p95_s.get(name, np.full(self.rpm.shape, np.nan)) > 0
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """One load step that production drove: buckets in it, what they come to, and their median P95 before it was made to rise."""

    buckets: int
    point: Point
    p95_s: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What production says of a replica: `found`, or one sentence why it does not tell. profile: None = not even bins were found."""

    found: Carried | str
    bins: tuple[Bin, ...]
    profile: Profile | None

    @property
    def rpm(self) -> float | None:
        """Requests a minute, None = not identified."""
        return self.found.capacity.rpm if isinstance(self.found, Carried) else None


def fresh(ready: Floats, started_s: Floats, times_s: Ints, step_s: int, warm_up_s: float) -> Flags:
    """Buckets in which more than 2 % of the ready replicas are within `warm_up_s` of their start, or in which their number changes.

    ready: as seen at the beginning of each bucket, NaN where nobody looked. started_s: when replicas were seen to become ready.
    A number that rose while nobody looked counts as risen at the last moment. Shape (n,).
    """
    known = ~np.isnan(ready)
    last = np.maximum.accumulate(np.where(known, np.arange(ready.size), -1))
    seen = np.where(last >= 0, ready[np.maximum(last, 0)], np.nan)
    change = np.diff(seen, append=seen[-1:])  # during the bucket
    least = FRESH_RATIO * np.nan_to_num(seen, nan=1.0)
    moves = np.nan_to_num(np.abs(change)) > least
    within = -(-warm_up_s // step_s)
    risen = np.nan_to_num(np.clip(change, 0, None))
    started = np.histogram(started_s, bins=np.append(times_s, times_s[-1:] + step_s))[0] if started_s.size and times_s.size else 0.0
    came = np.maximum(risen, started)
    lately = np.convolve(came, np.ones(int(within) + 1))[: ready.size]
    flags: Flags = moves | (lately > least)
    return flags


def learned(seen: Observed, slo: Slo, *, source: str, setup: Setup, at: datetime) -> Learned:
    """What a replica carries within `slo`, as production shows it; `at`: until when it was observed."""
    limits = [name for name, _ in slo.limits]
    usable = seen.usable(*limits)
    missing = _too_few(seen, slo, usable)
    if missing:
        return Learned(found=missing, bins=(), profile=None)
    try:
        bins = tuple(_bins(seen, limits, usable))
        profile = Profile(origin=Origin.PRODUCTION, source=source, points=tuple(each.point for each in bins), setup=setup, measured_at=at)
        found = _unidentified(bins, slo, _outside_ratio(seen, slo, usable)) or carried(profile, slo)
    except ValueError as error:
        return Learned(found=f"what production tells contradicts itself: {error}", bins=(), profile=None)
    return Learned(found=found, bins=bins, profile=profile)


def inside(of: Bin, slo: Slo) -> bool:
    """Whether a bin's P95 keeps the SLO."""
    return all(getattr(of.point, name).p95_s <= limit_s for name, limit_s in slo.limits)


def _too_few(seen: Observed, slo: Slo, usable: Flags) -> str:
    unasked = [name.upper() for name, _ in slo.limits if name not in seen.p95_s]
    if unasked:
        return f"P95 of {' and '.join(unasked)} is not asked for: name a preset that supplies it, or leave it out of the SLO"
    hours = np.count_nonzero(usable) * seen.step_s / HOUR_S
    if hours >= LEAST_H:
        return ""
    unknown = np.isnan(seen.load_rpm) | ~seen.usable(*(name for name, _ in slo.limits)) & ~seen.fresh & ~seen.left_out
    counts = ((unknown, "where load, ready replicas or P95 are not known"), (seen.fresh, "with fresh replicas"), (seen.left_out, "marked"))
    told = ", ".join(f"{np.count_nonzero(each):,d} {what}" for each, what in counts if each.any())
    left_out = f" (of {seen.rpm.size:,d} left out: {told})" if told else ""
    return f"too few buckets: {np.count_nonzero(usable):,d}, which are {hours:.1f} h, and {LEAST_H} h are needed{left_out}"


def _outside_ratio(seen: Observed, slo: Slo, usable: Flags) -> float:
    """Share of the usable buckets that are outside the SLO, whatever their load."""
    outside = np.zeros(seen.rpm.shape, dtype=bool)
    for name, limit_s in slo.limits:
        outside |= seen.p95_s[name] > limit_s
    return float(np.mean(outside[usable]))


def _unidentified(bins: tuple[Bin, ...], slo: Slo, outside_ratio: float) -> str:
    """Why bins show no knee, where they do not; empty where `carried` may judge."""
    low, high = bins[0].point.load_rpm, bins[-1].point.load_rpm
    span = f"{_rpm(low)} to {_rpm(high)} rpm"
    verdicts = [any(each.p95_s[name] > limit_s for name, limit_s in slo.limits) for each in bins]
    refuses = any(each.point.error_ratio for each in bins)
    if high < _VARIES_RATIO * low or len(bins) < _LEAST_BINS:
        outside = "outside" if all(verdicts) else "inside" if not any(verdicts) else "partly inside"
        return f"load a replica hardly varies ({span}, {outside} {slo.told}): the autoscaler keeps it constant; a load test tells more"
    if all(verdicts):
        return f"only a saturated fleet was seen: P95 is outside {slo.told} from {_rpm(low)} rpm a replica on"
    if not any(verdicts) and outside_ratio > _RARELY_RATIO:
        return f"P95 is outside {slo.told} in {outside_ratio:.0%} of the buckets at any load ({span}): something else makes requests slow"
    if not any(verdicts) and not refuses:
        return f"P95 never broke {slo.told}: at least {_rpm(high)} rpm; a load test tells how much more"
    follows = _rank_correlation(bins, slo)
    if follows < _FOLLOWS and any(verdicts):
        return f"P95 does not rise with load a replica (rank correlation {follows:.2f} over {span}): something else makes requests slow"
    return ""


def _bins(seen: Observed, limits: list[str], usable: Flags) -> Iterator[Bin]:
    """By rising load: within 3 %, wider where a bin would hold less than an hour; P95 that never falls."""
    load = np.flatnonzero(usable)[np.argsort(seen.load_rpm[usable], kind="stable")]
    groups = list(_groups(seen.load_rpm[load], max(_LEAST_IN_BIN, _BIN_S // seen.step_s)))
    members = [load[group] for group in groups]
    weights = np.array([each.size for each in members], dtype=np.float64)
    p95_s = {name: np.array([np.median(seen.p95_s[name][each]) for each in members]) for name in limits}
    risen = {name: rising(values, weights) for name, values in p95_s.items()}
    for i, each in enumerate(members):
        point = _point(seen, each, {name: float(values[i]) for name, values in risen.items()})
        yield Bin(buckets=each.size, point=point, p95_s={name: float(values[i]) for name, values in p95_s.items()})


def _groups(load: Floats, least: int) -> list[slice]:
    """Slices of rising loads, from the top down, where the knee is and buckets are rare."""
    groups, end = [], load.size
    while end > 0:
        start = min(int(np.searchsorted(load, load[end - 1] / _BIN_RATIO)), end - least)
        start = start if start >= least else 0
        groups.append(slice(start, end))
        end = start
    return groups[::-1]


def _point(seen: Observed, of: Ints, p95_s: Mapping[str, float]) -> Point:
    rpm = float(np.mean(seen.load_rpm[of]))
    refused, load = seen.refused_rpm[of], seen.rpm[of]
    known = ~np.isnan(refused)
    total = float(np.sum(refused[known] + load[known]))
    in_flight = _mean(seen.in_flight[of] / seen.ready[of])
    return Point(
        achieved_rpm=rpm,
        offered_rpm=rpm,
        in_flight=in_flight or None,
        error_ratio=float(np.sum(refused[known])) / total if known.any() else None,
        input_tokens=_mean(seen.input_tokens[of]) or None,
        output_tokens=_mean(seen.output_tokens[of]) or None,
        ttft=Spread(p95_s=p95_s.get("ttft")),
        tpot=Spread(p95_s=p95_s.get("tpot")),
        e2e=Spread(p95_s=p95_s.get("e2e")),
    )


def rising(values: Floats, weights: Floats) -> Floats:
    """The nearest values that never fall, by weighted squares: pool adjacent violators (Ayer et al. 1955)."""
    pooled: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pooled.append((value, weight, 1))
        while len(pooled) > 1 and pooled[-2][0] > pooled[-1][0]:
            (a, of_a, n_a), (b, of_b, n_b) = pooled[-2:]
            pooled[-2:] = [((a * of_a + b * of_b) / (of_a + of_b), of_a + of_b, n_a + n_b)]
    return np.concatenate([np.full(n, value) for value, _, n in pooled]) if pooled else values


def _rank_correlation(bins: tuple[Bin, ...], slo: Slo) -> float:
    """The largest over what is limited of load with P95, each bin once (Spearman 1904): most buckets lie far below the knee."""
    ranks = np.arange(len(bins), dtype=np.float64)
    of = [np.argsort(np.argsort([each.p95_s[name] for each in bins], kind="stable")) for name, _ in slo.limits]
    return max(float(np.corrcoef(ranks, each)[0, 1]) for each in of)


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _rpm(value: float) -> str:
    return spell_number(value)
