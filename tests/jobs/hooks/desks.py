"""A desk over a store in memory, a clock that tests move, and postings as an apply leaves them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from connectors.stores.memory import MemoryStore
from forecaster.capacity import Capacity
from forecaster.leadtime import LeadTime
from forecaster.ports import Store
from forecaster.workload import Mode, Policy, Pool, Workload
from jobs.clock import FixedClock
from jobs.failure import Failure
from jobs.hooks.desk import Desk, Roster
from jobs.postings import Posting, keep
from tests.values import NOW

FRESH_S = 120.0
MINUTE = timedelta(minutes=1)


def workload(name: str = "chat", *pools: str, mode: Mode = Mode.AUTO, **policy: Any) -> Workload:  # a policy has a dozen types
    """A workload whose replicas take ten minutes."""
    made = tuple(
        Pool(name=pool, capacity=Capacity(rpm=10), lead_time=LeadTime(warm_s=300, cold_s=600), targets=(f"recording:{name}-{pool}",))
        for pool in pools or ("gpu",)
    )
    return Workload(name=name, pools=made, policy=Policy(mode=mode, **policy))


def posting(floor: int = 12, *, at: datetime = NOW, mode: Mode = Mode.AUTO, **known: Any) -> Posting:
    """What an apply posted: found at 2, good for a day."""
    standard: dict[str, Any] = {"original": 2, "least": 2, "valid_until": at + timedelta(days=1), "floors": {"recording:chat-gpu": floor}}
    return Posting(at=at, mode=mode, floor=floor, **(standard | known))


@dataclass(kw_only=True)
class Room:
    """The desk with all that it looks at."""

    workloads: tuple[Workload, ...] = field(default_factory=lambda: (workload(),))
    store: Store = field(default_factory=MemoryStore)
    clock: FixedClock = field(default_factory=lambda: FixedClock(NOW))
    failures: list[Failure] = field(default_factory=list)
    desk: Desk = field(init=False)

    def __post_init__(self) -> None:
        self.desk = Desk(self.roster, self.clock, self.failures.append)

    @contextmanager
    def roster(self) -> Iterator[Roster]:
        """Those workloads on that store."""
        yield Roster(store=self.store, workloads={each.name: each for each in self.workloads}, fresh_s=FRESH_S)

    def post(self, posted: Posting, name: str = "chat", pool: str = "gpu") -> None:
        """Post as an apply does."""
        keep(self.store, {(name, pool): posted}, posted.at)

    def pass_time(self, span: timedelta) -> None:
        """Move the clock on."""
        self.clock.sleep_until(self.clock.now() + span)

    def decide(self, floor: int) -> None:
        """Another apply, now."""
        self.post(replace(posting(floor), at=self.clock.now()))
