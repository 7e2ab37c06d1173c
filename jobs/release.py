"""Giving objects back: the original values, now, whatever mode we are in."""

from dataclasses import dataclass
from datetime import datetime

from forecaster.decision import Applied, Paused, Ruling, RulingKind, Seen
from forecaster.errors import TargetConflict, TargetError
from forecaster.ports import ScaleTarget, Store
from jobs.fleet import Member


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What became of one target."""

    sentence: str
    failed: bool


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
        outcomes = (_release(name, target, now, expired_only=expired_only) for name, target in member.targets.items())
        released += [outcome for outcome in outcomes if outcome is not None]
    return tuple(released)


def _release(name: str, target: ScaleTarget, now: datetime, *, expired_only: bool) -> Released | None:
    try:
        seen = target.observe(now)
        if expired_only and (seen.valid_until is None or now < seen.valid_until):
            return None
        applied = _released(target, seen, now)
    except TargetError as error:
        return Released(sentence=f"{name} was not released: {error}", failed=True)
    if not applied.written:
        return Released(sentence=f"{name}: nothing of ours is there, floor {applied.after}", failed=False)
    return Released(sentence=f"{name}: released, floor {applied.before} -> {applied.after}", failed=False)


def _released(target: ScaleTarget, seen: Seen, now: datetime) -> Applied:
    try:
        return target.release(seen)
    except TargetConflict:
        return target.release(target.observe(now))
