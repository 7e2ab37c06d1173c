"""The charts of `review WORKLOAD`, each with its title and the sentence under it."""

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from forecaster.series import Floats, Series
from forecaster.units import floor_to
from jobs.cli.chart import Frame, by_column, columns_within, floors_ahead, floors_by_column, load_against, load_ahead
from jobs.views.accuracy import MEDIAN, UPPER, Scored, over
from jobs.views.days import local_day
from jobs.views.review import Review
from jobs.views.signals import SignalReview

if TYPE_CHECKING:
    from jobs.views.pools import PoolReview

LOWER = 0.05


def charts(review: Review, signal: SignalReview, width: int) -> list[tuple[str, str, str]]:
    """The next 24 hours of load, the floors of each pool, and yesterday's forecast against what came: a title, a chart, a sentence."""
    columns = columns_within(width)
    ahead = Frame(start=floor_to(review.now, review.member.step_s), calendar=review.member.workload.calendar, columns=columns)
    drawn: list[tuple[str, list[str], str]] = []
    f = signal.forecast
    if f is not None and f.end > review.now:
        median, upper = (by_column(ahead, f.start, f.step_s, f.at_level(level), np.max) for level in (MEDIAN, UPPER))
        drawn.append((f"Next 24 hours: {signal.signal}", load_ahead(ahead, median, upper, signal.signal.unit), ""))
    for pool in review.pools:
        floors = floors_ahead(ahead, floors_by_column(ahead, pool.proposed)) if pool.proposed is not None else []
        drawn.append((f"Next 24 hours: floor of {pool.pool.name}", floors, _floor_sentence(review, pool)))
    if signal.scored is not None and signal.yesterday is not None:
        drawn.append((f"Yesterday: forecast against measured {signal.signal}", _yesterday(review, signal.scored, signal, columns), ""))
    return [(title, "\n".join(lines), told) for title, lines, told in drawn]


def _floor_sentence(review: Review, pool: "PoolReview") -> str:
    """The plan behind a chart of floors, and how it differs from the one that it would replace."""
    plan, calendar = pool.proposed, review.member.workload.calendar
    if plan is None:
        return f"There is no plan to follow ({pool.in_force.state}): fallback, windows and live load hold the floor."
    waits = "awaits approval" if pool.in_force.waiting is not None else "is in force"
    told = f"The plan of {calendar.local(plan.issued_at):%a %H:%M} {waits}, until {calendar.local(plan.valid_until):%a %H:%M}"
    if pool.floor is not None and pool.peak_at is not None:
        told += f"; floor {pool.floor:,d} at tomorrow's peak ({calendar.local(pool.peak_at):%a %H:%M})"
    if pool.replica_hours is not None:
        told += f", {pool.replica_hours:,.0f} replica-hours over the next day"
    if pool.baseline is None or pool.baseline is plan or pool.baseline.id == plan.id:
        return f"{told}."
    whose = f"the plan that {pool.approval.author} approved" if pool.approval is not None else "the plan in force"
    differences = []
    if (difference := pool.floor_change) is not None:
        differences.append(f"{difference:+,d} at the peak" if difference else "no change at the peak")
    if pool.replica_hours is not None and pool.replica_hours_before is not None:
        differences.append(f"{pool.replica_hours - pool.replica_hours_before:+,.0f} replica-hours")
    return f"{told}. Against {whose}: {', '.join(differences)}."


def _yesterday(review: Review, scored: Scored, signal: SignalReview, columns: int) -> list[str]:
    calendar = review.member.workload.calendar
    day = local_day(calendar, review.tomorrow - timedelta(days=2))
    frame = Frame(start=day.start, calendar=calendar, columns=columns, span_s=day.length_s)
    fine = Frame(start=day.start, calendar=calendar, columns=2 * columns, span_s=day.length_s)
    lower, upper = (_mean(frame, over(scored.forecast, level, scored.covers)) for level in (LOWER, UPPER))
    return load_against(frame, lower, upper, _mean(fine, signal.measured), signal.signal.unit)


def _mean(frame: Frame, series: Series) -> Floats:
    return by_column(frame, series.start, series.step_s, series.mean, np.mean)
