"""What is scaled: a workload's pools, and the policy under which their floors are chosen."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from forecaster.bulk import Bulk
from forecaster.caches import Caches
from forecaster.calendar import Calendar, FloorWindow
from forecaster.capacity import Capacity
from forecaster.claim import Claim
from forecaster.gains import LONG_S
from forecaster.leadtime import LeadTime
from forecaster.margin import Margin
from forecaster.queueing import WaitSlo, check_kept
from forecaster.roles import Roles
from forecaster.trust import Gate
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, check_level, check_named, check_not_negative, check_positive


class Mode(StrEnum):
    """How far we may go: only watch, write what a person approved, or write."""

    OBSERVE = "observe"
    REVIEW = "review"
    AUTO = "auto"


class Shape(StrEnum):
    """`profile` follows the day; `daily-peak` holds one floor over the day's busy window."""

    PROFILE = "profile"
    DAILY_PEAK = "daily-peak"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """How live load corrects the plan. All durations in seconds.

    fade_half_life_s: after this long, half of a live deviation is expected to have gone, where no gains were learned yet.
    break_glass_ratio: live load above this many times the median forecast takes the plan for wrong and follows the load.
    drain_s: a backlog is to be served within this time.
    decay_after_s: a floor starts to decay when the load has stayed below `decay_ratio` of the median forecast this long, and
    has decayed to the load's own need after as long again. live_may_lower: whether floors go below the plan's when the last minutes
    make its quantile unlikely, down to a low one of the forecast; otherwise they do so in a lull only.
    """

    fade_half_life_s: float = 1 * HOUR_S
    break_glass_ratio: float = 1.5
    drain_s: float = 5 * MINUTE_S
    decay_after_s: float = 2 * HOUR_S
    decay_ratio: float = 0.5
    live_may_lower: bool = True

    def __post_init__(self) -> None:
        check_positive("blend.fade_half_life_s", self.fade_half_life_s, "seconds")
        check_positive("blend.drain_s", self.drain_s, "seconds")
        check_positive("blend.decay_after_s", self.decay_after_s, "seconds")
        check_not_negative("blend.decay_ratio", self.decay_ratio, "")
        if self.break_glass_ratio <= 1 or self.decay_ratio >= 1:
            msg = f"blend.break_glass_ratio must be above 1 and decay_ratio below 1, got {self.break_glass_ratio:g}, {self.decay_ratio:g}"
            raise ValueError(msg)

    @property
    def live_span_s(self) -> float:
        """How far back the correction looks: a floor that decays needs to see the whole lull, gains the whole of their longer span."""
        return max(2 * self.decay_after_s, LONG_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules for one workload's floors.

    minimum, maximum: bounds of every floor, in replicas; None = the value found at adoption / the target's own ceiling.
    growth_ratio, efficiency_ratio: expected load over past load, and throughput of a replica over the one measured.
    headroom_ratio: factor on the load on top of the level. hold_s: a floor stays at least this long before it is lowered.
    raise_per_min, lower_per_min: largest change in replicas a minute; None = no limit. expiry_s: a plan holds this long.
    fallback: the floor when neither load nor plan is known; None = the value found at adoption.
    review_tolerance_ratio: a plan whose floors differ from the approved ones by no more than this inherits the approval.
    hold_when_expiry_s: a hold_when condition that has blocked lowering this long is taken for stuck.
    """

    level: float = 0.95
    shape: Shape = Shape.PROFILE
    mode: Mode = Mode.OBSERVE
    minimum: int | None = None
    maximum: int | None = None
    allow_below_original: bool = False
    windows: tuple[FloorWindow, ...] = ()
    growth_ratio: float = 1.0
    efficiency_ratio: float = 1.0
    headroom_ratio: float = 1.0
    hold_s: float = 10 * MINUTE_S
    raise_per_min: float | None = None
    lower_per_min: float | None = None
    expiry_s: float = 1 * DAY_S
    fallback: int | None = None
    review_tolerance_ratio: float = 0.1
    hold_when_expiry_s: float = 2 * HOUR_S
    blend: Blend = field(default_factory=Blend)
    trust: Gate = field(default_factory=Gate)

    def __post_init__(self) -> None:
        check_level("policy.level", self.level)
        for name in ("growth_ratio", "efficiency_ratio", "headroom_ratio", "expiry_s", "hold_when_expiry_s"):
            check_positive(f"policy.{name}", getattr(self, name), "")
        for name in ("minimum", "maximum", "fallback", "hold_s", "review_tolerance_ratio"):
            value = getattr(self, name)
            if value is not None:
                check_not_negative(f"policy.{name}", value, "")
        for name in ("raise_per_min", "lower_per_min"):
            value = getattr(self, name)
            if value is not None:
                check_positive(f"policy.{name}", value, "replicas/min")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            msg = f"policy.minimum must not be above policy.maximum, got {self.minimum} and {self.maximum}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Replicas of one kind. `share_ratio` of the workload's load is theirs; `targets` are the names of their targets.

    slo: how long its requests may wait, None = the capacity says it all. nodes: those of the targets that count nodes under the replicas.
    stands_in_for: the pool whose overdue replicas it makes up for, None = none. claim: its place under a GPU budget, None = it has none.
    bulk: the work that it does instead of live load, None = it serves live load. preempted_per_hour: how often one replica is taken away.
    caches: what comes off its load for what they keep.
    spare: replicas that may fail without the load noticing. always_on: replicas that it holds whatever the load, 0 = its floor follows the
    load. after: the always-on pools that carry what they can before it; before: how many of its own replicas they stand for, and lacks: how
    many more they would if nothing of theirs were missing (`sized`).
    """

    name: str
    capacity: Capacity
    lead_time: LeadTime
    targets: tuple[str, ...]
    share_ratio: float = 1.0
    slo: WaitSlo | None = None
    nodes: tuple[str, ...] = ()
    stands_in_for: str | None = None
    claim: Claim | None = None
    bulk: Bulk | None = None
    preempted_per_hour: float = 0.0
    caches: Caches = field(default_factory=Caches)
    spare: int = 0
    always_on: int = 0
    after: tuple[str, ...] = ()
    before: float = 0.0
    lacks: float = 0.0

    def __post_init__(self) -> None:
        check_named("pool.name", self.name)
        if self.slo is not None:
            check_kept(self.capacity, self.slo)
        check_positive("pool.share_ratio", self.share_ratio, "")
        check_not_negative("pool.preempted_per_hour", self.preempted_per_hour, "preemptions of a replica an hour")
        if self.bulk is not None and self.claim is None:
            msg = f"pool {self.name} has bulk work and no budget: name one, since it is done in what other pools leave of it"
            raise ValueError(msg)
        if self.share_ratio > 1:
            msg = f"pool.share_ratio must be at most 1, got {self.share_ratio:g}"
            raise ValueError(msg)
        for name in ("spare", "always_on"):
            check_not_negative(f"pool.{name}", getattr(self, name), "replicas")
        contradiction = _contradiction(self)
        if contradiction is not None:
            raise ValueError(contradiction)

    @property
    def follows_load(self) -> bool:
        """Whether its floor depends on the load."""
        return self.bulk is None and not self.always_on

    @property
    def margin(self) -> Margin:
        """What of its load is its own, and what is spare on top; an always-on pool has its spare among what it holds."""
        return Margin(before=self.before, spare=0 if self.always_on else self.spare, lacks=self.lacks)

    @property
    def in_order(self) -> tuple[str, ...]:
        """The targets as they are written: nodes first, replicas on them after."""
        return (*(name for name in self.targets if name in self.nodes), *(name for name in self.targets if name not in self.nodes))

    def ahead_s(self, target: str) -> float:
        """How much earlier than the plan says a target is asked, in seconds."""
        return self.lead_time.nodes_ahead_s if target in self.nodes else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One model service whose traffic is forecast as a whole. roles: the ratio that two of its pools stand in, None = none does."""

    name: str
    pools: tuple[Pool, ...]
    policy: Policy
    calendar: Calendar = field(default_factory=Calendar)
    roles: Roles | None = None

    def __post_init__(self) -> None:
        check_named("workload.name", self.name)
        names = [pool.name for pool in self.pools]
        twice = next((name for name in names if names.count(name) > 1), None)
        if not names or twice is not None:
            told = (
                "has no pool: give it one" if twice is None else f"has two pools named {twice}: records and plans tell pools by their name"
            )
            msg = f"workload {self.name} {told}"
            raise ValueError(msg)
        if not self.serving:
            msg = f"workload {self.name} has bulk work only: one of its pools must serve its live load"
            raise ValueError(msg)
        for pool in self.pools:
            _check_stand_in(pool, self.pools)
            _check_after(pool, self.pools)
            _check_always_on(pool, self)
        for role, name in () if self.roles is None else (("prefill", self.roles.prefill), ("decode", self.roles.decode)):
            if name not in names:
                msg = f"roles.{role} must name a pool of the workload, got {name}; there is {', '.join(names)}"
                raise ValueError(msg)
            if name not in {pool.name for pool in self.serving}:
                msg = f"roles.{role} names {name}, which has bulk work: a ratio is one of pools that serve live load; name another"
                raise ValueError(msg)

    @property
    def serving(self) -> tuple[Pool, ...]:
        """The pools that serve live load: what it costs, and how well it was served, is theirs."""
        return tuple(pool for pool in self.pools if pool.bulk is None)

    @property
    def in_order(self) -> tuple[Pool, ...]:
        """The pools as they are decided on: always-on ones before others, and those that stand in for another last."""
        return tuple(sorted(self.pools, key=lambda pool: (not pool.always_on, pool.stands_in_for is not None)))

    def policy_of(self, pool: Pool) -> Policy:
        """The rules for one pool: the minimum of an always-on one is what it holds."""
        if not pool.always_on:
            return self.policy
        return replace(self.policy, minimum=max(self.policy.minimum or 0, pool.always_on))

    def behind(self, pool: Pool) -> tuple[Pool, ...]:
        """The pools that come after one."""
        return tuple(each for each in self.pools if pool.name in each.after)


def _contradiction(pool: Pool) -> str | None:
    """What of a pool cannot be true together."""
    if pool.bulk is not None and (pool.always_on or pool.after or pool.spare):
        return f"pool {pool.name} has bulk work, which follows no load: take always_on, after and spare out"
    if pool.always_on and pool.after:
        return f"pool {pool.name} is always on and cannot come after another: it holds what it holds; take one of both out"
    if pool.always_on and pool.stands_in_for is not None:
        return f"pool {pool.name} is always on and stands in for none: let a pool that follows the load do so"
    if pool.always_on and pool.spare >= pool.always_on:
        return f"pool {pool.name} is always on with {pool.always_on} replicas, of which {pool.spare} cannot be spare; lower spare"
    return None


def _check_after(pool: Pool, pools: tuple[Pool, ...]) -> None:
    steady = {each.name: each for each in pools if each.always_on}
    for name in pool.after:
        first = steady.get(name)
        if first is None:
            there = ", ".join(steady) or "none"
            msg = f"pool {pool.name} comes after {name}, which is no always-on pool of the workload; always on: {there} (`always_on: N`)"
            raise ValueError(msg)
        if first.share_ratio != 1:
            msg = f"pool {name} is always on before {pool.name}, whose share is that of both: take `share` out of {name}"
            raise ValueError(msg)
    if len(set(pool.after)) != len(pool.after):
        msg = f"pool {pool.name} comes after a pool twice: {', '.join(pool.after)}"
        raise ValueError(msg)


def _check_always_on(pool: Pool, workload: Workload) -> None:
    policy, followers = workload.policy, workload.behind(pool)
    if not pool.always_on:
        return
    for bound, is_crossed, of in (
        (policy.minimum, policy.minimum is not None and policy.minimum > pool.always_on, "min"),
        (policy.maximum, policy.maximum is not None and policy.maximum < pool.always_on, "max"),
    ):
        if is_crossed:
            msg = f"pool {pool.name} is always on with {pool.always_on} replicas and {of} is {bound}: bounds outrank it; change one of both"
            raise ValueError(msg)
    stray = next((each for each in workload.pools if each.stands_in_for == pool.name and each not in followers), None)
    if stray is not None and followers:
        told = f"pool {stray.name} stands in for {pool.name}, which {followers[0].name} comes after"
        msg = f"{told} and makes up for already; take one of both out"
        raise ValueError(msg)


def _check_stand_in(pool: Pool, pools: tuple[Pool, ...]) -> None:
    if pool.stands_in_for is None:
        return
    known = {each.name: each for each in pools if each.stands_in_for is None}
    other = known.get(pool.stands_in_for)
    if other is None:
        told = f"pool.stands_in_for of {pool.name} must name a pool of the workload that stands in for none, got {pool.stands_in_for}"
        msg = f"{told}; there is {', '.join(known) or 'none'}"
        raise ValueError(msg)
    if pool.capacity.over(other.capacity) is None:
        msg = f"pool.stands_in_for of {pool.name} needs a signal that both pools have a capacity for"
        raise ValueError(msg)
