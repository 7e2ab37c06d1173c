"""Whether a lever could be moved and put back, asked without moving it."""

from datetime import datetime
from typing import Protocol, runtime_checkable

from forecaster.ladder import LeverValue
from forecaster.levers import LeverSeen


@runtime_checkable
class Checkable(Protocol):
    """A lever of which something can be said before it is moved, from what stands there and from our rights."""

    name: str

    def check_write(self, seen: LeverSeen) -> None:
        """Raises TargetForbidden with the missing RBAC rule, TargetRefused where it could not be put back, others where none can say."""


@runtime_checkable
class Tried(Protocol):
    """A lever whose API carries a write out up to the point of keeping it, and says what would have come of it.

    `try_set` and `try_release` raise what `set` and `release` would, TargetConflict where the object changed since it was seen included,
    TargetRefused where the API would keep something else, and TargetUnavailable where none can say. `excess` names the rights that our
    role has and no lever needs, as `verb resource`; none where nobody can say.
    """

    name: str

    def try_set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> None:
        """As above."""

    def try_release(self, seen: LeverSeen) -> None:
        """As above."""

    def excess(self) -> tuple[str, ...]:
        """As above."""
