"""How much of a deviation from the forecast is still there later: learned from the deviations of past days.

With r(t) = log((load + offset) / (median + offset)) of a bucket, S and G its means over the last 15 and 120 minutes, the deviation a
lead L later is expected at

    r(t + L) = short(L) x S(t) + long(L) x G(t)

| deviations of the workload            | gains                                                    |
|---------------------------------------|----------------------------------------------------------|
| noise from bucket to bucket           | 0: nothing of them lasts                                  |
| bursts that last for half an hour     | short high at once, gone at leads beyond                  |
| a day that is busier than forecast    | long high, fading over hours                              |
| of a day or less                      | the prior at half strength                                |

Both gains lie within 0 and 1, add up to 1 at most and do not rise with the lead; both are 0 from the first lead on at which days left
out of the fit would not have gained. Sources: ridge regression towards a prior, Hoerl and Kennard 1970 (Technometrics 12); leaving
out whole days since neighbouring errors are alike, Burman, Chow and Nolan 1994 (Biometrika 81).
"""

from dataclasses import dataclass
from itertools import pairwise
from math import gcd

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, check_not_negative, check_positive

SHORT_S, LONG_S = 15 * MINUTE_S, 2 * HOUR_S
"""The spans over which a deviation is taken."""
LEADS_S = tuple(minutes * MINUTE_S for minutes in (0, 5, 10, 20, 30, 60, 90, 120, 180, 240, 360))
"""Gains are learned at these leads, rounded to whole buckets, and are linear in between."""

# The prior: between what Azure's conversation week (short .7, long .3 at 5 min; .5, .4 at 60 min) and Alibaba's two weeks (.9, 0; .5, .1)
# would have needed in hindsight. Traffic of other kinds has .4-.7 and .2-.4.
_PRIOR_SHORT, _PRIOR_SHORT_HALF_S = 0.7, 1 * HOUR_S
_PRIOR_LONG, _PRIOR_LONG_HALF_S = 0.2, 4 * HOUR_S
_PRIOR_DAYS = 1.0  # the prior weighs as much as a day
_LEAST_DAYS, _YOUNG_RATIO = 2, 0.5  # with fewer days none can be left out and judged: half the prior
_CLIP_SIGMAS = 2.0  # a crash or a flash crowd says little about usual days: of 2, 3, 5, 10 and none, 2 cut most on unseen days
_SIGMA_OF_MEDIAN = 1.4826  # a Gaussian's sigma over the median size
_LEAST_CLIP, _MOST_CLIP = 0.05, 30.0  # no two loads that anybody measured are further apart than exp(30)
_LONG_PARTS = 3  # a third of the long span must be measured, and something of the short one
_SURE = 1.0  # standard errors that the gain of left-out days must lie above 0: 2 would need more days than an LLM trace has
_TINY = 1e-12
_BLOCK = 16  # series worked on at once: they fit into the cache of a processor


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """The share of a deviation over the last 15 (`short`) and 120 minutes (`long`) that is expected at each lead, in logarithms.

    leads_s: seconds to the start of a bucket from that of the one in progress, increasing from 0; beyond the last both gains are 0.
    days: measured days that they were learned from, 0 = none. cut: the share by which the root mean square error of days left out of
    the fit would have been smaller at each lead, empty = not judged.
    """

    leads_s: tuple[int, ...]
    short: tuple[float, ...]
    long: tuple[float, ...]
    days: int = 0
    cut: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.leads_s or self.leads_s[0] != 0 or any(a >= b for a, b in pairwise(self.leads_s)):
            msg = f"gains.leads_s must increase from 0 seconds, got {self.leads_s}"
            raise ValueError(msg)
        if not len(self.leads_s) == len(self.short) == len(self.long) or len(self.cut) not in {0, len(self.leads_s)}:
            msg = f"gains need one short and one long gain a lead, and one cut or none, for {len(self.leads_s)} leads"
            raise ValueError(msg)
        check_not_negative("gains.days", self.days, "days")
        for name in ("short", "long"):
            gains = getattr(self, name)
            if not all(0 <= gain <= 1 for gain in gains) or any(a < b for a, b in pairwise(gains)):
                msg = f"gains.{name} must lie within 0 and 1 and not rise with the lead, got {gains}"
                raise ValueError(msg)

    def at(self, leads_s: NDArray[np.int64] | Floats) -> tuple[Floats, Floats]:
        """The short and the long gain at each lead, both of the shape of `leads_s`."""
        short, long = (np.asarray(np.interp(leads_s, self.leads_s, gains, right=0.0)) for gains in (self.short, self.long))
        return short, long

    def kept(self, lead_s: float) -> float:
        """The share, 0..1, of a deviation that has lasted over both spans and is still there a lead later."""
        short, long = self.at(np.array([lead_s]))
        return min(1.0, float(short[0] + long[0]))

    def carried(self, short: float, long: float, leads_s: NDArray[np.int64] | Floats) -> Floats:
        """The log ratio of load to median expected at each lead, from those of the last 15 and 120 minutes."""
        on_short, on_long = self.at(leads_s)
        return on_short * short + on_long * long


