"""Unit costs as people and programs read them."""

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from forecaster.unit_cost import PRICE, SPENT, WORK, Paid, UnitCost
from jobs.cli.show import Cell, Table, number, percent
from jobs.cost.asked import task_words

if TYPE_CHECKING:
    from forecaster.unit_cost import Compared, Factor
    from jobs.cost.account import Cost

_THOUSAND, _MILLION = 1e3, 1e6
_UNITS = (
    ("1,000 requests", "call", _THOUSAND),
    ("M tokens", "token", _MILLION),
    ("M tokens in", "input_token", _MILLION),
    ("M tokens out", "output_token", _MILLION),
    ("task", "task", 1.0),
    ("task: retries", "retries", 1.0),
    ("task: invalid turns", "invalid", 1.0),
    ("task: abandoned", "abandoned", 1.0),
)
"""Head for people, field of UnitCost, and how many at once."""
_KEYS = (
    ("thousand_requests", "call", _THOUSAND),
    ("million_tokens", "token", _MILLION),
    ("million_input_tokens", "input_token", _MILLION),
    ("million_output_tokens", "output_token", _MILLION),
    ("task", "task", 1.0),
    ("task_retries", "retries", 1.0),
    ("task_invalid", "invalid", 1.0),
    ("task_abandoned", "abandoned", 1.0),
)
_ALIKE = 0.005
"""Less than half a percent apart is the same to a person."""
_ROUNDING = 1e-9
_PER_THOUSAND = {WORK, SPENT}


def costs_table(rows: Sequence["Cost"]) -> Table:
    """For people: a row a workload, in money where there are prices; units that nobody knows anything of are left out."""
    currency = _currency(rows)
    known = [unit for unit in _UNITS if any(_of(row, unit[1], currency) is not None for row in rows)]
    money = () if currency is None else (currency,)
    return Table(
        title=f"Cost in {currency or 'replica-hours'} of each",
        columns=("workload", "days", "replica-hours", "of", "filled", "requests", *money, *(head for head, _, _ in known)),
        rows=tuple(
            (
                row.workload,
                f"{row.days} of {row.asked_days}",
                _whole(row.used.hours, 1),
                row.hours_of,
                percent(row.used.utilisation_ratio),
                _whole(row.used.requests, 0),
                *(_whole(row.used.spend, 2) for _ in money),
                *(_amount(_of(row, name, currency), many) for _, name, many in known),
            )
            for row in rows
        ),
    )


def costs_whole(rows: Sequence["Cost"]) -> Table:
    """For programs: everything, in money and in replica-hours."""
    found = [cost_json(row) for row in rows]
    keys = tuple(found[0])
    return Table(title="Cost", columns=keys, keys=keys, rows=tuple(tuple(each.values()) for each in found))


def cost_json(row: "Cost") -> dict[str, object]:
    """One workload for programs. None = not known."""
    used, task = row.used, row.task
    return {
        "workload": row.workload,
        "from": row.window.start,
        "until": row.window.end,
        "days": row.days,
        "days_asked": row.asked_days,
        "replica_hours": used.hours,
        "replica_hours_of": row.hours_of,
        "utilisation_ratio": used.utilisation_ratio,
        "requests": used.requests,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "tokens": used.tokens,
        "currency": row.currency,
        "spend": used.spend,
        "calls_a_task": None if task is None else task.calls_a_task,
        "completion_ratio": None if task is None else task.completion_ratio,
        "retry_ratio": None if task is None else task.retry_ratio,
        "invalid_ratio": None if task is None else task.invalid_ratio,
        **{f"{key}_cost": _field(row.in_money, name, many) for key, name, many in _KEYS},
        **{f"{key}_hours": _field(row.in_hours, name, many) for key, name, many in _KEYS},
    }


def sides_table(sides: tuple["Cost", "Cost"]) -> Table:
    """What a unit costs on each side, and the second over the first."""
    currency = _currency(sides)
    names = side_names(sides)
    rows: list[tuple[object, ...]] = []
    for head, name, many in _UNITS:
        first, second = (_of(side, name, currency) for side in sides)
        if first is not None or second is not None:
            rows.append(
                (head, _amount(first, many), _amount(second, many), _times(second / first if first and second is not None else None))
            )
    paid = currency or "replica-hours"
    return Table(title=f"{names[0]} and {names[1]}, {paid} of each", columns=("of", "A", "B", "B / A"), rows=tuple(rows))


def factors_table(sides: tuple["Cost", "Cost"], found: "Compared") -> Table:
    """What explains the difference; what it comes to adds up."""
    many, of = (1.0, "a task") if found.of == "task" else (_THOUSAND, "1,000 requests")
    unit = _unit(sides, found)
    rows = tuple(
        (
            _head(each, _currency(sides)),
            _amount(each.first, _scale(each)),
            _amount(each.second, _scale(each)),
            _times(each.ratio),
            _signed(each.explains, many, beside=found.first),
        )
        for each in found.factors
    )
    return Table(title=f"What explains the difference of {of}", columns=("factor", "A", "B", "B / A", unit), rows=rows)


