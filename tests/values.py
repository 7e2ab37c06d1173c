"""Values for tests of the decision: small, valid, and easy to vary one thing at a time."""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from forecaster import nowcast
from forecaster.approval import InForce, PlanState
from forecaster.capacity import Capacity
from forecaster.case import Case
from forecaster.correct import Correction, correct
from forecaster.decision import Action, Decision, Observation, Seen
from forecaster.demand import Demand, PeakDemand
from forecaster.leadtime import LeadTime
from forecaster.look import Look, SignalLook, look
from forecaster.plan import Plan, plan
from forecaster.reasons import Code, Reason
from forecaster.series import Series, Signal, Window
from forecaster.workload import Policy, Pool, Workload

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)  # a Monday
STEP_S = 300
CARRY_RPM = 10.0


def pool_of(*, rpm: float = CARRY_RPM, concurrency: float | None = None, lead_s: float = 600, share: float = 1.0) -> Pool:
    return Pool(
        name="main",
        capacity=Capacity(rpm=rpm, concurrency=concurrency),
        lead_time=LeadTime(warm_s=lead_s, cold_s=lead_s),
        targets=("recording:chat",),
        share_ratio=share,
    )


def workload_of(policy: Policy | None = None) -> Workload:
    return Workload(name="chat", pools=(pool_of(),), policy=policy or Policy())


def demand_of(load_rpm: list[float] | np.ndarray, *, start: datetime = NOW, level: float = 0.95, median_ratio: float = 0.8) -> Demand:
    """RPM at the level over the lead window, one value a step; the medians are a fixed share of it."""
    load = np.asarray(load_rpm, dtype=np.float64)[None, :]
    return Demand(
        start=start,
        step_s=STEP_S,
        signals=(Signal.RPM,),
        load=load,
        expected=load * median_ratio,
        expected_max=load * median_ratio,
        carry=(CARRY_RPM,),
        peaks=(),
        level=level,
        lead_time_s=600,
        window_s=900,
        model="test",
    )


def peak_of(demand: Demand, replicas: float, at: datetime | None = None) -> PeakDemand:
    covers = Window(start=demand.start, end=demand.end)
    return PeakDemand(day=date(2026, 3, 2), covers=covers, replicas=replicas, at=at or demand.start)


def plan_of(
    load_rpm: list[float] | np.ndarray, policy: Policy | None = None, *, start: datetime = NOW, issued_at: datetime | None = None
) -> Plan:
    workload = workload_of(policy)
    return plan(demand_of(load_rpm, start=start), workload, workload.pools[0], issued_at or start)


def live_of(rpm: list[float] | np.ndarray, *, until: datetime = NOW, signal: Signal = Signal.RPM) -> Series:
    """Minute values that end at `until`."""
    values = np.asarray(rpm, dtype=np.float64)
    return Series(signal=signal, start=until - timedelta(minutes=values.size), step_s=60, mean=values, peak=values)


def seen_of(
    *,
    floor: int = 2,
    ceiling: int | None = 100,
    original: int = 2,
    at: datetime = NOW,
    writer: str | None = None,
    target: str = "recording:chat",
) -> Seen:
    return Seen(target=target, at=at, floor=floor, ceiling=ceiling, original=original, ready=None, pending=None, version="1", writer=writer)


def look_of(
    need: float | None,
    *,
    ratio: float | None = None,
    at: datetime = NOW,
    lull_ratio: float = 0.0,
    lull_need: float = 0.0,
    ahead: nowcast.Seen | None = None,
) -> Look:
    """A look at RPM; need None = unknown. ahead: what a nowcast wants to know."""
    if need is None:
        return Look(at=at, signals=(), unknown=("rpm",), queue_need=0.0)
    signal = SignalLook(signal=Signal.RPM, need=need, ratio=ratio, lull_ratio=lull_ratio, lull_need=lull_need, seen=ahead)
    return Look(at=at, signals=(signal,), unknown=(), queue_need=0.0)


def decided(floor: int, *, at: datetime, since: datetime | None = None) -> Decision:
    return Decision(
        at=at,
        workload="chat",
        pool="main",
        target="recording:chat",
        action=Action.SET,
        floor=floor,
        wanted=floor,
        last=None,
        since=since or at,
        valid_until=at + timedelta(days=1),
        plan_id=None,
        reasons=(Reason(code=Code.PLAN_FOLLOWED, detail="as planned", after=floor),),
    )


def case_of(
    the_plan: Plan | None,
    the_look: Look,
    *,
    policy: Policy | None = None,
    seen: Seen | None = None,
    state: PlanState | None = None,
    **more: object,
) -> Case:
    """A case whose correction is the real one for that plan and look."""
    policy = policy or Policy()
    correction: Correction = correct(the_plan, the_look, policy)
    state = state or (PlanState.FRESH if the_plan is not None else PlanState.MISSING)
    in_force = InForce(state=state, plan=the_plan, waiting=None, standing=None)
    return Case(
        now=the_look.at,
        workload="chat",
        pool="main",
        policy=policy,
        in_force=in_force,
        correction=correction,
        seen=seen or seen_of(),
        **more,  # type: ignore[arg-type]  # tests name the fields they vary
    )


def looked(
    rpm: list[float] | np.ndarray, the_plan: Plan, policy: Policy | None = None, *, now: datetime = NOW, earlier: tuple[Plan, ...] = ()
) -> Look:
    """The real look at live minutes under a plan."""
    observation = Observation(at=now, live=(live_of(rpm, until=now),))
    demands = tuple(p.demand for p in (*earlier, the_plan) if p.demand is not None)
    return look(observation, demands, pool_of(), policy or Policy())
