"""The only readers of time."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Aware UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one place that may

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()

    def sleep_until(self, instant: datetime) -> None:
        """Returns at once when the instant has passed."""
        time.sleep(max(0.0, (instant - self.now()).total_seconds()))


class FixedClock:
    """A clock that stands at one instant: `--now`, and tests. Sleeping moves it."""

    def __init__(self, instant: datetime) -> None:
        self._instant = instant

    def now(self) -> datetime:
        """The instant it stands at."""
        return self._instant

    def monotonic(self) -> float:
        """Seconds since the epoch of where it stands."""
        return self._instant.timestamp()

    def sleep_until(self, instant: datetime) -> None:
        """Moves the clock, without waiting."""
        self._instant = max(self._instant, instant)
