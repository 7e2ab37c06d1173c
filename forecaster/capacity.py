"""What one replica carries inside its SLO."""

from dataclasses import dataclass
from datetime import datetime

from forecaster.series import Signal
from forecaster.units import check_instant, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The load that one replica carries inside its SLO, for each signal in the signal's unit; None = no limit known.

    `source` says where the figures come from (`configured`, a file, production), `measured_at` how old they are, None when
    nobody measured them.
    """

    rpm: float | None = None
    concurrency: float | None = None
    tokens: float | None = None
    source: str = "configured"
    measured_at: datetime | None = None

    def __post_init__(self) -> None:
        for signal, value in ((s, self.of(s)) for s in (Signal.RPM, Signal.CONCURRENCY, Signal.TOKENS)):
            if value is not None:
                check_positive(f"capacity.{signal}", value, signal.unit)
        if self.measured_at is not None:
            check_instant("capacity.measured_at", self.measured_at)

    def of(self, signal: Signal) -> float | None:
        """The limit for a load signal, None where none is known."""
        match signal:
            case Signal.RPM:
                return self.rpm
            case Signal.CONCURRENCY:
                return self.concurrency
            case Signal.TOKENS:
                return self.tokens
            case _:
                return None
