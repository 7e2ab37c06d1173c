"""The gateway: lets requests in, keeps those for whom no replica has room, and hands each to a replica."""

import math
from collections import OrderedDict
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import simpy

from forecaster.simulate.requests.admission import Breaker, BreakerRule, Quota, TokenBucket
from forecaster.simulate.requests.arrivals import Requests
from forecaster.simulate.requests.balancing import Balancing, Room, chooser
from forecaster.simulate.requests.batching import closes_at
from forecaster.simulate.requests.queues import Lanes, Patience
from forecaster.simulate.requests.replica import Replica, Service
from forecaster.units import check_not_negative

_SOON_S = 1e-9
"""Sums of instants are off by a few bits; what is due within this is due."""


class Fate(IntEnum):
    """What became of a request; served from the moment its service begins."""

    WAITING = 0
    SERVED = 1
    REFUSED = 2
    SHED = 3
    TIMED_OUT = 4
    BROKEN_OFF = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How requests are admitted and spread.

    held: how many may wait at a replica while it serves; the rest wait at the gateway, in one queue from which every replica takes its
    next batch, and where priority counts for all. A large number makes queues that nobody leaves, as behind a plain load balancer.
    quotas: by tenant; others have no limit.
    """

    balancing: Balancing = Balancing.LEAST_LOADED
    held: int = 0
    patience: Patience = field(default_factory=Patience)
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    breaker: BreakerRule | None = None

    def __post_init__(self) -> None:
        check_not_negative("rules.held", self.held, "requests")


class Gateway:
    """The state of the gateway. began_s and fate are what is known of each request; waiting counts them here and at replicas."""

    def __init__(self, env: simpy.Environment, requests: Requests, service: Service, rules: Rules) -> None:
        unknown = sorted(set(rules.quotas) - set(requests.tenants))
        if unknown:
            msg = f"rules.quotas names tenants that send nothing: {', '.join(unknown)}"
            raise ValueError(msg)
        self._env, self._service, self._rules = env, service, rules
        self._at_s: list[float] = requests.at_s.tolist()
        self._priority: list[int] = requests.priority.tolist()
        self._each_s: list[float] = (requests.work * service.each_s).tolist()
        self._bucket = self._buckets(requests)
        self._breaker = None if rules.breaker is None else Breaker(rules.breaker)
        self._held, self._choose = rules.held, chooser(rules.balancing)
        self._held_idle = max(rules.held, service.max_batch_size)
        self._max_wait_s = service.max_wait_ms / 1_000
        self._lanes = self.lanes()
        self._room: Room = OrderedDict()
        self.began_s = [math.nan] * len(requests)
        self.fate = bytearray(len(requests))
        self.admitted = self.waiting = 0

    def lanes(self) -> Lanes:
        """An empty queue of these requests, whose senders have the patience that the rules give them."""
        return Lanes(self._at_s, self._priority, self._rules.patience, self._gave_up)

    @property
    def breaker_opened(self) -> int:
        """How often the breaker opened."""
        return 0 if self._breaker is None else self._breaker.opened

    def arrivals(self) -> Generator[simpy.Event, object, None]:
        """All requests, each at its instant."""
        env, fate, bucket, breaker = self._env, self.fate, self._bucket, self._breaker
        yield env.timeout(0)  # after the replicas of the start
        for request, at_s in enumerate(self._at_s):
            ahead_s = at_s - env.now
            if ahead_s > 0:
                yield env.timeout(ahead_s)
            if bucket is not None and not self._within_quota(request, at_s):
                fate[request] = Fate.REFUSED
            elif breaker is not None and not breaker.admits(request, at_s, self._still_waiting(at_s)):
                fate[request] = Fate.SHED
            else:
                self.admitted += 1
                self.waiting += 1
                self._route(request, at_s)

    def open(self, replica: Replica) -> None:
        """A replica is ready, has begun or has finished: as far as it has room, it gets what waits here, and whatever comes."""
        if len(replica.waiting) < self._limit(replica):
            self._room.setdefault(replica.number, replica)
            self._refill()
        else:
            self._room.pop(replica.number, None)

    def withdraw(self, replica: Replica) -> None:
        """A replica leaves: what waits at it goes to others, at the place that its arrival gives."""
        self._room.pop(replica.number, None)
        self._lanes.restore(replica.waiting.take_all())
        self._refill()

    def due(self, replica: Replica) -> bool:
        """Whether a batch closes at this replica now."""
        waiting = replica.waiting
        if len(waiting) >= self._service.max_batch_size:
            return True
        return bool(waiting) and closes_at(waiting.oldest_s(), self._max_wait_s) <= self._env.now + _SOON_S

    def watch(self, replica: Replica) -> None:
        """Wake a sleeping replica when the batch that forms at it closes by time."""
        ahead_s = closes_at(replica.waiting.oldest_s(), self._max_wait_s) - self._env.now
        if ahead_s <= _SOON_S:
            replica.rouse()
            return
        sleeps_on = replica.wake
        timer = self._env.timeout(ahead_s)
        timer.callbacks.append(lambda _: replica.rouse() if replica.wake is sleeps_on else None)

    def begin(self, replica: Replica) -> float:
        """Take the batch that is due into service; seconds that it takes, 0 where all gave up."""
        now_s, service = self._env.now, self._service
        batch = replica.waiting.take(now_s, service.max_batch_size)
        replica.serving = batch
        took_s = service.fixed_s if batch else 0.0
        for request in batch:
            self.began_s[request] = now_s
            self.fate[request] = Fate.SERVED
            took_s += self._each_s[request]
        self.waiting -= len(batch)
        left = len(replica.waiting)
        replica.load = left + len(batch)
        replica.clear_s = max(replica.clear_s, now_s + took_s) if left else now_s + took_s
        if not replica.leaving:
            self.open(replica)
        return took_s

    def finish(self, replica: Replica) -> None:
        """The batch in service is through, unless it was broken off."""
        if replica.cut_s is None:
            self._report(replica.serving, served=True)
        replica.load -= len(replica.serving)
        replica.serving = []
        if not replica.leaving:
            self.open(replica)

    def break_off(self, replica: Replica) -> None:
        """The batch in service is lost."""
        replica.cut_s = self._env.now
        for request in replica.serving:
            self.fate[request] = Fate.BROKEN_OFF
        self._report(replica.serving, served=False)

    def expire(self) -> None:
        """Let those leave who gave up here; those at replicas leave when the replica looks."""
        self._lanes.expire(self._env.now)

    def _route(self, request: int, now_s: float) -> None:
        if self._room:
            self._accept(self._choose(self._room), request, now_s)
        else:
            self._lanes.push(request)

    def _accept(self, replica: Replica, request: int, now_s: float) -> None:
        waiting = replica.waiting
        waiting.push(request)
        replica.load += 1
        replica.clear_s = max(replica.clear_s, now_s) + self._each_s[request]
        length = len(waiting)
        if length >= self._limit(replica):
            self._room.pop(replica.number, None)
        if replica.wake is not None:
            if length >= self._service.max_batch_size:
                replica.rouse()
            elif length == 1:
                self.watch(replica)

    def _refill(self) -> None:
        now_s = self._env.now
        while self._room and len(self._lanes):
            for request in self._lanes.take(now_s, 1):
                self._accept(self._choose(self._room), request, now_s)

    def _limit(self, replica: Replica) -> int:
        """How many may wait at it: an idle one may gather a batch."""
        return self._held if replica.serving else self._held_idle

    def _gave_up(self, request: int) -> None:
        self.fate[request] = Fate.TIMED_OUT
        self.waiting -= 1
        self._report((request,), served=False)

    def _report(self, requests: "list[int] | tuple[int, ...]", *, served: bool) -> None:
        if self._breaker is not None:
            for request in requests:
                self._breaker.ended(request, self._env.now, served=served)

    def _still_waiting(self, now_s: float) -> int:
        self._lanes.expire(now_s)
        return self.waiting

    def _buckets(self, requests: Requests) -> "list[TokenBucket | None] | None":
        """The bucket of each request, None = no limit at all."""
        if not self._rules.quotas:
            return None
        of_tenant = [TokenBucket(quota) if (quota := self._rules.quotas.get(name)) else None for name in requests.tenants]
        return [of_tenant[tenant] for tenant in requests.tenant.tolist()]

    def _within_quota(self, request: int, now_s: float) -> bool:
        bucket = None if self._bucket is None else self._bucket[request]
        return bucket is None or bucket.admits(now_s)
