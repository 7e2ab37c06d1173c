"""Objects are looked at after every forecast, so that what will not be met is told while there is time to order it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from forecaster.coming import unmet
from forecaster.decision import Seen
from forecaster.errors import TargetError
from forecaster.plan import Plan
from forecaster.ports import ScaleTarget
from jobs.at_once import at_once
from jobs.draft import Draft


def announced(drafts: Sequence[Draft], now: datetime, workers: int) -> tuple[Draft, ...]:
    """The drafts whose plans say what of them the objects will not give. An object that cannot be seen is told of by `apply`."""
    asked = [target for draft in drafts for plan in draft.plans for target in _targets(draft, plan)]
    looks = dict(zip((target.name for target in asked), at_once(partial(_look, now=now), asked, workers), strict=True)) if asked else {}
    return tuple(replace(draft, plans=tuple(_told(draft, plan, looks, now) for plan in draft.plans)) for draft in drafts)


def _told(draft: Draft, plan: Plan, looks: dict[str, Seen | None], now: datetime) -> Plan:
    seen = (looks[target.name] for target in _targets(draft, plan))
    reasons = [reason for each in seen if each is not None for reason in unmet(plan, each, now)]
    return replace(plan, reasons=(*plan.reasons, *reasons)) if reasons else plan


def _targets(draft: Draft, plan: Plan) -> list[ScaleTarget]:
    (pool,) = (pool for pool in draft.member.workload.pools if pool.name == plan.pool)
    return [draft.member.targets[name] for name in pool.targets]


def _look(target: ScaleTarget, now: datetime) -> Seen | None:
    try:
        return target.observe(now)
    except TargetError:
        return None