def corrected(  # noqa: PLR0917  the deviation is two numbers, and both belong here
    median_path: Floats, gains: Gains, short: float, long: float, step_s: int, offset: float = 0.0
) -> Floats:
    """The median path moved by the deviation of live load, up or down, shape (n,), at least 0.

    `median_path[i]` is that of the bucket i steps after the one in progress. short, long: log ratios of load to median over the last 15
    and 120 minutes. offset: what was added to both before their logarithm was taken, in the unit of the path.
    """
    lifts = np.exp(gains.carried(short, long, step_s * np.arange(median_path.size)))
    moved: Floats = np.maximum(0.0, (median_path + offset) * lifts - offset)
    return moved


def fading(half_life_s: float) -> Gains:
    """Gains where nothing was learned: the deviation of the last minutes is there in full, and half of it `half_life_s` later."""
    check_positive("half_life_s", half_life_s, "seconds")
    return Gains(leads_s=LEADS_S, short=tuple(0.5 ** (lead / half_life_s) for lead in LEADS_S), long=(0.0,) * len(LEADS_S))


def learn(residuals: Floats, step_s: int) -> Gains | None:
    """The gains of one series from its log ratios of load to median on past days, oldest first, NaN = unmeasured, shape (n,).

    Each median must have been forecast before its day, as it will be when the gains are used. With less than two measured days: the
    prior at half strength. None when nothing was measured.
    """
    return learn_each(np.asarray(residuals)[None], step_s)[0]


def learn_each(residuals: Floats, step_s: int) -> tuple[Gains | None, ...]:
    """`learn` for a chunk of series at once, shape (series, n); none depends on the others.

    Raises ValueError when the step does not divide a day.
    """
    check_positive("step_s", step_s, "seconds")
    if DAY_S % step_s or residuals.ndim != 2:  # noqa: PLR2004
        msg = f"residuals must have shape (series, n) at a step that divides a day, got {residuals.shape} at {step_s} s"
        raise ValueError(msg)
    leads_s = _leads_s(step_s)
    found: list[Gains | None] = []
    for first in range(0, len(residuals), _BLOCK):
        block = residuals[first : first + _BLOCK]
        sample = _sampled(block, leads_s, step_s)
        fit = _fit(sample, leads_s, step_s)
        measured_s = sample.measured.sum(axis=(0, 2)) * step_s
        found += [_gains(leads_s, fit, row, float(span_s) / DAY_S) for row, span_s in enumerate(measured_s)]
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sample:
    """Deviations once in a short span, or at each bucket that is longer, over whole days that end with the line.

    short, long, known: at those instants, shape (series, days, instants); known is 1 where both are, and they are 0 elsewhere. later,
    measured: the buckets after them by their place in the span, 0 where unmeasured, shape (places, series, spans of all days and of the
    longest lead).
    """

    short: Floats
    long: Floats
    known: Floats
    later: Floats
    measured: Floats

    def moments(self, steps: int) -> Floats:
        """Sums over each day of S S, S G, G G, S y, G y and y y, y being the bucket so many after each instant; (6, series, days)."""
        spans, place = divmod(steps, len(self.later))
        ahead = slice(spans, spans + self.known[0].size)
        measured, later = (of[place][:, ahead].reshape(self.known.shape) for of in (self.measured, self.later))
        short, long = self.short * measured, self.long * measured  # one factor of a product need be 0 where either is unknown
        pairs = (
            (short, self.short),
            (short, self.long),
            (long, self.long),
            (self.short, later),
            (self.long, later),
            (self.known * later, later),
        )
        return np.stack([np.einsum("sdi,sdi->sd", a, b) for a, b in pairs])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """short, long, cut: shape (leads, series)."""

    short: Floats
    long: Floats
    cut: Floats


def _leads_s(step_s: int) -> tuple[int, ...]:
    return tuple(sorted({round(lead / step_s) * step_s for lead in LEADS_S}))


