"""One replica, and how long it takes over a batch."""

from dataclasses import dataclass

import simpy

from forecaster.simulate.requests.batching import check_batching
from forecaster.simulate.requests.queues import Lanes
from forecaster.units import MINUTE_S, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a replica does with a batch.

    A full batch of mean requests takes max_batch_size / replica_rpm minutes, so full batches in a row serve `replica_rpm` a minute. Of
    that time `fixed_ratio` is spent however few the batch holds; the rest grows with the work of its requests:

        seconds(batch) = full x (fixed_ratio + (1 - fixed_ratio) x sum(work) / max_batch_size)

    | fixed_ratio | a batch of one takes       | throughput of half-full batches |
    |-------------|----------------------------|---------------------------------|
    | 0           | full / max_batch_size      | replica_rpm                     |
    | 0.5         | about half of a full one   | 2/3 replica_rpm                 |
    | 1           | as long as a full one      | 1/2 replica_rpm                 |
    """

    replica_rpm: float
    max_batch_size: int = 1
    max_wait_ms: float = 0.0
    fixed_ratio: float = 0.0

    def __post_init__(self) -> None:
        check_positive("service.replica_rpm", self.replica_rpm, "requests/min")
        check_batching(self.max_batch_size, self.max_wait_ms)
        if not 0 <= self.fixed_ratio <= 1:
            msg = f"service.fixed_ratio must be within 0 and 1, got {self.fixed_ratio:g}"
            raise ValueError(msg)

    @property
    def full_s(self) -> float:
        """Seconds over a full batch of mean requests."""
        return self.max_batch_size * MINUTE_S / self.replica_rpm

    @property
    def fixed_s(self) -> float:
        """Seconds over a batch, whatever it holds."""
        return self.full_s * self.fixed_ratio

    @property
    def each_s(self) -> float:
        """Seconds more for each mean request in a batch."""
        return self.full_s * (1 - self.fixed_ratio) / self.max_batch_size


class Replica:
    """What is known of a replica while it lives.

    load: requests waiting and in service. clear_s: when it is through with what it accepted, as far as can be told. wake: what it sleeps
    on while it has nothing to begin. cut_s: when what it was serving was broken off, None = it was not.
    """

    __slots__ = ("clear_s", "cut_s", "leaving", "load", "number", "ready", "requested_s", "serving", "waiting", "wake")

    def __init__(self, number: int, requested_s: float, waiting: Lanes) -> None:
        self.number, self.requested_s, self.waiting = number, requested_s, waiting
        self.ready = self.leaving = False
        self.load = 0
        self.clear_s = 0.0
        self.serving: list[int] = []
        self.wake: simpy.Event | None = None
        self.cut_s: float | None = None

    def rouse(self) -> None:
        """Wake it if it sleeps."""
        if self.wake is not None:
            self.wake.succeed()
            self.wake = None
