"""GPUs that pools share, in both halves of the line: the plans of a run within their budgets, and what is left for floors at an apply.

Both look at the whole fleet before any workload is decided on, so that decisions stay a matter of one workload and run at once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from forecaster.apportion import Contender, apportioned
from forecaster.approval import PlanState, in_force
from forecaster.budget import Budget, Standing, ceilings
from forecaster.claim import Claim, Room
from forecaster.decision import Action, Decision
from forecaster.errors import TargetError
from forecaster.guard import bounds_of
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.series import Window
from forecaster.units import HOUR_S
from forecaster.workload import Pool
from jobs.at_once import at_once
from jobs.draft import Draft
from jobs.earned import earned
from jobs.fleet import Fleet, Member
from jobs.last import last_decisions
from jobs.memory import NEWS_S
from jobs.postings import Postings, postings
from jobs.standing import EVER, NEAR_S, NEXT

_PER_HOUR = HOUR_S // 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharer:
    """A pool that shares a budget, with the draft that it is of."""

    draft: Draft
    pool: Pool
    contender: Contender


def within_budgets(fleet: Fleet, drafts: Sequence[Draft], compared: Callable[[Draft], Draft], now: datetime) -> tuple[Draft, ...]:
    """The drafts with their plans within the budgets of GPUs. compared: how a draft's moves are found, anew where its plans were cut.

    A pool keeps its minimum, which is what was found at adoption where the policy says nothing lower, and stays where it is when it has no
    plan. Raises StoreError.
    """
    if not fleet.budgets:
        return tuple(drafts)
    known = postings(fleet.store)
    cut: dict[tuple[str, str], Plan] = {}
    for budget in fleet.budgets:
        contenders = [each.contender for each in sharers(fleet, drafts, budget, known, now)]
        plans, _ = apportioned(budget, contenders, now)
        pairs = zip(contenders, plans, strict=True)
        cut |= {(plan.workload, plan.pool): plan for before, plan in pairs if plan is not None and plan is not before.plan}
    return tuple(_with_plans(draft, cut, compared) for draft in drafts)


def sharers(fleet: Fleet, drafts: Sequence[Draft], budget: Budget, known: Postings, now: datetime) -> list[Sharer]:
    """The pools that share a budget, with their plans. Work that may wait asks for its minimum only: it has what is left."""
    sharing = [(draft, pool, claim) for draft in drafts for pool, claim in _claims(draft.member, budget)]
    least = at_once(partial(_minimum, known=known, now=now), [(draft.member, pool) for draft, pool, _ in sharing], fleet.workers)
    often = Counter(draft.name for draft, _, _ in sharing)
    found = []
    for (draft, pool, claim), minimum in zip(sharing, least, strict=True):
        posted = known.get((draft.name, pool.name))
        contender = Contender(
            name=draft.name if often[draft.name] == 1 else f"{draft.name}/{pool.name}",
            claim=claim,
            minimum=minimum,
            plan=next((plan for plan in draft.plans if plan.pool == pool.name), None) if pool.bulk is None else None,
            standing=minimum if posted is None or pool.bulk is not None else max(minimum, posted.floor),
            late_price=_late_price(draft.member, pool),
        )
        found.append(Sharer(draft=draft, pool=pool, contender=contender))
    return found


def rooms(fleet: Fleet, now: datetime) -> Mapping[tuple[str, str], Room]:
    """The most that each pool's floor may have now, by workload and pool; those without a budget are left out. Raises StoreError.

    It rests on plans in force and on what was decided before `now`, so that a run done again at the same instant finds the same.
    """
    sharing = [(member, pool, claim) for budget in fleet.budgets for member in fleet.members for pool, claim in _claims(member, budget)]
    if not sharing:
        return {}
    names = list(dict.fromkeys(member.workload.name for member, _, _ in sharing))
    pools = [(member.workload.name, pool.name) for member, pool, _ in sharing]
    rulings = fleet.store.rulings_of(names, Window(start=EVER, end=now + NEXT))
    near = Window(start=now - timedelta(seconds=NEAR_S), end=now + NEXT)
    plans = fleet.store.plans_of(pools, near, span=Window(start=now, end=now + timedelta(seconds=1)))
    records = fleet.store.records_of(names, Window(start=now - timedelta(seconds=NEWS_S), end=now + NEXT))
    found: dict[str, list[tuple[tuple[str, str], Standing]]] = {budget.name: [] for budget in fleet.budgets}
    for member, pool, claim in sharing:
        name = member.workload.name
        policy = earned(member, rulings.get(name, ()), now).workload.policy
        stands = in_force(plans.get((name, pool.name), ()), (), rulings.get(name, ()), policy, now)
        planned = stands.plan.floor_at(now) if stands.state is PlanState.FRESH and stands.plan is not None else None
        last = tuple(last_decisions(records.get(name, ()), pool, now))
        floor = max((decision.floor for decision in last), default=None)
        fixed = max((decision.floor for decision in last if _is_fixed(decision)), default=0)
        standing = Standing(
            claim=claim,
            minimum=max(policy.minimum or 0, pool.always_on, fixed),
            share=planned.replicas if planned is not None else floor or 0,
            wanted=max((decision.wanted for decision in last), default=None),
            most=policy.maximum,
            waits=pool.bulk is not None,
        )
        found[claim.budget].append(((name, pool.name), standing))
    return {key: room for budget in fleet.budgets for key, room in _rooms(budget, found[budget.name])}


def _rooms(budget: Budget, pools: list[tuple[tuple[str, str], Standing]]) -> Iterator[tuple[tuple[str, str], Room]]:
    most = ceilings(budget.gpus, [standing for _, standing in pools])
    for (key, _), replicas in zip(pools, most, strict=True):
        yield key, Room(budget=budget.name, gpus=budget.gpus, most=replicas)


def _claims(member: Member, budget: Budget) -> Iterator[tuple[Pool, Claim]]:
    """The pools of a workload that share a budget."""
    for pool in member.workload.pools:
        if pool.claim is not None and pool.claim.budget == budget.name:
            yield pool, pool.claim


def _minimum(each: tuple[Member, Pool], *, known: Postings, now: datetime) -> int:
    """What the bounds of a pool's targets never go below: as the last apply found it, or as the objects say before there was one."""
    member, pool = each
    posted, policy = known.get((member.workload.name, pool.name)), member.workload.policy_of(pool)
    if posted is not None:
        return max(posted.least, policy.minimum or 0)
    least = [policy.minimum or 0]
    for name in pool.targets:
        try:
            least.append(bounds_of(policy, member.targets[name].observe(now))[0])
        except TargetError:  # what cannot be seen is told of by apply
            continue
    return max(least)


def _late_price(member: Member, pool: Pool) -> float | None:
    """The price of the requests that a full replica serves in an hour, None where nobody said it or its requests are not counted."""
    prices, rpm = member.prices.get(pool.name), pool.capacity.rpm
    return None if prices is None or prices.late_request is None or rpm is None else prices.late_request * rpm * _PER_HOUR


def _with_plans(draft: Draft, cut: Mapping[tuple[str, str], Plan], compared: Callable[[Draft], Draft]) -> Draft:
    plans = tuple(cut.get((plan.workload, plan.pool), plan) for plan in draft.plans)
    changed = any(after is not before for before, after in zip(draft.plans, plans, strict=True))
    return compared(replace(draft, plans=plans)) if changed else draft


def _is_fixed(decision: Decision) -> bool:
    """Whether a person holds the floor where it is: a budget takes nothing from it, and others have what it leaves."""
    return decision.action is not Action.SET or any(reason.code is Code.OVERRIDDEN for reason in decision.reasons)
