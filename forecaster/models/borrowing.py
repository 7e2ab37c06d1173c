"""What a young series takes from similar older ones of its chunk: days that it did not have, in their shape and at its own level.

A service that is two days old knows no weekend. Where an older series of the same chunk ran in parallel to it but for the level, the days
before the young one's first are filled in as

    log(load + offset) = weighted mean over lenders of (lender's log + level + habit of the time of day)

so that every member draws from a full past. The lender's log is taken with the young one's offset in the lender's own scale; the level
is the one to expect from the distances between the two on measured days; the habit is what is left of them at each half hour, n days
counting n / (n + 1). So the daily shape becomes the young one's own as it is seen, and what weekdays and weekends do stays the lenders'.
Up to a week of history all of four weeks is filled in, from two weeks on nothing.

Who may lend is a week older, was measured meanwhile, and is near: closer to the young one's day than a flat line is, with each day's level
taken out; off by a small part of what a flat line is off by, less the more days are known, or by hardly more than the young one's other
days are; and with at most half of the distances between its days' levels left, where these differ by more than chance, as over a weekend.

How well a lender fits is asked of each measured half hour from the other days': the mean distance s that level and habit leave. Lenders
weigh (s of a flat line / s)^k, k being half of the measured hours between 2 and 24: the odds of Laplace errors, were an hour in two news.
Together they must beat a flat line by as many as are near, plus three, since the best of many fits by chance; in the blend k is 8 at most,
since what no weekday tells of a weekend is better asked of several.

Source: weights by likelihood, Raftery 1995 (Bayesian model selection in social research); the pooling of series for a cold start is that
of hierarchical models, Gelman and Hill 2007. What it gains: docs/models.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from forecaster.models.levels import expected_level
from forecaster.models.past import Past
from forecaster.models.rows import coarse, coarse_slots, median_last
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S

_LEAST_HOURS = 3.0  # must be measured before anybody can be said to be similar
_YOUNG_DAYS, _OLD_DAYS, _MOST_DAYS = 7.0, 14.0, 28.0
_OLDER_DAYS = 7.0  # a lender has seen each weekday before the young one's first
_FIT_DAYS = 7
_SHARED_RATIO = 0.8  # of the young one's half hours must be measured of a lender too
_HABIT_PRIOR_DAYS = 1.0
_POWERS, _BLEND_POWER = (2.0, 24.0), 8.0  # a blend hedges what no weekday tells of a weekend, so it is broader than the odds
_MOST_LENDERS, _LEAST_RELATIVE = 6, 0.1
_CHANCE = 3.0
_LINE_AGES, _LINE_RATIOS = (
    (0.25, 1.0, 2.0, 4.0),
    (0.5, 0.3, 0.15, 0.08),
)  # of a flat line's miss is near; with days habits make anybody near
_OTHER_DAYS_RATIO = 1.3  # of the miss by other days too: a lender's own noise is half of what it misses
_LEVEL_RATIO, _LEVEL_FLOOR = 0.5, 0.12  # of the distance of days from their mean level, and what a level wanders for no reason
_SIZE_FLOOR = 0.02  # logs that lie closer are as close as can be told
_NAMED = 2

Lenders: TypeAlias = tuple[tuple[str, float], ...]
"""Names and weights that add up to 1, the heaviest first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Borrowed:
    """A past in which young series have days of others, and from whom: series -> its lenders, only those that borrow."""

    past: Past
    lenders: Mapping[str, Lenders] = field(default_factory=dict)

    def only(self, rows: NDArray[np.intp]) -> Self:
        """The series of those rows."""
        return replace(self, past=self.past.only(rows))

    def sentence(self, name: str, history_days: float) -> str:
        """Who lends to a series that borrows."""
        lenders = self.lenders[name]
        said = ", ".join(f"{lender} ({weight:.0%})" for lender, weight in lenders[:_NAMED])
        more = f" and {len(lenders) - _NAMED} more" if len(lenders) > _NAMED else ""
        return f"{name} has {history_days:.1f} days of history; its days ahead lean on the shape of {said}{more}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Young:
    """A series that may borrow: its row, its age in days, its logarithms by half hours (days, slots), and what it adds before them."""

    row: int
    age_days: float
    halves: Floats = field(repr=False)
    offset: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """Lenders as rows of the chunk, the young one's load over theirs, and their weights; or candidates with their misses for weights."""

    rows: NDArray[np.intp]
    ratios: Floats
    weights: Floats


