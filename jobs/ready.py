"""How many replicas of each pool were ready: seen at apply ticks, kept as a history beside the load, one look a bucket."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from forecaster.decision import Seen
from forecaster.forecast import State
from forecaster.ports import Store
from forecaster.series import Series, Signal, Window
from forecaster.units import DAY_S, epoch_s, from_epoch_s
from forecaster.workload import Pool
from jobs.fleet import Member

_KEY = "forecaster/ready"
"""The state that says in which bucket each workload was looked at last, whichever process did: without it every tick would write."""
_VERSION = 1


def ready(store: Store, workload: str, pool: str, window: Window, step_s: int) -> Series:
    """Replicas seen ready, NaN where nobody looked or the target did not say. Raises StoreError and HistoryAtOtherStep."""
    return store.history(_name(workload, pool), Signal.READY, window, step_s)


def keep_ready(store: Store, looks: Iterable[tuple[Member, Sequence[Seen]]], now: datetime) -> None:
    """Keep what the first look of each bucket saw; looks of a bucket that has one change nothing. Raises StoreError.

    One read a call, and one write a bucket of all that is due: 2,000 targets cost a second in five minutes.
    """
    kept = store.states([_KEY]).get(_KEY)
    last: dict[str, int] = json.loads(kept.payload) if kept is not None and kept.version == _VERSION else {}
    due = [(member, seen) for member, seen in looks if last.get(member.workload.name, -1) < _bucket_s(member, now)]
    found = {member.workload.name: (member, _counted(member, seen)) for member, seen in due}
    news = {name: (member, pools) for name, (member, pools) in found.items() if pools}
    if not news:
        return
    store.append_histories(
        [(_name(name, pool), _one(member, count, now)) for name, (member, pools) in news.items() for pool, count in pools]
    )
    recent = {name: at_s for name, at_s in last.items() if at_s > epoch_s(now) - 2 * DAY_S}
    looked = recent | {name: _bucket_s(member, now) for name, (member, _) in news.items()}
    store.save_states({_KEY: State(model="ready", version=_VERSION, payload=json.dumps(looked).encode())})


def _counted(member: Member, seen: Sequence[Seen]) -> list[tuple[str, int]]:
    """The ready replicas of each pool whose target tells."""
    by_target = {each.target: each for each in seen}
    counts = ((pool.name, _of_pool(pool, by_target)) for pool in member.workload.pools)
    return [(name, count) for name, count in counts if count is not None]


def _of_pool(pool: Pool, seen: dict[str, Seen]) -> int | None:
    """What the first target that tells says: several targets of a pool (an HPA, its nodes) carry the same replicas."""
    told = (seen[name].ready for name in pool.targets if name in seen)
    return next((count for count in told if count is not None), None)


def _one(member: Member, count: int, now: datetime) -> Series:
    value = np.array([float(count)])
    return Series(signal=Signal.READY, start=from_epoch_s(_bucket_s(member, now)), step_s=member.step_s, mean=value, peak=value)


def _bucket_s(member: Member, now: datetime) -> int:
    return epoch_s(now) // member.step_s * member.step_s


def _name(workload: str, pool: str) -> str:
    """Under which it is kept: no workload's name has a slash."""
    return f"{workload}/{pool}"
