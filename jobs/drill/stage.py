"""The real line on the real state of one workload, with one thing changed: nothing is decided here that apply does not decide."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from connectors.targets.recording import RecordingTarget, Rehearsed
from forecaster.approval import InForce
from forecaster.decision import CycleRecord, Ruling, RulingKind, Seen
from forecaster.plan import Plan
from forecaster.ports import MetricSource, ScaleTarget
from forecaster.workload import Policy
from jobs.apply import Cycle, apply_member
from jobs.breakers import Breakers
from jobs.drill.props import Once, Standing, copied
from jobs.fleet import Fleet, Member
from jobs.memory import Memory, remembered
from jobs.standing import standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One workload as it stands at `now`.

    fleet: the workload alone, on a copy of what is remembered of it. asked: its targets without hands, by name; seen: how those that could
    be observed stand. Pauses and orders of people are left out of what is remembered, so that what is rehearsed shows.
    """

    fleet: Fleet
    member: Member
    memory: Memory
    now: datetime
    asked: Mapping[str, Rehearsed]
    seen: Mapping[str, Seen]

    @property
    def free(self) -> dict[str, Seen]:
        """The objects as if nobody had paused them or written them after us."""
        return {name: freed(seen) for name, seen in self.seen.items()}

    @property
    def policy(self) -> Policy:
        """The workload's."""
        return self.member.workload.policy

    def played(
        self,
        *,
        now: datetime | None = None,
        seen: Mapping[str, Seen] | None = None,
        targets: Mapping[str, Rehearsed] | None = None,
        memory: Memory | None = None,
        source: MetricSource | None = None,
        policy: Policy | None = None,
        unasked: bool = False,
    ) -> Cycle:
        """One cycle of apply; what is not given is as it stands. seen: objects that stand otherwise. unasked: no signal is asked for."""
        standing = self.free | dict(seen or {})
        inner: Mapping[str, Rehearsed] = targets or {name: Standing(self.asked[name], each) for name, each in standing.items()}
        member = self.on_stage(inner, policy=policy, source=source)
        if unasked:
            member = replace(member, queries=())
        at = self.now if now is None else now
        return apply_member(replace(self.fleet, breakers=Breakers()), member, memory or self._remembered(member, at), at)

    def on_stage(self, inner: Mapping[str, Rehearsed], *, policy: Policy | None = None, source: MetricSource | None = None) -> Member:
        """The member over objects without hands; only those given are its targets."""
        workload = self.member.workload
        pools = tuple(replace(pool, targets=tuple(name for name in pool.targets if name in inner)) for pool in workload.pools)
        hands: dict[str, ScaleTarget] = {name: RecordingTarget(each) for name, each in inner.items()}
        return replace(
            self.member,
            workload=replace(workload, pools=pools, policy=policy or workload.policy),
            source=source or self.member.source,
            targets=hands,
            live=hands,
            starts={},
        )

    def in_force(self, pool: str) -> InForce:
        """The whole plan that a pool follows."""
        return standing(self.fleet.store, self.member.workload, pool, self.memory.rulings, self.now)[0]

    def with_order(self, ruling: Ruling) -> Memory:
        """What is remembered, and one more word of a person."""
        return replace(self.memory, rulings=(*self.memory.rulings, ruling))

    def with_plan(self, pool: str, plan: Plan) -> Memory:
        """What is remembered, and one more plan."""
        return replace(self.memory, plans={**self.memory.plans, pool: (*self.memory.plans[pool], plan)})

    def _remembered(self, member: Member, now: datetime) -> Memory:
        if now == self.now:
            return self.memory
        ((_, memory),) = remembered(self.fleet.store, (member,), now)
        return memory


_PEOPLES = frozenset({RulingKind.PAUSE, RulingKind.OVERRIDE})


def set_up(fleet: Fleet, member: Member, asked: Mapping[str, Rehearsed], seen: Mapping[str, Seen], now: datetime) -> Stage:
    """The stage of a workload. Raises StoreError."""
    ((earned, known),) = remembered(fleet.store, (member,), now)
    unsaid = replace(known, rulings=tuple(ruling for ruling in known.rulings if ruling.kind not in _PEOPLES))
    copy = copied(fleet.store, earned.workload, unsaid, now)
    alone = replace(earned, source=Once(inner=earned.source), starts={})
    ((_, memory),) = remembered(copy, (alone,), now)
    return Stage(fleet=replace(fleet, store=copy, members=(alone,)), member=alone, memory=memory, now=now, asked=asked, seen=seen)


def freed(seen: Seen) -> Seen:
    """The object as if nobody had paused it or written it after us."""
    return replace(seen, paused=None, paused_by=None, writer=None, remedy=None)


def record_of(cycle: Cycle, target: str) -> CycleRecord:
    """What came of one target, which was observed."""
    return next(record for record in cycle.records if record.decision.target == target)
