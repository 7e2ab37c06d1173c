"""Whether a workload is worth pre-scaling: how its load varies, what a lead time makes of that, and what its replicas do with it.

| the first that holds                                                                 | verdict          |
|--------------------------------------------------------------------------------------|------------------|
| 20 % or more of a task's cost goes into retries, invalid turns and abandoned tasks   | optimise first   |
| at their busiest (P95 of the buckets) the ready replicas are filled to less than 50 %| optimise first   |
| a fleet that follows the load exactly, in whole replicas, would be filled to less    | optimise first   |
| than 50 %: a call costs twice what the profile of a replica allows                   |                  |
| 50 % or more of the load's variance is predictable, and the lead time binds          | pre-scale        |
| the same, and the recommended operating point saves 3 % or more of the replica-hours | pre-scale        |
| anything else: bursts within the lead time, or an autoscaler that is in time alone   | queue + reactive |

The lead time binds where the autoscaler alone would serve more than 0.1 % of the requests late, by replay; where late requests cannot be
counted, where for more than 0.1 % of the time the load outgrows, within one lead time, the replicas that the autoscaler wishes for before.

Variance of the load a at minutes, in three shares that add up to 1. m is the median forecast that stood when the day began, e = a - m,
L the lead time, phi the part of e that lasts a lead time (least squares of e on e a lead time earlier, 0 to 1), w what varies inside of a
bucket, as far as its largest minute tells: (peak - mean)^2 / (minutes a bucket - 1).

| share       | of the variance                                       | who can serve it                               |
|-------------|-------------------------------------------------------|------------------------------------------------|
| predictable | 1 - sum e^2 / sum (a - mean a)^2, at least 0          | floors, before it comes                        |
| followed    | what is left                                          | live correction and autoscaler, in time        |
| bursty      | sum (e - phi e a lead time earlier)^2, and w          | a queue, a batch, or replicas that stand idle  |

The predictable share is the coefficient of determination of the forecast (Nash and Sutcliffe 1970, Journal of Hydrology 10).
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from forecaster.series import Floats
from forecaster.simulate.fleet import replicas_for
from forecaster.units import DAY_S

LOST_RATIO = 0.2
FILLED_RATIO = 0.5
PREDICTABLE_RATIO = 0.5
LATE_RATIO = 0.001
SAVED_RATIO = 0.03
"""As much as another operating point must save to be recommended: less is noise."""
BUSIEST_QUANTILE = 0.95
LEAST_DAYS = 3
"""Days with a forecast and its load: fewer tell a day from another by chance."""
_FLAT_RATIO = 1e-9
"""Of the square of the mean: a variance below is none."""


class Verdict(StrEnum):
    """What to do with a workload."""

    PRE_SCALE = "pre-scale"
    QUEUE = "queue + reactive"
    OPTIMISE = "optimise first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Shares of the load's variance; they add up to 1. days: so many days' worth of buckets they rest on."""

    predictable_ratio: float
    followed_ratio: float
    bursty_ratio: float
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a verdict rests on. None = not known.

    late_ratio: requests that the autoscaler alone serves late. outrun_ratio: of the time, see above. busiest_ratio: how far ready
    replicas are filled at their busiest; filled_ratio: over all; followed_ratio: how far those of a fleet that follows the load exactly
    are. lost_ratio: of a task's cost. floors_saved_ratio, point_saved_ratio: of replica-hours, by the floors that were decided and by the
    recommended operating point; below zero where they cost more.
    """

    variance: Variance
    lead_min: int
    outrun_ratio: float
    late_ratio: float | None = None
    busiest_ratio: float | None = None
    filled_ratio: float | None = None
    followed_ratio: float | None = None
    lost_ratio: float | None = None
    floors_saved_ratio: float | None = None
    point_saved_ratio: float | None = None

    @property
    def binds(self) -> bool:
        """Whether the lead time does."""
        return (self.outrun_ratio if self.late_ratio is None else self.late_ratio) > LATE_RATIO

    @property
    def idle_ratio(self) -> float | None:
        """The part of the replica-hours that no load filled."""
        return None if self.filled_ratio is None else max(0.0, 1 - self.filled_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A verdict and the sentence that says why."""

    verdict: Verdict
    because: str
    figures: Figures


def advice(figures: Figures) -> Advice:
    """The verdict of the table above."""
    verdict, because = _wasteful(figures) or _scaled(figures)
    return Advice(verdict=verdict, because=because, figures=figures)


def variance(actual: Floats, peak: Floats, median: Floats, *, lead_steps: int, step_min: int) -> Variance | None:
    """The three shares; None where fewer than LEAST_DAYS of buckets have both load and forecast.

    actual, peak: mean and largest minute of each bucket; median: what was forecast of it; NaN = not known, all of shape (n,).
    """
    known = ~np.isnan(actual) & ~np.isnan(median)
    days = float(known.sum()) * step_min * 60 / DAY_S
    if days < LEAST_DAYS:
        return None
    load, error = actual[known], np.where(known, actual - median, np.nan)
    spread = float(((load - load.mean()) ** 2).sum())
    within = float(((peak - actual)[known] ** 2).sum()) / (step_min - 1) if step_min > 1 else 0.0
    whole = spread + within
    if whole <= _FLAT_RATIO * load.size * float(load.mean()) ** 2:
        return Variance(predictable_ratio=1.0, followed_ratio=0.0, bursty_ratio=0.0, days=days)
    missed = float(np.nansum(error**2))
    predictable = max(0.0, spread - missed) / whole
    bursty = min((_sudden(error, lead_steps) * missed + within) / whole, 1 - predictable)
    return Variance(predictable_ratio=predictable, followed_ratio=1 - predictable - bursty, bursty_ratio=bursty, days=days)


