"""The replicas: requested, ready one lead time later, the newest removed first; each a process that serves batch after batch."""

from collections.abc import Generator

import simpy

from forecaster.simulate.requests.gateway import Gateway
from forecaster.simulate.requests.replica import Replica


class Pool:
    """A fleet of so many replicas as were asked for last. drain_s: a removed replica may finish within this, None = at its leisure."""

    def __init__(self, env: simpy.Environment, gateway: Gateway, *, lead_s: float, drain_s: float | None) -> None:
        self._env, self._gateway, self._lead_s, self._drain_s = env, gateway, lead_s, drain_s
        self._stack: list[Replica] = []
        self._alive: dict[int, Replica] = {}
        self._requested = 0
        self._ended_s = 0.0

    def begin_with(self, replicas: int) -> None:
        """So many replicas are ready at once: they were requested long ago."""
        for _ in range(replicas):
            self._env.process(self._live(self._request(), lead_s=0.0))

    def scale_to(self, replicas: int) -> None:
        """Request what is missing, remove the newest of what is too many, even while they start."""
        while len(self._stack) > replicas:
            self._remove(self._stack.pop())
        while len(self._stack) < replicas:
            self._env.process(self._live(self._request(), lead_s=self._lead_s))

    def ready(self) -> int:
        """Replicas that serve now and were not removed."""
        return sum(replica.ready for replica in self._stack)

    def expire(self) -> None:
        """Let those leave who gave up waiting at a replica."""
        for replica in self._stack:
            replica.waiting.expire(self._env.now)

    def paid_s(self) -> float:
        """Seconds paid up to now, over all replicas, each from its request to its end."""
        return self._ended_s + sum(map(self._lived_s, self._alive.values()))

    def _request(self) -> Replica:
        replica = Replica(self._requested, self._env.now, self._gateway.lanes())
        self._requested += 1
        self._stack.append(replica)
        self._alive[replica.number] = replica
        return replica

    def _remove(self, replica: Replica) -> None:
        replica.leaving = True
        if not replica.ready:
            self._end(replica)
            return
        self._gateway.withdraw(replica)
        replica.rouse()
        if self._drain_s is not None and replica.serving:
            patience = self._env.timeout(self._drain_s)
            patience.callbacks.append(lambda _: self._gateway.break_off(replica) if replica.serving else None)

    def _live(self, replica: Replica, *, lead_s: float) -> Generator[simpy.Event, object, None]:
        """From request to end: start, then sleep and serve in turns."""
        env, gateway = self._env, self._gateway
        if lead_s > 0:
            yield env.timeout(lead_s)
        if replica.leaving:
            return
        replica.ready = True
        gateway.open(replica)
        while not replica.leaving:
            if gateway.due(replica):
                took_s = gateway.begin(replica)
                if took_s > 0:
                    yield env.timeout(took_s)
                    gateway.finish(replica)
            else:
                sleep = replica.wake = env.event()
                if len(replica.waiting):
                    gateway.watch(replica)
                yield sleep
        self._end(replica)

    def _end(self, replica: Replica) -> None:
        del self._alive[replica.number]
        self._ended_s += self._lived_s(replica)

    def _lived_s(self, replica: Replica) -> float:
        return (self._env.now if replica.cut_s is None else replica.cut_s) - replica.requested_s
