"""An ordered ladder of degradation: one step at a time while a signal is too high, back in reverse once it has calmed down.

A tier with one consequence is a ladder of one step, so there is one machine for both. `move` is its whole state chart:

    signal       meets                                    becomes
    above        not at the last step, for_s unbroken     one step further, hold_s after the last one
    below        at least one step taken, calm_s unbroken one step back, hold_s after the last one
    in between   -                                        what stands, stands
    unknown      -                                        what stands, stands; a run of readings is broken
    any          first step taken expiry_s ago            back step by step, and no step again before the signal was below
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import TypeAlias

from forecaster.reasons import Code, Reason
from forecaster.units import MINUTE_S, check_instant, check_named, check_not_negative, check_positive, iso, spell_number

LeverValue: TypeAlias = bool | int | float | str
"""What a lever can be set to: a switch, a number or a word."""
_EARLY_S = 1.0
"""Ticks that are told in whole seconds may lie a second closer than they should: two readings of a tick of 5 s must be 5 s of them, or
what is to act within two ticks would now and then take three."""


class Tier(StrEnum):
    """How grave it is. Where two ask for one lever, the graver one has it."""

    WARN = "warn"
    ACT = "act"
    EMERGENCY = "emergency"

    @property
    def rank(self) -> int:
        """0 for the least grave."""
        return tuple(Tier).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """When a signal is too high, and when it has calmed down. All in the signal's own unit and in seconds.

    above: a reading above it is too high. below: one below it is calm; lower than `above`, since one threshold would flutter. for_s: so
    long readings must be too high without a break. calm_s: so long they must be calm. expiry_s: so long after the first step all of it
    ends by itself, whatever the signal says.
    """

    signal: str
    above: float
    below: float
    for_s: float = 0.0
    calm_s: float = MINUTE_S
    expiry_s: float = 60 * MINUTE_S

    def __post_init__(self) -> None:
        check_named("trigger.signal", self.signal)
        for name in ("for_s", "calm_s"):
            check_not_negative(f"trigger.{name}", getattr(self, name), "seconds")
        check_positive("trigger.expiry_s", self.expiry_s, "seconds")
        if not (math.isfinite(self.above) and math.isfinite(self.below) and self.below < self.above):
            msg = f"{self.signal} must calm down below less than the {self.above:g} above which it acts, or it flutters; got {self.below:g}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a ladder: the levers that it moves, and to what. raise_now: floors are decided at once, not at the next tick."""

    name: str
    levers: Mapping[str, LeverValue] = field(default_factory=dict)
    raise_now: bool = False

    def __post_init__(self) -> None:
        check_named("step.name", self.name)
        if not self.levers and not self.raise_now:
            msg = f"the step {self.name} moves no lever and raises nothing: say what it does, or remove it"
            raise ValueError(msg)
        for lever, value in self.levers.items():
            if isinstance(value, float) and not math.isfinite(value):
                msg = f"the step {self.name} sets {lever} to {value:g}, which is no finite number"
                raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Steps in the order in which they are taken. hold_s: least time between two steps, in either direction.

    Raises ValueError where it contradicts itself: a lever that is set twice to the same value, switched there and back, or moved up by
    one step and down by another.
    """

    name: str
    tier: Tier
    trigger: Trigger
    steps: tuple[Step, ...]
    hold_s: float = 0.0

    def __post_init__(self) -> None:
        check_named("ladder.name", self.name)
        check_not_negative("ladder.hold_s", self.hold_s, "seconds")
        if not self.steps:
            msg = f"the ladder {self.name} has no steps"
            raise ValueError(msg)
        names = [step.name for step in self.steps]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            msg = f"the ladder {self.name} has two steps named {twice}"
            raise ValueError(msg)
        for lever in dict.fromkeys(lever for step in self.steps for lever in step.levers):
            _check_course(self, lever)

    def at(self, depth: int) -> dict[str, LeverValue]:
        """The levers after so many steps; of a lever that several steps move, the last one counts."""
        return {lever: value for step in self.steps[:depth] for lever, value in step.levers.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a ladder stands: steps taken, since when any, when the last was taken or restored; the runs of readings that are unbroken.

    spent: it expired, and the signal has not been calm since.
    """

    depth: int = 0
    since: datetime | None = None
    moved_at: datetime | None = None
    high_since: datetime | None = None
    calm_since: datetime | None = None
    spent: bool = False

    def __post_init__(self) -> None:
        check_not_negative("standing.depth", self.depth, "steps")
        for name in ("since", "moved_at", "high_since", "calm_since"):
            instant = getattr(self, name)
            if instant is not None:
                check_instant(f"standing.{name}", instant)


