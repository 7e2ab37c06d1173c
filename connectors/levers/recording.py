"""A lever that is read and never moved: the dry run, and what mode observe has."""

from datetime import datetime

from forecaster.ladder import LeverValue
from forecaster.levers import LeverSeen, Moved, let_go, set_to
from forecaster.ports import Lever


class RecordingLever:
    """Tells of another lever what a write would do, from what stands there. Writes nothing."""

    def __init__(self, real: Lever) -> None:
        self.name = real.name
        self._real = real

    def observe(self, now: datetime) -> LeverSeen:
        """The real lever as it stands."""
        return self._real.observe(now)

    def set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> Moved:
        """What a write would do."""
        return set_to(seen, value, until)

    def release(self, seen: LeverSeen) -> Moved:
        """What a release would do."""
        return let_go(seen)