def verdict_line(sides: tuple["Cost", "Cost"], found: "Compared") -> str:
    """The comparison in one sentence, with the factor that explains the most."""
    first, second = side_names(sides)
    many, of = (1.0, "a task") if found.of == "task" else (_THOUSAND, "1,000 requests")
    if found.first is None or found.second is None or found.ratio is None:
        return f"A {first} and B {second} cannot be compared: requests of one of them are not known"
    unit = _unit(sides, found)
    costs = f"{_spelled(found.second * many)} {unit} {of} against {_spelled(found.first * many)}"
    known = [each for each in found.factors if each.explains is not None]
    most = max(known, key=lambda each: abs(each.explains or 0.0), default=None)
    if abs(found.ratio - 1) < _ALIKE:
        return f"B {second} costs as much as A {first}: {costs}"
    told = f"B {second} costs {number(found.ratio)} times as much as A {first}: {costs}"
    if most is None or most.ratio is None or not most.explains:
        return told
    return f"{told}; most of it is {most.name}, {number(most.ratio)} times"


def compared_json(sides: tuple["Cost", "Cost"], found: "Compared") -> dict[str, object]:
    """The whole for programs: both sides, the cost that is compared, and its factors."""
    return {
        "a": cost_json(sides[0]),
        "b": cost_json(sides[1]),
        "of": found.of,
        "unit": _unit(sides, found),
        "cost_a": found.first,
        "cost_b": found.second,
        "ratio": found.ratio,
        "factors": [
            {"name": each.name, "a": each.first, "b": each.second, "ratio": each.ratio, "explains": each.explains} for each in found.factors
        ],
    }


def notes(rows: Sequence["Cost"], names: Sequence[str] = ()) -> list[str]:
    """What is to be known of the figures. names: of the rows, by default their workloads."""
    named = list(zip(names or [row.workload for row in rows], rows, strict=True))
    told = [f"forecaster: {name}: {sentence}" for name, row in named for sentence in row.told]
    some = [f"{name}: {row.days} of {row.asked_days} days count, the others lack replicas or load" for name, row in named if _has_gaps(row)]
    unpriced = [name for name, row in named if row.in_money is None]
    if unpriced:
        whose = "" if len(unpriced) == len(rows) else f" of {', '.join(unpriced)}"
        told.append(f"no money is told{whose}: there are no `prices` in the configuration; replica-hours stand in its place")
    told += [f"{name}: a task takes {task_words(row.task)}" for name, row in named if row.task is not None]
    untold = "what a task takes is told by no `task` section, so tasks have no cost"
    return [*told, *some, *([untold] if all(row.task is None and not row.told for row in rows) else [])]


def _has_gaps(row: "Cost") -> bool:
    return row.days < row.asked_days


def _currency(rows: Sequence["Cost"]) -> str | None:
    """The currency where every row has prices: money and replica-hours never stand in one column."""
    return None if any(row.in_money is None for row in rows) else rows[0].currency


def _of(row: "Cost", name: str, currency: str | None) -> float | None:
    value: float | None = getattr(row.in_hours if currency is None or row.in_money is None else row.in_money, name)
    return value


def _unit(sides: tuple["Cost", "Cost"], found: "Compared") -> str:
    return (sides[0].currency or "money") if found.paid is Paid.SPEND else "replica-hours"


def side_names(sides: tuple["Cost", "Cost"]) -> tuple[str, str]:
    """Each side by its workload, and by its days where they differ."""
    spans = [f"{side.window.start:%Y-%m-%d} to {side.window.end - timedelta(days=1):%Y-%m-%d}" for side in sides]
    if spans[0] == spans[1]:
        return sides[0].workload, sides[1].workload
    return f"{sides[0].workload} ({spans[0]})", f"{sides[1].workload} ({spans[1]})"


def _head(factor: "Factor", currency: str | None) -> str:
    if factor.name == PRICE:
        return f"{PRICE}, {currency}"
    return factor.name.replace("a call", "1,000 calls") if factor.name in _PER_THOUSAND else factor.name


def _scale(factor: "Factor") -> float:
    return _THOUSAND if factor.name in _PER_THOUSAND else 1.0


def _field(cost: UnitCost | None, name: str, many: float) -> float | None:
    value: float | None = None if cost is None else getattr(cost, name)
    return None if value is None else value * many


def _amount(value: float | None, many: float) -> Cell | None:
    return None if value is None else Cell(value=value * many, words=_spelled(value * many))


def _signed(value: float | None, many: float, beside: float | None) -> Cell | None:
    """beside: the cost of which it is a part; what is less than a billionth of it is rounding, and told as 0."""
    if value is None:
        return None
    told = _spelled(0.0 if beside is not None and abs(value) < _ROUNDING * beside else value * many)
    return Cell(value=value * many, words=told if value <= 0 or told == "0" else f"+{told}")


def _spelled(value: float) -> str:
    """Three digits that count, zeros at the end left out as everywhere, never an exponent: a task may cost thousandths of a cent."""
    told = number(value)
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}".rstrip("0") if "e-" in told else told


def _times(ratio: float | None) -> Cell | None:
    return None if ratio is None else Cell(value=ratio, words=f"{number(ratio)}x")


def _whole(value: float | None, digits: int) -> Cell | None:
    return None if value is None else Cell(value=value, words=f"{value:,.{digits}f}")