def _sampled(residuals: Floats, leads_s: tuple[int, ...], step_s: int) -> _Sample:
    per_day = DAY_S // step_s
    stride = gcd(per_day, max(1, SHORT_S // step_s))
    days = max(1, -(-residuals.shape[1] // per_day))
    pads = (0, 0), (days * per_day - residuals.shape[1], (1 + leads_s[-1] // step_s // stride) * stride)
    spans = np.pad(residuals, pads, constant_values=np.nan).reshape(len(residuals), -1, stride)
    cut = np.ascontiguousarray(spans.transpose(2, 0, 1))  # a lead later is then a slice, not one bucket in three
    measured = np.isfinite(cut)
    first = np.take_along_axis(cut, measured.argmax(axis=0)[None], axis=0)[0]
    most = _most(np.where(measured.any(axis=0), np.abs(first), np.nan))
    later = np.where(measured, np.clip(cut, -most, most), 0.0)
    known = measured.astype(np.float64)
    sums, counts = (np.pad(of.sum(axis=0).cumsum(axis=1), ((0, 0), (1, 0))) for of in (later, known))
    at = np.arange(days * per_day // stride)
    means, both = [], np.ones((len(residuals), at.size), dtype=bool)
    for span_s, parts in ((SHORT_S, SHORT_S), (LONG_S, _LONG_PARTS)):
        steps = max(1, span_s // step_s)
        since = np.maximum(0, at - steps // stride)
        count = counts[:, at] - counts[:, since]
        means.append((sums[:, at] - sums[:, since]) / np.maximum(count, 1))
        both &= count * parts >= steps
    short, long, shown = (np.where(both, of, 0.0).reshape(len(residuals), days, -1) for of in (*means, 1.0))
    return _Sample(short=short, long=long, known=shown, later=later, measured=known)


def _most(sizes: Floats) -> Floats:
    """The largest deviation that is believed: some robust standard deviations, by the median size, shape (series, 1)."""
    ordered = np.sort(sizes, axis=1)  # NaN comes last
    middle = np.maximum(np.isfinite(ordered).sum(axis=1) - 1, 0) // 2
    median = np.nan_to_num(ordered[np.arange(len(ordered)), middle])
    most: Floats = np.clip(_CLIP_SIGMAS * _SIGMA_OF_MEDIAN * median, _LEAST_CLIP, _MOST_CLIP)[:, None]
    return most


def _fit(sample: _Sample, leads_s: tuple[int, ...], step_s: int) -> _Fit:
    """The gains at every lead from all days, and what those from all days but one would have cut on that one."""
    moments = np.stack([sample.moments(lead // step_s) for lead in leads_s], axis=1)  # (6, leads, series, days)
    whole = moments.sum(axis=-1, keepdims=True)
    weight = _PRIOR_DAYS * whole[0] / np.maximum(1, (moments[0] > 0).sum(axis=-1, keepdims=True))
    prior = _prior(np.array(leads_s))
    short, long = _monotone(*_solved(whole, weight, prior))
    left = _left(moments, *_monotone(*_solved(whole - moments, weight, prior)))
    gained = moments[5] - left
    enough = gained.sum(axis=-1) > _SURE * np.sqrt((gained**2).sum(axis=-1))
    cut = 1 - np.sqrt(np.maximum(left.sum(axis=-1), 0.0) / np.maximum(whole[5, ..., 0], _TINY))
    useful = np.logical_and.accumulate(enough, axis=0)
    return _Fit(short=np.where(useful, short[..., 0], 0.0), long=np.where(useful, long[..., 0], 0.0), cut=cut)


def _left(moments: Floats, short: Floats, long: Floats) -> Floats:
    """The squares of each day that gains leave, shape (leads, series, days)."""
    ss, sg, gg, sy, gy, yy = moments
    left: Floats = yy - 2 * (short * sy + long * gy) + short**2 * ss + 2 * short * long * sg + long**2 * gg
    return left


def _prior(leads_s: NDArray[np.int64]) -> tuple[Floats, Floats]:
    return _PRIOR_SHORT * 0.5 ** (leads_s / _PRIOR_SHORT_HALF_S), _PRIOR_LONG * 0.5 ** (leads_s / _PRIOR_LONG_HALF_S)


def _solved(moments: Floats, weight: Floats, prior: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Least squares towards the prior with neither gain below 0, shape (leads, series, days) from (6, leads, series, days)."""
    ss, sg, gg, sy, gy, _ = moments
    weight = weight + _TINY
    ss, gg = ss + weight, gg + weight
    sy, gy = sy + weight * prior[0][:, None, None], gy + weight * prior[1][:, None, None]
    det = np.maximum(ss * gg - sg * sg, _TINY**2)
    short, long = (gg * sy - sg * gy) / det, (ss * gy - sg * sy) / det
    only_long, only_short = short < 0, long < 0
    return (
        np.where(only_long, 0.0, np.where(only_short, np.maximum(0.0, sy / ss), short)),
        np.where(only_long, np.maximum(0.0, gy / gg), np.where(only_short, 0.0, long)),
    )


def _monotone(short: Floats, long: Floats) -> tuple[Floats, Floats]:
    """Gains that do not rise with the lead and add up to 1 at most.

    Each is half way between the largest such line below it and the smallest above, so that the noise of one lead moves others little.
    """
    short, long = ((np.minimum.accumulate(g) + np.maximum.accumulate(g[::-1])[::-1]) / 2 for g in (short, long))
    total = np.maximum(1.0, short[:1] + long[:1])
    return short / total, long / total


def _gains(leads_s: tuple[int, ...], fit: _Fit, row: int, days: float) -> Gains | None:
    """One series' gains in three digits: more would claim to know more."""
    if days == 0:
        return None
    if days < _LEAST_DAYS:
        short, long = (_YOUNG_RATIO * gain for gain in _prior(np.array(leads_s)))
        return Gains(leads_s=leads_s, short=_digits(short), long=_digits(long), days=int(days))
    return Gains(
        leads_s=leads_s,
        short=_digits(fit.short[:, row]),
        long=_digits(fit.long[:, row]),
        days=int(days),
        cut=_digits(fit.cut[:, row]),
    )


def _digits(values: Floats) -> tuple[float, ...]:
    digits: list[float] = values.round(3).tolist()
    return tuple(digits)
