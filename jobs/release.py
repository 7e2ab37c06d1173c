"""Giving objects back: the original values, now, whatever mode we are in."""

from datetime import datetime

from forecaster.decision import Paused, Ruling, RulingKind
from forecaster.ports import Store
from jobs.fleet import Member
from jobs.give_back import Released, give_back, give_back_expired


def release_members(
    store: Store, members: tuple[Member, ...], now: datetime, author: str, reason: str, *, expired_only: bool
) -> tuple[Released, ...]:
    """Put the original values back on every target of the members; one that fails stops no other.

    Otherwise than `expired_only`, which is the watchdog's, a person's release is kept as a ruling, so that no later run takes the
    objects again before `resume`. The ruling comes first: what crashes in between is released by the next apply. Raises StoreError.
    """
    released = []
    for member in members:
        if not expired_only:
            ruling = Ruling(
                at=now, workload=member.workload.name, kind=RulingKind.PAUSE, author=author, reason=reason, paused=Paused.RELEASE
            )
            store.append_ruling(ruling)
        outcomes = ((give_back_expired if expired_only else give_back)(name, target, now) for name, target in member.targets.items())
        released += [outcome for outcome in outcomes if outcome is not None]
    return tuple(released)