def outrun(load: Floats, carry: float, target: float, lead_steps: int) -> float:
    """The share of the time in which load outgrows, within one lead time, what an autoscaler at `target` wishes for before it.

    load: of a pool by bucket, NaN = not measured; 0 where nothing can be said. carry: of one replica.
    """
    before, after = load[: max(0, load.size - lead_steps)], load[lead_steps:]
    known = ~np.isnan(before) & ~np.isnan(after)
    if not known.any():
        return 0.0
    wished = np.maximum(replicas_for(before[known] / target, carry), 1.0)
    return float((replicas_for(after[known], carry) > wished).mean())


def busiest(filled: Floats, ready: Floats) -> float | None:
    """How far ready replicas are filled at P95 of the buckets in which both are known; None where none are."""
    known = ~np.isnan(filled) & (ready > 0)
    return float(np.quantile(filled[known] / ready[known], BUSIEST_QUANTILE)) if known.any() else None


def followed(filled: tuple[Floats, ...]) -> float | None:
    """How far a fleet is filled that has, in each bucket, just the whole replicas that each pool's load takes, and at least one."""
    known = ~np.isnan(np.sum(filled, axis=0))
    needed = sum(float(np.maximum(replicas_for(pool[known], 1.0), 1.0).sum()) for pool in filled)
    return sum(float(pool[known].sum()) for pool in filled) / needed if needed else None


def _sudden(error: Floats, lead_steps: int) -> float:
    """The part of what was missed that nobody could know a lead time before: 1 - what the part that lasts explains."""
    before, after = error[: max(0, error.size - lead_steps)], error[lead_steps:]
    known = ~np.isnan(before) & ~np.isnan(after)
    before, after = before[known], after[known]
    total, past = float((after**2).sum()), float((before**2).sum())
    if not total or not past:
        return 1.0
    lasts = min(1.0, max(0.0, float((before * after).sum()) / past))
    return min(1.0, float(((after - lasts * before) ** 2).sum()) / total)


def _wasteful(figures: Figures) -> tuple[Verdict, str] | None:
    """What comes before any scaling."""
    lost, busy, exact = figures.lost_ratio, figures.busiest_ratio, figures.followed_ratio
    if lost is not None and lost >= LOST_RATIO:
        return Verdict.OPTIMISE, f"{lost:.0%} of a task's cost goes into retries, invalid turns and abandoned tasks: mend those first"
    if busy is not None and busy < FILLED_RATIO:
        told = f"at their busiest the ready replicas are filled to {busy:.0%}"
        return Verdict.OPTIMISE, f"{told}: lower the autoscaler's minimum, raise its target, or measure what a replica carries"
    if exact is not None and exact < FILLED_RATIO:
        dear = f", so a call costs {1 / exact:.1f} times what the profile allows" if exact else ""
        told = f"even a fleet that follows the load exactly would be filled to {exact:.0%}{dear}"
        return Verdict.OPTIMISE, f"{told}: use smaller replicas, or let several workloads share them"
    return None


def _scaled(figures: Figures) -> tuple[Verdict, str]:
    of, saved = figures.variance, figures.point_saved_ratio
    foreseen = f"{of.predictable_ratio:.0%} of the load's variance is predictable"
    lead = f"a lead time of {figures.lead_min} min"
    if of.predictable_ratio >= PREDICTABLE_RATIO and figures.binds:
        return Verdict.PRE_SCALE, f"{foreseen} and {lead} binds: {_lateness(figures)}"
    if of.predictable_ratio >= PREDICTABLE_RATIO and saved is not None and saved >= SAVED_RATIO:
        told = f"floors under the autoscaler at the recommended operating point save {saved:.0%} of the replica-hours"
        return Verdict.PRE_SCALE, f"{foreseen}, and {told}"
    if not figures.binds:
        return Verdict.QUEUE, f"{_lateness(figures)}, which is in time without floors{_hotter(saved)}"
    told = f"{foreseen} and {of.bursty_ratio:.0%} comes within {lead}"
    return Verdict.QUEUE, f"{told}: a queue or batches take bursts that floors would have to be idle for"


def _hotter(saved: float | None) -> str:
    """What is known of floors under an autoscaler that runs hotter, which is what saves."""
    if saved is None:
        return "; whether floors under a hotter autoscaler save, `forecaster tune` says"
    return f", and the recommended operating point saves {saved:.1%} of the replica-hours"


def _lateness(figures: Figures) -> str:
    if figures.late_ratio is not None:
        return f"the autoscaler alone would serve {figures.late_ratio:.2%} of the requests late"
    return f"the load outgrows the autoscaler's wish within one lead time for {figures.outrun_ratio:.2%} of the time"
