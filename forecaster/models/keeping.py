"""Bringing what is kept up to date: one row a day, drawn as it would have been drawn at that day's midnight, and scored once it is over."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forecaster.calendar import Calendar
from forecaster.forecast import SCORED_LEVELS
from forecaster.models.borrowing import borrowed
from forecaster.models.calibration import SIGMA, Spread, adapted, day_weights, sigmas, spread
from forecaster.models.drawing import drawn
from forecaster.models.kept import DAYS, DRIFT, FIRST_LEVEL, NAIVE_PINBALL, PENDING, PINBALL, Kept
from forecaster.models.past import Member, Past
from forecaster.models.rows import coarse
from forecaster.models.scoring import covered, drift, member_losses, naive_quantiles, pinball
from forecaster.models.weights import weights
from forecaster.series import Floats

FIRST_DAYS = 14
"""So many days are drawn afterwards for a series of which nothing is kept yet."""
_HEARD_DAYS = 2  # before those only members are drawn: a first row by priors alone would be an error that nobody makes again
_CALIBRATED_DAYS = 5  # the oldest of these have none before them to calibrate on, as a forecaster of that day had: they have no score
_CEILING_RATIO = 3.0  # a launch that multiplied the load by 50 is no reason to provide for the next one
_POOLED_FROM, _POOLED_DAYS = 5, 7.0  # so many series with a week of errors let young ones borrow the size of theirs
_FIRST_DAY_RATIO = 2.0  # on the first day of a series that lives on borrowed days, who lends may still turn out to be wrong
_UNSEEN_RATIO = 1.4  # before the first weekend, or the first workday, nobody knows what it does
_NEW_KIND = 0.1  # weight of the errors of the first weekend for a later one, and the other way round
_THURSDAY, _SATURDAY, _WEEK = 3, 5, 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Circle:
    """Who speaks, on which days it is asked, and what came: all that rows are drawn and judged by.

    members, priors: in one order. midnight: the past at the last local midnight. actual: loads of local days (series, DAYS, slots), row 0
    is today, NaN = not measured. history_days: days since the first measured slot at that midnight, (series,). known_days: the same with
    days that are borrowed. levels: increasing.
    """

    members: tuple[Member, ...]
    priors: Floats
    midnight: Past
    actual: Floats = field(repr=False)
    history_days: Floats = field(repr=False)
    known_days: Floats = field(repr=False)
    levels: Floats
    calendar: Calendar

    @property
    def offset(self) -> Floats:
        """What each series adds before the logarithm."""
        return self.midnight.offset

    def losses(self, kept: Kept) -> Floats:
        """Those of each member on each kept day, (series, DAYS, members)."""
        return member_losses(kept.members, self.actual)

    def losses_of_whole(self, kept: Kept) -> Floats:
        """Those of the kept medians on each kept day, as members' are, (series, DAYS)."""
        return member_losses(coarse(kept.median, kept.form.parts)[:, :, None], self.actual)[:, :, 0]

    def errors(self, kept: Kept) -> Floats:
        """The log errors of the kept medians, (series, DAYS, slots)."""
        offset = self.offset[:, None, None]
        return np.log((self.actual + offset) / (kept.median + offset))

    def day_weights(self, first: int, *, weekend: bool) -> Floats:
        """The weights of the kept days from row `first` on for a day of that kind."""
        rows = np.arange(first, DAYS)
        weights_ = day_weights(self.history_days[:, None] - rows, self.weekends(rows) == weekend)
        return weights_ * np.where(self._is_new(rows) == self._is_new(np.array([max(first - 1, 0)]), weekend=weekend), 1.0, _NEW_KIND)

    def _is_new(self, rows: NDArray[np.int64], *, weekend: bool | None = None) -> NDArray[np.bool_]:
        """Whether a series had never seen a day of the kind of each row, or of that kind, when it came, (series, rows).

        Nor what the first day of a kind after the other one does: the Monday after the first weekend is new though Friday was seen.
        """
        ages = np.arange(1, _WEEK + 1)
        kinds = self.weekends(rows) if weekend is None else np.full(rows.shape, weekend)
        same = self.weekends(rows[:, None] + ages) == kinds[:, None]
        seen = np.where(same.any(axis=1), same.argmax(axis=1) + 1, _WEEK)
        needed = np.where(same[:, 0] | (weekend is not None), seen, _WEEK + 1)
        found: NDArray[np.bool_] = self.known_days[:, None] - rows < needed
        return found

    def weekends(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each row, counted back from today, is a Saturday or Sunday; negative ones lie ahead."""
        today = int(self.midnight.clock.days(np.zeros(1, dtype=np.int64))[0])
        found: NDArray[np.bool_] = (today - rows + _THURSDAY) % _WEEK >= _SATURDAY
        return found

    def spread(self, errors: Floats, first: int, steps: Floats, *, weekend: bool) -> Spread:
        """What errors (series, rows from `first` on, slots) say of days of that kind to come."""
        sigma = self.prior_sigma(errors, first, weekend=weekend)
        return spread(errors, self.day_weights(first, weekend=weekend), self.levels, sigma, steps)

    def prior_sigma(self, errors: Floats, first: int, *, weekend: bool) -> Floats:
        """The size of errors where a series knows none yet, (series,): that of the chunk's older ones where there are enough of them.

        Wider for a kind of day that a series has never seen.
        """
        unseen = self._is_new(np.array([max(first - 1, 0)]), weekend=weekend)[:, 0]
        return self._usual_sigma(errors, self.day_weights(first, weekend=weekend)) * np.where(unseen, _UNSEEN_RATIO, 1.0)

    def _usual_sigma(self, errors: Floats, weights_: Floats) -> Floats:
        if (self.history_days >= _POOLED_DAYS).all():
            return np.full(len(errors), SIGMA)
        known = sigmas(errors, weights_)
        old = known[(self.history_days >= _POOLED_DAYS) & (known > 0)]
        size = float(np.exp(np.mean(np.log(old)))) if old.size >= _POOLED_FROM else SIGMA
        sizes: Floats = np.where(self.history_days >= _POOLED_DAYS, SIGMA, size) * np.where(self.history_days < 1, _FIRST_DAY_RATIO, 1.0)
        return sizes


def bring_up_to_date(kept: Kept, circle: Circle, minimum_days: float, today: Floats | None) -> None:
    """Draw the rows that are missing, the oldest first, and score those whose day is over. Writes to the arrays of `kept`.

    today: the members' paths at the last midnight where they are drawn already, (series, members, at least a day of slots).
    """
    _settle(kept, circle)
    _hear(kept, circle, minimum_days)
    for day in range(FIRST_DAYS - 1, -1, -1):
        missing = np.flatnonzero(~kept.drawn[:, day] & (circle.history_days - day >= minimum_days))
        if missing.size:
            at_hand = today[missing, :, : kept.form.per_day] if today is not None and day == 0 else None
            young = circle.history_days[missing] - FIRST_DAYS < minimum_days  # nobody could have had more days to calibrate on
            ripe = young | (kept.drawn[missing, day + 1 :].sum(axis=1) >= _CALIBRATED_DAYS)
            quantiles = _draw(kept, circle, missing, day, at_hand)
            scored = np.flatnonzero(ripe & ~np.isnan(quantiles[:, 0, 0]))
            if day and scored.size:
                _score(kept, only(circle, missing[scored]), missing[scored], day, quantiles[scored])
            if day < PENDING:
                kept.quantiles[missing, day] = quantiles


def _hear(kept: Kept, circle: Circle, minimum_days: float) -> None:
    """What members would have said before the first rows, so that these are weighted by how members did."""
    unknown = np.isnan(kept.members[:, :, : len(circle.members)]).all(axis=(1, 2, 3))
    for day in range(FIRST_DAYS + _HEARD_DAYS - 1, FIRST_DAYS - 1, -1):
        rows = np.flatnonzero(unknown & (circle.history_days - day >= minimum_days))
        if rows.size:
            then = borrowed(circle.midnight.earlier(day), rows).past
            _keep_members(kept, circle, rows, day, drawn(circle.members, then, then.clock.per_day, circle.calendar).paths)


def _keep_members(kept: Kept, circle: Circle, rows: NDArray[np.intp], day: int, paths: Floats) -> None:
    said = np.maximum(np.exp(paths) - circle.offset[rows, None, None], 0.0)
    kept.members[rows, day, : len(circle.members)] = coarse(said, kept.form.parts)


def _draw(kept: Kept, circle: Circle, rows: NDArray[np.intp], day: int, at_hand: Floats | None) -> Floats:
    """The row of one day for some series, by weights and errors of the days before it.

    Answers the quantiles of that day, (series, levels, slots), NaN where nobody has an opinion: there is no row then.
    """
    part = only(circle, rows)
    then = borrowed(circle.midnight.earlier(day), rows).past
    paths = drawn(circle.members, then, then.clock.per_day, circle.calendar).paths if at_hand is None else at_hand
    older = day + 1
    shares = weights(
        member_losses(kept.members[rows, older:, : len(circle.members)], part.actual[:, older:]), ~np.isnan(paths[:, :, 0]), circle.priors
    )
    median = np.einsum("sm,smp->sp", shares, np.nan_to_num(paths))
    offset = part.offset[:, None]
    errors = np.log((part.actual[:, older:] + offset[..., None]) / (kept.median[rows, older:] + offset[..., None]))
    weekend = bool(part.weekends(np.array([day]))[0])
    found = part.spread(errors, older, kept.steps[rows], weekend=weekend)
    slots = np.arange(then.clock.per_day)
    quantiles = median[:, None] + found.quantiles(slots, np.ones(slots.size, dtype=np.int64))
    said = shares.sum(axis=1) > 0
    kept.median[rows[said], day] = np.maximum(np.exp(median) - offset, 0.0)[said]
    _keep_members(kept, circle, rows, day, paths)
    return np.where(said[:, None, None], loads(quantiles, then, ceiling(then, median)), np.nan)


def ceiling(past: Past, median: Floats) -> Floats:
    """No quantile of a series lies above it, (series,): a multiple of the largest load measured or drawn as a log median (series, n)."""
    lines = past.logs.reshape(len(median), -1)
    largest = np.maximum(np.where(np.isnan(lines), -np.inf, lines).max(axis=1), median.max(axis=1))
    most: Floats = _CEILING_RATIO * np.maximum(np.exp(largest) - past.offset, 0.0)
    return most


def loads(logs: Floats, past: Past, most: Floats) -> Floats:
    """Log quantiles (series, levels, n) as loads that do not decrease with the level, within zero and the ceiling of each series."""
    offset = past.offset[:, None, None]
    inside = np.exp(np.minimum(logs, np.log(most + past.offset)[:, None, None])) - offset
    rising: Floats = np.maximum.accumulate(np.clip(inside, 0.0, most[:, None, None]), axis=1)
    return rising


def _settle(kept: Kept, circle: Circle) -> None:
    """Score the days that are over and whose quantiles still wait."""
    for day in range(PENDING - 1, 0, -1):
        waiting = np.flatnonzero(~np.isnan(kept.quantiles[:, day, 0, 0]) & np.isnan(kept.scores[:, day, FIRST_LEVEL]))
        if waiting.size:
            _score(kept, only(circle, waiting), waiting, day, kept.quantiles[waiting, day])


def _score(kept: Kept, part: Circle, rows: NDArray[np.intp], day: int, quantiles: Floats) -> None:
    """What came against what was said, and the adaptive step that follows from it."""
    actual, scored = part.actual[:, day], np.array(SCORED_LEVELS)
    naive = naive_quantiles(part.actual, day, part.offset)
    both = np.where(np.isnan(naive[:, 0]), np.nan, actual)
    ours = _at(quantiles, part.levels, scored)
    shares = covered(quantiles, actual)
    kept.scores[rows, day, PINBALL] = pinball(ours, both, scored)
    kept.scores[rows, day, NAIVE_PINBALL] = pinball(naive, both, scored)
    kept.scores[rows, day, DRIFT] = drift(kept.median[rows, day], actual, part.offset)
    kept.scores[rows, day, FIRST_LEVEL:] = shares
    kept.steps[rows] = adapted(kept.steps[rows], shares, part.levels)


def _at(quantiles: Floats, levels: Floats, wanted: Floats) -> Floats:
    """Quantiles at other levels, linear between the stated ones: (series, levels, slots) -> (series, wanted, slots)."""
    place = np.interp(wanted, levels, np.arange(levels.size))
    low, high = np.floor(place).astype(np.intp), np.ceil(place).astype(np.intp)
    share = (place - low)[:, None]
    between: Floats = quantiles[:, low] * (1 - share) + quantiles[:, high] * share
    return between


def only(circle: Circle, rows: NDArray[np.intp]) -> Circle:
    """The same for some series."""
    return Circle(
        members=circle.members,
        priors=circle.priors,
        midnight=circle.midnight.only(rows),
        actual=circle.actual[rows],
        history_days=circle.history_days[rows],
        known_days=circle.known_days[rows],
        levels=circle.levels,
        calendar=circle.calendar,
    )
