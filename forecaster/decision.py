"""What was seen, what was decided and why, and what came of it: the values that travel from `correct` to `record`."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from forecaster.reasons import ALERTS, Reason
from forecaster.series import Series, Signal
from forecaster.units import check_instant, check_named, check_not_negative
from forecaster.workload import Mode


class Paused(StrEnum):
    """`hold`: leave the object as it is. `release`: put the original value back and leave it."""

    HOLD = "hold"
    RELEASE = "release"


class Action(StrEnum):
    """What is to be done to the target."""

    SET = "set"
    LEAVE = "leave"
    RELEASE = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A target as it was observed, in replicas.

    floor, ceiling: the bounds that stand there now (ceiling None = it has none). original: the floor before we first wrote, the
    present one if we never did. ready, pending: replicas, None = the target does not say. version: opaque, handed back on a
    write so that a change in between is noticed. paused: the annotation on the object. valid_until: ours, on the object; None = we do
    not hold it. writer: who last wrote our field, if it was somebody else after us. remedy: what to change so that it lets go of
    the field, None = nobody else writes it, or nobody can say. shortage: why replicas that were asked for do not come (out of
    stock, over a quota), in the words of whoever provides them; None = nothing is known to hold them up. paused_by: what paused it, where
    that is not the annotation of ours. least: the smallest floor that the object takes now (`after`) and why, None = 0 is taken.
    """

    target: str
    at: datetime
    floor: int
    ceiling: int | None
    original: int
    ready: int | None
    pending: int | None
    version: str
    paused: Paused | None = None
    valid_until: datetime | None = None
    writer: str | None = None
    remedy: str | None = None
    shortage: str | None = None
    paused_by: str | None = None
    least: Reason | None = None

    def __post_init__(self) -> None:
        check_named("seen.target", self.target)
        check_instant("seen.at", self.at)
        for name in ("floor", "original"):
            check_not_negative(f"seen.{name}", getattr(self, name), "replicas")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything live that a decision may use, as known at `at`.

    live: one series a signal over the last minutes, NaN where unknown; a signal that is not supplied is absent. conditions: the
    `hold_when` queries by name, non-zero or NaN = holds. counts_waiting: whether concurrency holds the requests that wait.
    """

    at: datetime
    live: tuple[Series, ...] = ()
    conditions: tuple[tuple[str, Series], ...] = ()
    counts_waiting: bool = False

    def __post_init__(self) -> None:
        check_instant("observation.at", self.at)

    def of(self, signal: Signal) -> Series | None:
        """The live series of a signal, None where it is not supplied."""
        return next((series for series in self.live if series.signal is signal), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One floor for one target at one instant, never without a reason.

    floor: replicas. wanted: what was asked for before hold, limits and bounds. last: the floor decided before, None at adoption.
    since: the instant from which this floor has stood.
    valid_until: when the floor on the object is dead unless it is renewed. plan_id: the plan that was followed, if any.
    """

    at: datetime
    workload: str
    pool: str
    target: str
    action: Action
    floor: int
    wanted: int
    last: int | None
    since: datetime
    valid_until: datetime
    plan_id: str | None
    reasons: tuple[Reason, ...]

    def __post_init__(self) -> None:
        for name in ("workload", "pool", "target"):
            check_named(f"decision.{name}", getattr(self, name))
        for name in ("at", "since", "valid_until"):
            check_instant(f"decision.{name}", getattr(self, name))
        check_not_negative("decision.floor", self.floor, "replicas")
        if not self.reasons:
            msg = "a decision needs at least one reason"
            raise ValueError(msg)

    @property
    def alerts(self) -> tuple[Reason, ...]:
        """The reasons that a person should hear of."""
        return tuple(reason for reason in self.reasons if reason.code in ALERTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a target says was done: the floor before and after, in replicas, and whether anything was written."""

    target: str
    before: int
    after: int
    written: bool
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleRecord:
    """One target in one apply cycle. `sentence` is the same in the log, on the command line and in the Kubernetes event.

    applied None and error set: the write failed; applied None and error None: there was nothing to write.
    """

    at: datetime
    mode: Mode
    decision: Decision
    applied: Applied | None
    error: str | None
    sentence: str


class RulingKind(StrEnum):
    """What a person can say."""

    APPROVE = "approve"
    REJECT = "reject"
    OVERRIDE = "override"
    CLEAR = "clear"
    PAUSE = "pause"
    RESUME = "resume"
    PROMOTE = "promote"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A person's word on a workload: who, why, from when and until when (None = until it is taken back).

    plan_id: the plan approved or rejected. replicas: the floor of an override. paused: the kind of pause. mode: the configured mode that
    a promotion was given under.
    """

    at: datetime
    workload: str
    kind: RulingKind
    author: str
    reason: str
    until: datetime | None = None
    plan_id: str | None = None
    replicas: int | None = None
    paused: Paused | None = None
    mode: Mode | None = None

    def __post_init__(self) -> None:
        check_instant("ruling.at", self.at)
        for name in ("workload", "author", "reason"):
            check_named(f"ruling.{name}", getattr(self, name))
        if self.until is not None:
            check_instant("ruling.until", self.until)
        if self.kind is RulingKind.OVERRIDE and self.replicas is None:
            msg = "an override needs the number of replicas"
            raise ValueError(msg)
        if self.kind is RulingKind.PROMOTE and self.mode is None:
            msg = "a promotion needs the configured mode that it was given under"
            raise ValueError(msg)
        if self.kind is RulingKind.PAUSE and self.paused is None:
            msg = "a pause needs its kind, hold or release"
            raise ValueError(msg)
        if self.kind in {RulingKind.APPROVE, RulingKind.REJECT} and self.plan_id is None:
            msg = "an approval or a rejection needs the plan that it speaks of"
            raise ValueError(msg)
        if self.replicas is not None:
            check_not_negative("ruling.replicas", self.replicas, "replicas")