def borrowed(past: Past, rows: NDArray[np.intp] | None = None) -> Borrowed:
    """The past of some series, None = all, with what the young ones of them borrow from any series of `past`.

    From the first measured slot on a series stays as it is. The very same past where nobody is young and all are asked for.
    """
    wanted = past if rows is None or rows.size == len(past.names) else past.only(rows)
    at = np.arange(len(past.names)) if rows is None else rows
    ages = _ages_days(past)
    young = [i for i, row in enumerate(at) if 0 < ages[row] < _OLD_DAYS and ages[row] + _OLDER_DAYS <= ages.max()]
    if not young:
        return Borrowed(past=wanted)
    halves = coarse(past.by_midnight(_FIT_DAYS)[0], coarse_slots(past.clock.per_day))
    loads = np.maximum(np.exp(halves) - past.offset[:, None, None], 0.0)
    logs, lenders = wanted.logs.copy(), {}
    for i in young:
        row = int(at[i])
        one = _Young(row=row, age_days=float(ages[row]), halves=halves[row], offset=float(past.offset[row]))
        fit = _lenders(one, loads, np.flatnonzero(ages >= one.age_days + _OLDER_DAYS))
        if fit is not None:
            logs[i] = _filled(past, one, fit)
            lenders[past.names[row]] = tuple((past.names[j], float(w)) for j, w in zip(fit.rows, fit.weights, strict=True))
    return Borrowed(past=replace(wanted, logs=logs), lenders=lenders) if lenders else Borrowed(past=wanted)


def _ages_days(past: Past) -> Floats:
    """Days from each series' first measured slot to the origin, (series,); 0 where none was measured."""
    known = ~np.isnan(past.lines)
    slots = np.where(known.any(axis=1), known.shape[1] - known.argmax(axis=1), 0)
    days: Floats = slots / past.clock.per_day
    return days


def _lenders(young: _Young, loads: Floats, older: NDArray[np.intp]) -> _Fit | None:
    """Who lends to one series, None where nobody is similar. loads: of the chunk by half hours (series, days, slots)."""
    count = int(np.count_nonzero(~np.isnan(young.halves)))
    hours = count * DAY_S / HOUR_S / young.halves.shape[1]
    asked = _asked(young, loads, older)
    if hours < _LEAST_HOURS or not asked.rows.size:
        return None
    line = max(_misses(young.halves[None], np.inf)[0], _SIZE_FLOOR)
    better = line / np.maximum(asked.weights, _SIZE_FLOOR)
    power = float(np.clip(min(hours, count) / 2, *_POWERS))
    if (better**power).sum() < better.size + _CHANCE:
        return None
    weights = better ** min(power, _BLEND_POWER)
    best = np.argsort(-weights, kind="stable")[:_MOST_LENDERS]
    best = best[weights[best] >= _LEAST_RELATIVE * weights[best[0]]]
    return _Fit(rows=asked.rows[best], ratios=asked.ratios[best], weights=weights[best] / weights[best].sum())


def _asked(young: _Young, loads: Floats, older: NDArray[np.intp]) -> _Fit:
    """The older series that are near and were measured, and in use, while the young one was; weights: by how much each misses it."""
    known = ~np.isnan(young.halves)
    there = known & ~np.isnan(loads[older])
    own = np.where(there, np.exp(young.halves) - young.offset, 0.0).sum(axis=(1, 2))
    theirs = np.where(there, loads[older], 0.0).sum(axis=(1, 2))
    enough = np.count_nonzero(there, axis=(1, 2)) >= _SHARED_RATIO * np.count_nonzero(known)
    usable = enough & (theirs > 0) & (own > 0)
    rows, ratios = older[usable], own[usable] / theirs[usable]
    distances = young.halves - np.log(loads[rows] + (young.offset / ratios)[:, None, None])
    near = _near(young, distances)
    return _Fit(rows=rows[near], ratios=ratios[near], weights=_misses(distances[near], _HABIT_PRIOR_DAYS))