def move(ladder: Ladder, standing: Standing, reading: float, now: datetime) -> tuple[Standing, tuple[Reason, ...]]:
    """Where the ladder stands after one reading (what is not finite is unknown), by at most one step, and why."""
    trigger = ladder.trigger
    seen = _read(trigger, replace(_by(now, standing), depth=min(standing.depth, len(ladder.steps))), reading, now)
    expired = seen.depth > 0 and _lasted(seen.since, trigger.expiry_s, now)
    if expired and not seen.spent:
        seen = replace(seen, spent=True)
    if not _lasted(seen.moved_at, ladder.hold_s, now, unknown=True):
        return seen, ()
    if seen.depth and (seen.spent or (seen.calm_since is not None and _lasted(seen.calm_since, trigger.calm_s, now))):
        return _back(ladder, seen, reading, now)
    high = seen.high_since is not None and _lasted(seen.high_since, trigger.for_s - min(_EARLY_S, trigger.for_s / 5), now)
    if high and not seen.spent and seen.depth < len(ladder.steps):
        return _further(ladder, seen, reading, now)
    return seen, ()


def _by(now: datetime, standing: Standing) -> Standing:
    """The standing without instants that are yet to come: where a clock was set back, every span begins anew now, so that it still ends."""
    instants = {name: getattr(standing, name) for name in ("since", "moved_at", "high_since", "calm_since")}
    return replace(standing, **{name: min(instant, now) for name, instant in instants.items() if instant is not None})


def _read(trigger: Trigger, standing: Standing, reading: float, now: datetime) -> Standing:
    """The runs of readings with this one; calm at depth 0 arms an expired ladder again."""
    known = math.isfinite(reading)
    high, calm = known and reading > trigger.above, known and reading < trigger.below
    return replace(
        standing,
        high_since=(standing.high_since or now) if high else None,
        calm_since=(standing.calm_since or now) if calm else None,
        spent=standing.spent and not (calm and standing.depth == 0),
    )


def _further(ladder: Ladder, seen: Standing, reading: float, now: datetime) -> tuple[Standing, tuple[Reason, ...]]:
    step, trigger = ladder.steps[seen.depth], ladder.trigger
    told = f"{trigger.signal} is {spell_number(reading)}, above {spell_number(trigger.above)}"
    detail = f"{ladder.name} takes step {seen.depth + 1} of {len(ladder.steps)}, {step.name}: {told}"
    after = replace(seen, depth=seen.depth + 1, since=seen.since or now, moved_at=now, calm_since=None)
    return after, (Reason(code=Code.LEVER_STEP, detail=detail),)


def _back(ladder: Ladder, seen: Standing, reading: float, now: datetime) -> tuple[Standing, tuple[Reason, ...]]:
    step, trigger = ladder.steps[seen.depth - 1], ladder.trigger
    if seen.spent and seen.since is not None:
        code, told = Code.LEVER_EXPIRED, f"it began at {iso(seen.since)} and lasts {trigger.expiry_s / MINUTE_S:g} min at most"
    else:
        code, told = Code.LEVER_RESTORED, f"{trigger.signal} is {spell_number(reading)}, below {spell_number(trigger.below)}"
    detail = f"{ladder.name} takes back step {seen.depth} of {len(ladder.steps)}, {step.name}: {told}"
    depth = seen.depth - 1
    after = replace(seen, depth=depth, since=seen.since if depth else None, moved_at=now)
    return after, (Reason(code=code, detail=detail),)


def _lasted(since: datetime | None, span_s: float, now: datetime, *, unknown: bool = False) -> bool:
    """Whether a span has passed; a clock that was set back has passed nothing."""
    return unknown if since is None else (now - since).total_seconds() >= span_s


def _check_course(ladder: Ladder, lever: str) -> None:
    """Refuse a lever whose values over the steps do not go one way."""
    values = [step.levers[lever] for step in ladder.steps if lever in step.levers]
    if any(is_same(one, other) for one, other in pairwise(values)):
        msg = f"the ladder {ladder.name} sets {lever} to the same value twice: the second step would do nothing"
        raise ValueError(msg)
    if _turns(values):
        shown = ", then ".join(map(spell_value, values))
        told = f"the ladder {ladder.name} contradicts itself: it sets {lever} to {shown}, which goes back on a step before"
        msg = f"{told}; steps only go further, and are taken back by themselves"
        raise ValueError(msg)


def _turns(values: list[LeverValue]) -> bool:
    """Whether numbers change direction, or anything else comes back, or a switch is moved twice."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values):
        return len({later > earlier for earlier, later in pairwise(numbers)}) > 1
    switched = sum(isinstance(value, bool) for value in values) > 1
    return switched or len({(type(value), value) for value in values}) < len(values)


def spell_value(value: LeverValue) -> str:
    """A value as the configuration writes it: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def is_same(one: LeverValue, other: LeverValue) -> bool:
    """Whether two values are one: true is not 1, and 1 is 1.0."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def names_of(ladders: Iterable[Ladder]) -> tuple[str, ...]:
    """The levers that any of the ladders moves, each once."""
    return tuple(dict.fromkeys(lever for ladder in ladders for step in ladder.steps for lever in step.levers))
