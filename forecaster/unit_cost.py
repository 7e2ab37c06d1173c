"""What a request, a token and a task cost, in money or in replica-hours, and what explains the difference of two such costs.

| figure                  | formula                                                                  |
|-------------------------|--------------------------------------------------------------------------|
| paid                    | sum over pools of replica-hours x price of one                           |
| a call                  | paid / requests                                                          |
| a token in, out, at all | paid / tokens of that kind, the whole each time: 1/at all = 1/in + 1/out |
| calls a task            | calls a round x rounds a task / completion ratio                         |
| a task                  | a call x calls a task                                                    |

1.5 times the price a call at half the calls a task is 0.75 times the cost a task. Of what a completed task costs there went

| into            | share, with completion p, retries r of the calls, invalid turns v of the rounds |
|-----------------|---------------------------------------------------------------------------------|
| abandoned tasks | 1 - p                                                                           |
| retries         | p r                                                                             |
| invalid turns   | p (1 - r) v                                                                     |
| useful work     | p (1 - r) (1 - v)                                                               |

The cost a task is a product of factors, so the difference of two is split by their logarithms (logarithmic mean Divisia index I, Ang
2004, Energy Policy 32): factor f explains L(a, b) ln(fb / fa) of b - a, with L(a, b) = (b - a) / ln(b / a); nothing is left over.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum

from forecaster.units import check_positive


class Paid(StrEnum):
    """What a cost is told in: money, or replica-hours where nobody said a price."""

    SPEND = "spend"
    HOURS = "hours"


class Counted(StrEnum):
    """What a cost is told of."""

    REQUESTS = "requests"
    INPUT_TOKENS = "input_tokens"
    OUTPUT_TOKENS = "output_tokens"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a workload took and did on one day, or on several. None = not known, which is not zero.

    hours: replica-hours. spend: their price. busy_hours: those that the load fills at what a replica carries; hours over them is idleness.
    """

    hours: float | None = None
    spend: float | None = None
    busy_hours: float | None = None
    requests: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    tokens: float | None = None

    @property
    def utilisation_ratio(self) -> float | None:
        """The part of the paid capacity that the load filled; above 1 where a replica carries more than is said of it."""
        return _ratio(self.busy_hours, self.hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a task takes.

    calls: calls of the model a round, repeated ones included. rounds: rounds a task. completion_ratio: completed tasks of those begun.
    retry_ratio: repeated calls of all; invalid_ratio: rounds whose answer nobody can use, of all; None = not known.
    """

    calls: float
    rounds: float = 1.0
    completion_ratio: float = 1.0
    retry_ratio: float | None = None
    invalid_ratio: float | None = None

    def __post_init__(self) -> None:
        check_positive("task.calls", self.calls, "calls a round")
        check_positive("task.rounds", self.rounds, "rounds a task")
        if not 0 < self.completion_ratio <= 1:
            msg = f"task.completion must be above 0 and at most 1, got {self.completion_ratio:g}"
            raise ValueError(msg)
        for name, value in (("retries", self.retry_ratio), ("invalid", self.invalid_ratio)):
            if value is not None and not 0 <= value < 1:
                msg = f"task.{name} must be at least 0 and below 1, got {value:g}"
                raise ValueError(msg)

    @property
    def calls_a_task(self) -> float:
        """Calls for each task that is completed, those of abandoned ones included."""
        return self.calls * self.rounds / self.completion_ratio

    @property
    def abandoned_share(self) -> float:
        """Of what is paid for a completed task: what went into others that were not completed."""
        return 1 - self.completion_ratio

    @property
    def retry_share(self) -> float | None:
        """Of the same: what went into calls that were repeated."""
        return None if self.retry_ratio is None else self.completion_ratio * self.retry_ratio

    @property
    def invalid_share(self) -> float | None:
        """Of the same: what went into rounds that nobody can use; where retries are not known, theirs are within it."""
        return None if self.invalid_ratio is None else self.completion_ratio * (1 - (self.retry_ratio or 0.0)) * self.invalid_ratio

    @property
    def lost_share(self) -> float | None:
        """All three together, as far as they are known; None where nothing is said of any."""
        if self.completion_ratio == 1 and self.retry_ratio is None and self.invalid_ratio is None:
            return None
        return self.abandoned_share + (self.retry_share or 0.0) + (self.invalid_share or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCost:
    """Costs of one of each, in money or replica-hours; None = not known. abandoned, retries, invalid: parts of `task`."""

    call: float | None
    input_token: float | None
    output_token: float | None
    token: float | None
    task: float | None
    abandoned: float | None
    retries: float | None
    invalid: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One of the factors of a cost, on both sides. explains: its part of the difference, in the unit of the cost; None = not known."""

    name: str
    first: float | None
    second: float | None
    explains: float | None = None

    @property
    def ratio(self) -> float | None:
        """The second over the first."""
        return _ratio(self.second, self.first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two costs of one kind, of a task or of a call, and the factors whose product each is."""

    of: str
    paid: Paid
    first: float | None
    second: float | None
    factors: tuple[Factor, ...]

    @property
    def ratio(self) -> float | None:
        """The second over the first."""
        return _ratio(self.second, self.first)


def per(days: Iterable[Used], paid: Paid, counted: Counted) -> float | None:
    """What one costs over the days on which both what was paid and what was done are known; None where there is no such day."""
    pairs = [(getattr(day, paid), getattr(day, counted)) for day in days]
    known = [(amount, count) for amount, count in pairs if amount is not None and count is not None]
    return _ratio(sum(amount for amount, _ in known), sum(count for _, count in known)) if known else None


def unit_cost(days: Sequence[Used], paid: Paid, task: Task | None) -> UnitCost:
    """What each costs over some days. Without a task nothing is known of tasks."""
    call = per(days, paid, Counted.REQUESTS)
    of_task = None if call is None or task is None else call * task.calls_a_task
    return UnitCost(
        call=call,
        input_token=per(days, paid, Counted.INPUT_TOKENS),
        output_token=per(days, paid, Counted.OUTPUT_TOKENS),
        token=per(days, paid, Counted.TOKENS),
        task=of_task,
        abandoned=None if task is None else _part(of_task, task.abandoned_share),
        retries=None if task is None else _part(of_task, task.retry_share),
        invalid=None if task is None else _part(of_task, task.invalid_share),
    )


def summed(days: Sequence[Used]) -> Used:
    """The days that count, together; what one of them lacks is not known of the sum."""
    counted = days_that_count(days)
    return Used(**{each.name: added([getattr(day, each.name) for day in counted]) for each in fields(Used)})


def days_that_count(days: Sequence[Used]) -> tuple[Used, ...]:
    """Those on which both replica-hours and requests are known; where no requests are told of at all, replica-hours and tokens."""
    by_requests = tuple(day for day in days if day.hours is not None and day.requests is not None)
    return by_requests or tuple(day for day in days if day.hours is not None and day.tokens is not None)


def added(values: Sequence[float | None]) -> float | None:
    """A sum of which one part is not known is not known; nor is that of nothing."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def compared(first: tuple[Used, Task | None], second: tuple[Used, Task | None]) -> Compared:
    """Two workloads, or two spans of one, each as `summed`: by task where both say what a task takes, else by call.

    In money where both have prices, else in replica-hours.
    """
    sides = (first[0], second[0])
    paid = Paid.HOURS if any(used.spend is None for used in sides) else Paid.SPEND
    by_task = first[1] is not None and second[1] is not None
    names = _factors_of(sides, paid)
    values = [_of_call(used, names) for used in sides]
    if first[1] is not None and second[1] is not None:
        tasks = (first[1], second[1])
        told = _told_of_tasks(tasks)
        names = (*names, *told)
        values = [{**each, **_of_task(task, told)} for each, task in zip(values, tasks, strict=True)]
    costs = [_product(list(each.values())) for each in values]
    factors = tuple(_factor(name, values[0][name], values[1][name], costs[0], costs[1]) for name in names)
    return Compared(of="task" if by_task else "call", paid=paid, first=costs[0], second=costs[1], factors=factors)


PRICE = "price of a replica-hour"
WORK = "replica-hours a call, if full"
IDLE = "paid over filled replica-hours"
SPENT = "replica-hours a call"
CALLS = "useful calls a task"
RETRIES = "retries"
INVALID = "invalid turns"
ABANDONED = "abandoned tasks"


def _factors_of(sides: Sequence[Used], paid: Paid) -> tuple[str, ...]:
    """Idleness apart where it is known of both."""
    filled = all(used.busy_hours for used in sides)
    return (*((PRICE,) if paid is Paid.SPEND else ()), *((WORK, IDLE) if filled else (SPENT,)))


def _of_call(used: Used, names: Sequence[str]) -> dict[str, float | None]:
    every = {
        PRICE: _ratio(used.spend, used.hours),
        WORK: _ratio(used.busy_hours, used.requests),
        IDLE: _ratio(used.hours, used.busy_hours),
        SPENT: _ratio(used.hours, used.requests),
    }
    return {name: every[name] for name in names}


def _told_of_tasks(tasks: Sequence[Task]) -> tuple[str, ...]:
    """What one side does not know stays within the calls of both."""
    retries = all(task.retry_ratio is not None for task in tasks)
    invalid = all(task.invalid_ratio is not None for task in tasks)
    return (CALLS, *((RETRIES,) if retries else ()), *((INVALID,) if invalid else ()), ABANDONED)


def _of_task(task: Task, told: Sequence[str]) -> dict[str, float | None]:
    retries = 1 / (1 - (task.retry_ratio or 0.0)) if RETRIES in told else 1.0
    invalid = 1 / (1 - (task.invalid_ratio or 0.0)) if INVALID in told else 1.0
    every: dict[str, float | None] = {
        CALLS: task.calls * task.rounds / (retries * invalid),
        RETRIES: retries,
        INVALID: invalid,
        ABANDONED: 1 / task.completion_ratio,
    }
    return {name: every[name] for name in told}


def _factor(name: str, first: float | None, second: float | None, was: float | None, becomes: float | None) -> Factor:
    explains = None
    if first and second and was and becomes:
        explains = _log_mean(was, becomes) * math.log(second / first)
    return Factor(name=name, first=first, second=second, explains=explains)


def _log_mean(first: float, second: float) -> float:
    """(b - a) / ln(b / a), and its limit where both are much the same."""
    spread = math.log(second / first)
    return (second - first) / spread if abs(spread) > 1e-9 else first  # noqa: PLR2004 - below it the quotient is rounding alone


def _product(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.prod(known) if len(known) == len(values) else None


def _part(whole: float | None, share: float | None) -> float | None:
    return None if whole is None or share is None else whole * share


def _ratio(amount: float | None, count: float | None) -> float | None:
    return amount / count if amount is not None and count else None
