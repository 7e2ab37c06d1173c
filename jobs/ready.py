"""How many replicas of each pool were ready: seen at apply ticks, kept as a history beside the load, one look a bucket.

A look goes into a notebook, one row of the store for the whole fleet, and from there into the history of its pool once in twelve buckets,
each workload in its turn: written at once, looks at 2,000 targets cost four seconds of a tick; so, half of one.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, TypedDict

import numpy as np

from forecaster.decision import Seen
from forecaster.forecast import State
from forecaster.ports import Store
from forecaster.series import Series, Signal, Window
from forecaster.units import HOUR_S, epoch_s, from_epoch_s
from forecaster.workload import Pool
from jobs.fleet import Member

_KEY = "forecaster/ready"
_VERSION = 1
_TURN = 12
_FORGOTTEN_S = 3 * HOUR_S
"""A workload that nobody looked at for so long has left the fleet: what was noted of it goes into its history."""


class Page(TypedDict):
    """What was noted of a workload: its grid, the bucket of the last look, and each pool's looks as [start in epoch seconds, replicas]."""

    step_s: int
    last_s: int
    looks: dict[str, list[list[int]]]


Notebook: TypeAlias = dict[str, Page]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyReplicas:
    """What is known of ready replicas: histories, and what is still in the notebook, which was read once."""

    store: Store
    noted: Mapping[str, Page]

    def of(self, workload: str, pool: str, window: Window, step_s: int) -> Series:
        """Replicas seen ready, NaN where nobody looked or the target did not say. Raises StoreError and HistoryAtOtherStep."""
        kept = self.store.history(_name(workload, pool), Signal.READY, window, step_s)
        page = self.noted.get(workload)
        looks = page["looks"].get(pool, []) if page is not None and page["step_s"] == step_s else []
        return kept.updated(_series(looks, step_s)) if looks else kept


def ready_replicas(store: Store) -> ReadyReplicas:
    """What the store has of ready replicas. Raises StoreError."""
    return ReadyReplicas(store=store, noted=_notebook(store))


def keep_ready(store: Store, looks: Iterable[tuple[Member, Sequence[Seen]]], now: datetime) -> None:
    """Note what the first look of each bucket saw; later looks of a bucket change nothing. Raises StoreError."""
    book = _notebook(store)
    due = [(member, seen) for member, seen in looks if book.get(member.workload.name, _NOBODY)["last_s"] < _bucket_s(member, now)]
    found = [(member, pools) for member, pools in ((member, _counted(member, seen)) for member, seen in due) if pools]
    if not found:
        return
    for member, pools in found:
        book[member.workload.name] = _noted(book.get(member.workload.name), member, pools, now)
    full = [name for name, page in book.items() if _is_full(name, page, now)]
    store.append_histories([(_name(name, pool), _series(each, book[name]["step_s"])) for name in full for pool, each in _pools(book[name])])
    kept = {name: page for name, page in book.items() if page["last_s"] > epoch_s(now) - _FORGOTTEN_S}
    after = {name: Page(step_s=page["step_s"], last_s=page["last_s"], looks={}) if name in full else page for name, page in kept.items()}
    store.save_states({_KEY: State(model="ready", version=_VERSION, payload=json.dumps(after).encode())})


_NOBODY = Page(step_s=0, last_s=-1, looks={})


def _notebook(store: Store) -> Notebook:
    kept = store.states([_KEY]).get(_KEY)
    found: Notebook = json.loads(kept.payload) if kept is not None and kept.version == _VERSION else {}
    return found


def _noted(page: Page | None, member: Member, pools: Sequence[tuple[str, int]], now: datetime) -> Page:
    """The page with one more look; one on another grid begins anew."""
    at_s = _bucket_s(member, now)
    looks = dict(page["looks"]) if page is not None and page["step_s"] == member.step_s else {}
    for pool, count in pools:
        looks[pool] = [*looks.get(pool, []), [at_s, count]]
    return Page(step_s=member.step_s, last_s=at_s, looks=looks)


def _is_full(name: str, page: Page, now: datetime) -> bool:
    """Whether it is the workload's turn to have its looks written, or nobody looks at it any more."""
    turn = (page["last_s"] // page["step_s"] + zlib.crc32(name.encode())) % _TURN == 0
    return bool(page["looks"]) and (turn or page["last_s"] <= epoch_s(now) - _FORGOTTEN_S)


def _pools(page: Page) -> Iterable[tuple[str, list[list[int]]]]:
    return page["looks"].items()


def _series(looks: Sequence[Sequence[int]], step_s: int) -> Series:
    """The looks on their grid, at least one; NaN between."""
    starts = np.array([at_s for at_s, _ in looks], dtype=np.int64)
    values = np.full(int(starts.max() - starts.min()) // step_s + 1, np.nan)
    values[(starts - starts.min()) // step_s] = [count for _, count in looks]
    return Series(signal=Signal.READY, start=from_epoch_s(int(starts.min())), step_s=step_s, mean=values, peak=values)


def _counted(member: Member, seen: Sequence[Seen]) -> list[tuple[str, int]]:
    """The ready replicas of each pool whose target tells."""
    by_target = {each.target: each for each in seen}
    counts = ((pool.name, _of_pool(pool, by_target)) for pool in member.workload.pools)
    return [(name, count) for name, count in counts if count is not None]


def _of_pool(pool: Pool, seen: Mapping[str, Seen]) -> int | None:
    """What the first target that tells says: several targets of a pool (an HPA, its nodes) carry the same replicas."""
    told = (seen[name].ready for name in pool.targets if name in seen)
    return next((count for count in told if count is not None), None)


def _bucket_s(member: Member, now: datetime) -> int:
    return epoch_s(now) // member.step_s * member.step_s


def _name(workload: str, pool: str) -> str:
    """Under which it is kept: no workload's name has a slash."""
    return f"{workload}/{pool}"
