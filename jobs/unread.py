"""What each apply could not look at, in one row of the store for the whole fleet.

Nothing is decided of a target that cannot be read, so it leaves no record, and its last decision would seem to stand unharmed.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from forecaster.forecast import State
from forecaster.ports import Store
from forecaster.units import DAY_S, check_instant, check_named, epoch_s, from_epoch_s, iso

if TYPE_CHECKING:  # apply keeps them, so it imports us
    from jobs.apply import Cycle

_KEY = "forecaster/unread"
_VERSION = 1
_FORGOTTEN_S = 14 * DAY_S
"""A workload that nobody looked at for so long has left the fleet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A target of which nothing could be decided from `since` to the last try at `at`, and why, as the last one was told."""

    since: datetime
    at: datetime
    cause: str

    def __post_init__(self) -> None:
        check_instant("unread.since", self.since)
        check_instant("unread.at", self.at)
        check_named("unread.cause", self.cause)

    @property
    def words(self) -> str:
        """Since when nothing is decided of it, and why."""
        return f"not decided on since {iso(self.since)}: {self.cause}"


UnreadTargets: TypeAlias = Mapping[tuple[str, str], Unread]
"""By workload and target."""


def unread_targets(store: Store) -> UnreadTargets:
    """The targets that the last apply of their workload could not decide on. Raises StoreError."""
    kept = store.states([_KEY]).get(_KEY)
    if kept is None or kept.version != _VERSION:
        return {}
    rows = json.loads(kept.payload)
    return {
        (workload, target): Unread(since=from_epoch_s(since), at=from_epoch_s(at), cause=why) for workload, target, since, at, why in rows
    }


def keep_unread(store: Store, cycles: Iterable["Cycle"], now: datetime) -> None:
    """Note what these cycles could not look at, and strike what they could. Raises StoreError."""
    before, looked, fresh = unread_targets(store), set(), {}
    for cycle in cycles:
        looked.add(cycle.workload)
        for target, cause in cycle.unread.items():
            known = before.get((cycle.workload, target))
            fresh[cycle.workload, target] = Unread(since=now if known is None else known.since, at=now, cause=cause)
    oldest = now - timedelta(seconds=_FORGOTTEN_S)
    after = {key: each for key, each in before.items() if key[0] not in looked and each.at >= oldest} | fresh
    if after != before:
        rows = [[*key, epoch_s(each.since), epoch_s(each.at), each.cause] for key, each in after.items()]
        store.save_states({_KEY: State(model="unread", version=_VERSION, payload=json.dumps(rows).encode())})
