"""A past on a coarser grid, for members whose cost grows with the number of slots, and the way back to the fine one."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from forecaster.models.past import Past
from forecaster.models.rows import coarse as means
from forecaster.models.rows import medians
from forecaster.series import Floats

_SHRINKING_DAYS = 3.0
_FINE_DAYS = 28
_MOST_LOG_RATIO = 2.303  # log(10)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coarse:
    """The same chunk with `ratio` fine slots a slot, `per_day` of them in 24 hours on the wall.

    lines[i, n]: the mean of the fine logarithms less log(offset), from old to new, so that neither the unit nor the size of a load steers
    a fit; NaN where fewer than half were measured. Slot 0 after the origin is the one after lines[:, -1]. fine[i, s]: what fine slot s of
    a day adds to its coarse slot, shape (series, fine slots a day).
    """

    step_s: int
    ratio: int
    per_day: int
    lines: Floats = field(repr=False)
    fine: Floats = field(repr=False)
    log_offset: Floats = field(repr=False)

    def drawn(self, reach: int, least_days: int, path: Callable[[Floats, int], Floats]) -> Floats:
        """The paths of all series back on the grid of the past, shape (series, reach), each as `path` draws it from one line.

        path(line, slots): so many coarse slots after the line, which runs from the first whole day that was measured in part (the oldest
        row may hold a part of a day only). A row is NaN where there are under `least_days` such days or under a day's worth was measured,
        where the library gives up, and where the path diverged: it is not finite or leaves what was measured by more than a factor of ten.
        """
        paths = np.full((len(self.lines), -(-reach // self.ratio)), np.nan)
        for row, days in enumerate(self._days(least_days)):
            if days:
                line = self.lines[row, self.lines.shape[1] - days * self.per_day :]
                with suppress(ValueError, ArithmeticError, RuntimeError):  # what optimisers and Stan raise on a line they cannot fit
                    paths[row] = _believed(path(line, paths.shape[1]), line)
        return self._fine_again(paths, reach)

    def drawn_alike(self, reach: int, least_days: int, paths: Callable[[Floats, int], Floats]) -> Floats:
        """The same where lines of one length are drawn together: paths(lines, slots) from lines (series, n) to (series, slots)."""
        found = np.full((len(self.lines), -(-reach // self.ratio)), np.nan)
        lengths = np.array(self._days(least_days))
        for days in np.unique(lengths[lengths > 0]):
            rows = np.flatnonzero(lengths == days)
            lines = self.lines[rows, self.lines.shape[1] - days * self.per_day :]
            found[rows] = [_believed(path, line) for path, line in zip(paths(lines, found.shape[1]), lines, strict=True)]
        return self._fine_again(found, reach)

    def _fine_again(self, paths: Floats, reach: int) -> Floats:
        slots = np.arange(reach)
        drawn: Floats = paths[:, slots // self.ratio] + self.fine[:, slots % self.fine.shape[1]] + self.log_offset[:, None]
        return drawn

    def _days(self, least: int) -> list[int]:
        """Whole days since the first measured slot of each series; 0 where these are too few, or hold less than a day of measured slots."""
        known = ~np.isnan(self.lines)
        slots = np.where(known.any(axis=1), known.shape[1] - known.argmax(axis=1), 0)
        days = slots // self.per_day
        since = np.arange(known.shape[1]) >= known.shape[1] - days[:, None] * self.per_day
        enough = (days >= least) & ((known & since).sum(axis=1) >= self.per_day)
        counted: list[int] = np.where(enough, days, 0).tolist()
        return counted


def coarse(past: Past, step_s: int, days: int) -> Coarse:
    """The newest `days` of a past at the coarsest step up to `step_s` that divides a day into whole slots."""
    per_day = past.clock.per_day
    ratio = next(r for r in range(max(1, step_s // past.clock.step_s), 0, -1) if per_day % r == 0)
    logs = past.logs[:, :days] if past.days else np.full((len(past.names), 1, per_day), np.nan)
    rows = means(logs, per_day // ratio)
    log_offset = np.log(past.offset)
    return Coarse(
        step_s=ratio * past.clock.step_s,
        ratio=ratio,
        per_day=per_day // ratio,
        lines=rows[:, ::-1].reshape(len(logs), -1) - log_offset[:, None],
        fine=_fine(logs[:, :_FINE_DAYS], rows[:, :_FINE_DAYS], ratio),
        log_offset=log_offset,
    )


def _fine(logs: Floats, rows: Floats, ratio: int) -> Floats:
    """The median over days of what each fine slot was above its coarse one, shrunk towards none while days are few.

    It keeps cron spikes and the slope of ramps, which a mean over half an hour flattens.
    """
    if ratio == 1:
        return np.zeros((len(logs), logs.shape[2]))
    above = logs - np.repeat(rows, ratio, axis=2)
    count = np.count_nonzero(~np.isnan(above), axis=1)
    return np.where(count > 0, medians(above) * count / (count + _SHRINKING_DAYS), 0.0)


def _believed(path: Floats, line: Floats) -> Floats:
    """A path as it is, or NaN where it is not one of a load like this one."""
    low, high = np.nanmin(line) - _MOST_LOG_RATIO, np.nanmax(line) + _MOST_LOG_RATIO
    believed: Floats = path if ((path >= low) & (path <= high)).all() else np.full(path.shape, np.nan)  # NaN compares as false
    return believed
