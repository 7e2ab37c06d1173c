"""Which workloads run in `auto` because a person promoted them: the configured mode, raised by the promotion that holds."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from forecaster.decision import Ruling
from forecaster.modes import promotion_of
from forecaster.series import Window
from forecaster.workload import Mode
from jobs.fleet import Fleet, Member
from jobs.standing import EVER, NEXT


def earned(member: Member, rulings: Sequence[Ruling], now: datetime) -> Member:
    """The member in the mode that holds at `now`: auto where a promotion does, with the targets that are written then."""
    if member.promotion is not None:
        return member
    configured = member.workload.policy.mode
    found = promotion_of(rulings, configured, now)
    if found is None:
        return member
    workload = replace(member.workload, policy=replace(member.workload.policy, mode=Mode.AUTO))
    return replace(member, workload=workload, targets=member.live or member.targets, promotion=found, configured=configured)


def with_promotions(fleet: Fleet, now: datetime) -> Fleet:
    """Every member in the mode that holds at `now`; one read for all. Raises StoreError."""
    names = [member.workload.name for member in fleet.members]
    rulings = fleet.store.rulings_of(names, Window(start=EVER, end=now + NEXT)) if names else {}
    return replace(fleet, members=tuple(earned(member, rulings.get(member.workload.name, ()), now) for member in fleet.members))
