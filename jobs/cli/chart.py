"""Charts of a day for a terminal: arrays in, text out. Units and zone stand on the axes, and nothing depends on colour."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from forecaster.calendar import Calendar
from forecaster.plan import Plan
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, epoch_s
from jobs.cli.canvas import LABEL_WIDTH, LINE, SHADE, SOLID, UNKNOWN, Canvas
from jobs.cli.show import number

_COLUMNS = (144, 96, 72, 48, 24)
"""Columns of a day: each is a whole number of minutes, so that hours fall on edges."""
_TICK_WIDTH = 8
_LOAD_ROWS, _FLOOR_ROWS = 8, 5
_LEAST_TOP = 0.01
"""What an axis ends at, at least: smaller loads need more digits than there is room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the charts of one day share: where it starts, whose wall clock its axis shows, and how many columns it has."""

    start: datetime
    calendar: Calendar
    columns: int
    span_s: float = DAY_S

    @property
    def column_s(self) -> float:
        """Seconds that one column stands for."""
        return self.span_s / self.columns

    @property
    def zone(self) -> str:
        """The zone, with the short name that its clocks show."""
        short = f"{self.calendar.local(self.start):%Z}"
        return self.calendar.zone if short == self.calendar.zone else f"{self.calendar.zone} ({short})"


def columns_within(width: int) -> int:
    """The columns of a day that fit into a terminal of that width beside the labels; at least 24."""
    return next((columns for columns in _COLUMNS if columns + LABEL_WIDTH + 1 <= width), _COLUMNS[-1])


def by_column(frame: Frame, start: datetime, step_s: float, values: Floats, statistic: Callable[[Floats], float]) -> Floats:
    """Values on a grid of their own as one number a column: the statistic of the steps that touch it, NaN where none is known."""
    lead_s = epoch_s(frame.start) - epoch_s(start)
    columns = np.full(frame.columns, np.nan)
    for c in range(frame.columns):
        first = max(0, math.floor((lead_s + c * frame.column_s) / step_s))
        last = max(0, math.ceil((lead_s + (c + 1) * frame.column_s) / step_s))
        known = values[first:last][~np.isnan(values[first:last])]
        if known.size:
            columns[c] = statistic(known)
    return columns


def floors_by_column(frame: Frame, plan: Plan) -> Floats:
    """The largest floor of a plan in each column, NaN outside of the plan."""
    columns = np.full(frame.columns, np.nan)
    for floor in plan.floors:
        first = math.floor((floor.start - frame.start).total_seconds() / frame.column_s)
        last = math.ceil((floor.until - frame.start).total_seconds() / frame.column_s)
        inside = slice(max(0, first), max(0, last))
        columns[inside] = np.fmax(columns[inside], floor.replicas)
    return columns


def load_ahead(frame: Frame, median: Floats, upper: Floats, unit: str, upper_name: str = "P95") -> list[str]:
    """Forecast load, one value a column: solid up to the median, shaded from there to the upper quantile."""
    canvas = _load_canvas(frame, (median, upper))
    canvas.shade(np.zeros(frame.columns), upper)
    canvas.fill(median)
    canvas.mark_unknown(upper)
    return _chart(frame, unit, f"{SOLID} P50  {SHADE} {upper_name}", canvas)


def floors_ahead(frame: Frame, replicas: Floats) -> list[str]:
    """Floors, one value a column, with the number written over every run that is wide enough for it."""
    most = _largest((replicas,))
    rows = min(_FLOOR_ROWS, math.ceil(most))
    canvas = Canvas(top=most, columns=frame.columns, rows=rows, headroom=1, labels={rows - 1: _short(most)})
    canvas.fill(replicas)
    canvas.mark_unknown(replicas)
    canvas.number_runs(replicas)
    return _chart(frame, "replicas", f"{SOLID} floor", canvas)


def load_against(frame: Frame, lower: Floats, upper: Floats, measured: Floats, unit: str) -> list[str]:
    """Measured load, two values a column, as a line over the shaded band of its forecast."""
    canvas = _load_canvas(frame, (upper, measured))
    canvas.shade(lower, upper)
    canvas.draw(measured)
    canvas.mark_unknown(np.fmax(measured[::2], measured[1::2]))
    return _chart(frame, unit, f"{LINE}{LINE} measured  {SHADE} forecast P5-P95", canvas)


def plan_chart(plan: Plan, calendar: Calendar, now: datetime, width: int = 80) -> str:
    """The next 24 hours of a plan: the load of the signal that asks for most replicas, and the floors."""
    frame = Frame(start=now, calendar=calendar, columns=columns_within(width))
    lines = []
    demand = plan.demand
    if demand is not None:
        s = int(demand.needs.max(axis=1).argmax())
        median, upper = (by_column(frame, demand.start, demand.step_s, load[s], np.max) for load in (demand.expected, demand.load))
        name = f"P{demand.level * 100:g} of the next {demand.window_s / MINUTE_S:g} min"
        lines = [*load_ahead(frame, median, upper, demand.signals[s].unit, name), ""]
    return "\n".join([*lines, *floors_ahead(frame, floors_by_column(frame, plan))])


def _load_canvas(frame: Frame, layers: tuple[Floats, ...]) -> Canvas:
    top = _round_up(max(_LEAST_TOP, _largest(layers)))
    labels = {_LOAD_ROWS - 1: _short(top), _LOAD_ROWS // 2 - 1: _short(top / 2)}
    return Canvas(top=top, columns=frame.columns, rows=_LOAD_ROWS, labels=labels)


def _largest(layers: tuple[Floats, ...]) -> float:
    return float(np.concatenate([layer[~np.isnan(layer)] for layer in layers]).max(initial=0.0)) or 1.0


def _round_up(value: float) -> float:
    """The next number whose half is easy to read as well."""
    scale = 10.0 ** math.floor(math.log10(value))
    return next(step * scale for step in (1, 1.2, 1.4, 1.6, 1.8, 2, 2.4, 3, 4, 5, 6, 7, 8, 10) if step * scale >= value)


def _short(value: float) -> str:
    """At most six characters."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if value >= size:
            return f"{value / (1_000 if suffix == 'k' else size):,.4g}{suffix}"
    return number(value)


