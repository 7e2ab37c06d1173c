"""A lease among the threads of one process."""

from dataclasses import dataclass, field
from threading import Lock


@dataclass(slots=True, kw_only=True)
class MemoryLease:
    """A `forecaster.ports.Lease` over a lock: leases over the same lock exclude each other."""

    lock: Lock = field(default_factory=Lock)
    _held: bool = field(default=False, init=False)

    def try_acquire(self) -> bool:
        """Take the lease unless somebody else holds it; a holder holds it still."""
        self._held = self._held or self.lock.acquire(blocking=False)
        return self._held

    def renew(self) -> bool:
        """Whether the lease is still ours."""
        return self._held

    def release(self) -> None:
        """Give the lease back, if it is ours."""
        if self._held:
            self.lock.release()
            self._held = False
