"""Plans as the store reads them: a tick needs a floor or two of each, and reading all of them is what it would wait for."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from datetime import datetime
from functools import partial

from connectors.stores.codec import decode
from connectors.stores.forms import Plain, microseconds
from forecaster.plan import Plan
from forecaster.series import Window


def plan_of(payload: bytes, span: Window | None) -> Plan:
    """The plan of a payload, `within` the span; the floors outside of it are not even made. Raises StoreError."""
    if span is None:
        return decode(Plan, payload)
    return decode(Plan, payload, partial(_within, span)).within(span)  # what an older version wrote was read whole


def _within(span: Window, plain: Plain) -> Plain:
    """What was written of a plan, with the columns of its floors cut as `Plan.within` does it."""
    floors = plain["floors"]
    first, end = _count(floors["until"], span.start, bisect_right), _count(floors["start"], span.end, bisect_left)
    return plain | {"floors": _rows(floors, slice(min(first, max(end - 1, 0)), max(end, 1)))}


def _count(column: Plain, instant: datetime, bisect: Callable[..., int]) -> int:
    """How many instants of a column lie before one, by a side of bisection."""
    us = microseconds(instant) - column["from"]
    return bisect(column["after"], us, key=column["unit"].__mul__)


def _rows(plain: Plain, of: slice) -> Plain:
    """Some rows of columns, and of columns within columns."""
    match plain:
        case dict():
            return {name: _rows(column, of) for name, column in plain.items()}
        case list():
            return plain[of]
        case _:
            return plain