def _chart(frame: Frame, unit: str, legend: str, canvas: Canvas) -> list[str]:
    """What is drawn, under a line that says what it is and whose time it shows."""
    drawn = canvas.lines()
    unknown = f"  {UNKNOWN} not known" if any(UNKNOWN in line for line in drawn) else ""
    left, width = f"{unit}  {legend}{unknown}", LABEL_WIDTH + 1 + frame.columns
    longest = f"{frame.zone}, {frame.column_s / MINUTE_S:g} min/column"
    right = longest if len(left) + 2 + len(longest) <= width else frame.zone
    head = f"{left}  {right:>{max(0, width - len(left) - 2)}}"
    return [head, *drawn, *_time_axis(frame)]


def _time_axis(frame: Frame) -> list[str]:
    """The axis with a tick at every few whole hours of the local day, and the day's name at midnight."""
    every_h = next(h for h in (1, 2, 3, 6, 12, 24) if h * HOUR_S / frame.column_s >= _TICK_WIDTH)
    axis, labels = ["─"] * frame.columns, [" "] * frame.columns
    free_from = 0
    for c in range(frame.columns):
        local = frame.calendar.local(frame.start + timedelta(seconds=c * frame.column_s))
        past_s = (local.hour * HOUR_S + local.minute * MINUTE_S + local.second) % (every_h * HOUR_S)
        if 0 < past_s <= every_h * HOUR_S - frame.column_s:
            continue
        at = local + timedelta(seconds=(-past_s) % (every_h * HOUR_S))
        axis[c] = "┬"
        text = f"{at:%a %d}" if at.hour == 0 else f"{at:%H:%M}"
        if c >= free_from and c + len(text) <= frame.columns:
            labels[c : c + len(text)] = text
            free_from = c + len(text) + 1
    return [f"{0:>{LABEL_WIDTH - 1}} └{''.join(axis)}", f"{'':>{LABEL_WIDTH + 1}}{''.join(labels).rstrip()}"]