def _near(young: _Young, distances: Floats) -> NDArray[np.bool_]:
    """Who has about the young one's day, and its days' levels where these differ. distances: from each (series, days, slots)."""
    own = young.halves[None]
    own_levels, levels = median_last(own), median_last(distances)
    shape, shapes = own - own_levels[..., None], distances - levels[..., None]
    line, other_days = _misses(shape, np.inf)[0], _misses(shape, 0.0, least_days=2)[0]
    most = max(np.interp(young.age_days, _LINE_AGES, _LINE_RATIOS) * line, _OTHER_DAYS_RATIO * other_days, _SIZE_FLOOR)
    apart = max(_LEVEL_RATIO * _misses(own_levels[..., None], np.inf)[0], _LEVEL_FLOOR)
    by_level, by_shape = _misses(levels[..., None], np.inf) <= apart, _misses(shapes, _HABIT_PRIOR_DAYS) <= most
    near: NDArray[np.bool_] = by_level & by_shape & (_misses(shapes, np.inf) < line)
    return near


def _misses(distances: Floats, prior_days: float, least_days: int = 1) -> Floats:
    """The mean size of distances (series, days, slots) from their mean and from what other days had at that slot, (series,).

    prior_days: without any habit, mixed into each slot's; infinite = there is no habit. Slots that were measured on fewer than `least_days`
    do not count; 0 where none does.
    """
    known = ~np.isnan(distances)
    count = np.maximum(known.sum(axis=(1, 2)), 1)
    mean = np.where(known, distances, 0.0).sum(axis=(1, 2)) / count
    rest = np.where(known, distances - mean[:, None, None], 0.0)
    days = known.sum(axis=1, keepdims=True)
    habit = (rest.sum(axis=1, keepdims=True) - rest) / np.maximum(days - 1 + prior_days, 1.0)
    counted = known & (days >= least_days)
    misses: Floats = (np.abs(rest - habit) * counted).sum(axis=(1, 2)) / np.maximum(counted.sum(axis=(1, 2)), 1)
    return misses


def _filled(past: Past, young: _Young, fit: _Fit) -> Floats:
    """The logarithms of one series (days, slots) with borrowed ones before its first measured slot."""
    own, per_day = past.logs[young.row], past.clock.per_day
    theirs = np.maximum(np.exp(past.logs[fit.rows]) - past.offset[fit.rows, None, None], 0.0)
    theirs = np.log(theirs + (young.offset / fit.ratios)[:, None, None])
    days, early = replace(past, names=tuple(past.names[row] for row in fit.rows), logs=own - theirs).by_midnight(int(_OLD_DAYS))
    distances = coarse(days, young.halves.shape[1])
    of_days = median_last(distances)
    levels = np.array([expected_level(each) for each in of_days])
    habit = np.roll(_habit(distances - of_days[..., None], per_day), -early, axis=1)
    shapes = theirs + levels[:, None, None] + habit[:, None]
    age = (np.arange(past.days)[:, None] + 1 - np.arange(per_day) / per_day).reshape(own.shape)  # of each slot's start, in days
    most = _MOST_DAYS * min(1.0, (_OLD_DAYS - young.age_days) / (_OLD_DAYS - _YOUNG_DAYS))
    return np.where((age > young.age_days) & (age <= young.age_days + most), _blend(shapes, fit.weights), own)


def _habit(distances: Floats, per_day: int) -> Floats:
    """What each part of the day has (lenders, days, parts), shrunk, and drawn linearly between their middles, (lenders, per_day)."""
    known = ~np.isnan(distances)
    habit = np.where(known, distances, 0.0).sum(axis=1) / (known.sum(axis=1) + _HABIT_PRIOR_DAYS)
    middles = (np.arange(habit.shape[1]) + 0.5) * per_day / habit.shape[1] - 0.5
    return np.stack([np.interp(np.arange(per_day), middles, line, period=per_day) for line in habit])


def _blend(shapes: Floats, weights: Floats) -> Floats:
    """The weighted mean of what is measured of lenders (lenders, days, slots); NaN where nothing is."""
    there = weights[:, None, None] * ~np.isnan(shapes)
    total = there.sum(axis=0)
    found: Floats = (there * np.nan_to_num(shapes)).sum(axis=0) / np.where(total > 0, total, np.nan)
    return found
