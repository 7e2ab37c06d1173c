"""Which levers stand where: rules on live signals, by how grave they are, over limits that follow capacity. Pure, and needs no forecast.

asked for by       wins over
rule or ladder     one of a lower tier; of the same tier the earlier one in the configuration
any of them        what admission asks for
admission          the original
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forecaster.ladder import Ladder, LeverValue, Standing, is_same, move, spell_value
from forecaster.reasons import Code, Reason
from forecaster.units import check_instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Everything that is watched, in the order of the configuration. A rule is a ladder of one step.

    Raises ValueError where two of one name stand, or two of one tier set one lever to different values on the same signal.
    """

    ladders: tuple[Ladder, ...] = ()

    def __post_init__(self) -> None:
        names = [ladder.name for ladder in self.ladders]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            msg = f"two rules or ladders are named {twice}: their standing is kept by name"
            raise ValueError(msg)
        for i, one in enumerate(self.ladders):
            for other in self.ladders[i + 1 :]:
                _check_agree(one, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What is to stand now. levers: value and reason by lever; a lever that is not in it goes back to its original.

    raise_now: floors are to be decided at once. standings: where each ladder stands, to be handed back at the next tick.
    unknown: the signals without a reading. keeps: levers that nobody asks for and that stay as they are, since it is not known whether
    they should. told: what each ladder did at this tick, in words; nothing of those that did nothing.
    """

    levers: Mapping[str, "Wish"] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    reasons: tuple[Reason, ...] = ()
    raise_now: bool = False
    unknown: tuple[str, ...] = ()
    keeps: frozenset[str] = frozenset()
    told: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A value for a lever, who asks for it in words, and when it ends if nobody asks again."""

    value: LeverValue
    why: str
    until: datetime


def decide(
    rules: Rules,
    standings: Mapping[str, Standing],
    readings: Mapping[str, float],
    now: datetime,
    *,
    admission: Mapping[str, Wish | None] | None = None,
) -> Pulled:
    """What is to stand at `now`: a pure function of the rules, where they stood, and one reading a signal (absent or NaN = unknown).

    admission: by lever what capacity asks for; None = unknown, and what stands is kept. A step is taken once, at the tick that takes it:
    `raise_now` is true at that tick only.
    """
    check_instant("now", now)
    after: dict[str, Standing] = {}
    reasons: list[Reason] = []
    told: dict[str, str] = {}
    raise_now = False
    for ladder in rules.ladders:
        before = standings.get(ladder.name, Standing())
        after[ladder.name], why = move(ladder, before, readings.get(ladder.trigger.signal, math.nan), now)
        reasons += why
        if why:
            told[ladder.name] = "; ".join(reason.detail for reason in why)
        if after[ladder.name].depth > before.depth:
            raise_now = raise_now or ladder.steps[before.depth].raise_now
    asked = {lever: wish for lever, wish in (admission or {}).items() if wish is not None} | _asked(rules, after)
    unknown = tuple(dict.fromkeys(x.trigger.signal for x in rules.ladders if not math.isfinite(readings.get(x.trigger.signal, math.nan))))
    reasons += [Reason(code=Code.SIGNAL_UNKNOWN, detail=f"{name} is unknown: no step is taken and none taken back") for name in unknown]
    kept = frozenset(lever for lever, wish in (admission or {}).items() if wish is None and lever not in asked)
    return Pulled(levers=asked, standings=after, reasons=tuple(reasons), raise_now=raise_now, unknown=unknown, keeps=kept, told=told)


def _asked(rules: Rules, standings: Mapping[str, Standing]) -> dict[str, Wish]:
    """The wishes of the ladders; later ones in this order win."""
    wishes: dict[str, Wish] = {}
    for _, ladder in sorted(enumerate(rules.ladders), key=lambda pair: (pair[1].tier.rank, -pair[0])):
        depth, since = standings[ladder.name].depth, standings[ladder.name].since
        if since is None:
            continue
        until = since + timedelta(seconds=ladder.trigger.expiry_s + len(ladder.steps) * ladder.hold_s)
        for lever, value in ladder.at(depth).items():
            why = f"{ladder.name} ({ladder.tier}) stands at step {depth} of {len(ladder.steps)}"
            wishes[lever] = Wish(value=value, why=why, until=until)
    return wishes


def _check_agree(one: Ladder, other: Ladder) -> None:
    """Refuse two of one tier and signal that set one lever to different values: which of them counts would be chance."""
    if (one.tier, one.trigger.signal) != (other.tier, other.trigger.signal):
        return
    first, second = one.at(len(one.steps)), other.at(len(other.steps))
    for lever in first.keys() & second.keys():
        if not is_same(first[lever], second[lever]):
            values = f"{spell_value(first[lever])} and {spell_value(second[lever])}"
            msg = f"{one.name} and {other.name} are both of tier {one.tier} on {one.trigger.signal} and set {lever} to {values}"
            raise ValueError(f"{msg}: give one another tier, or make them steps of one ladder")
