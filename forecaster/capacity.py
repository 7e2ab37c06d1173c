"""What one replica carries inside its SLO."""

from dataclasses import dataclass, replace
from datetime import datetime

from forecaster.series import Signal
from forecaster.units import DAY_S, MINUTE_S, check_instant, check_positive

HOW_TO_TELL = "set capacity in its section: figures, or `profile: best` and a `forecaster capacity import`, or an `estimate`"
"""What a person does about a pool whose capacity is not known."""
_LEAST_REQUEST_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The load that one replica carries inside its SLO, for each signal in the signal's unit; None = no limit known.

    `source` says where the figures come from (`configured`, a file, production), `measured_at` how old they are, None when
    nobody measured them. Raises ValueError where two of them contradict each other: by Little's law (1961) requests in flight = rate x time
    of a request, and no request takes less than 10 ms or more than a day, nor less than one token.
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
        self._check_together()

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

    @property
    def is_known(self) -> bool:
        """Whether there is a limit for any load."""
        return (self.rpm, self.concurrency, self.tokens) != (None, None, None)

    def over(self, other: "Capacity") -> float | None:
        """Replicas of the other whose load one of this carries, the least over the signals that both limit; None = there is no such one."""
        both = ((self.of(s), other.of(s)) for s in (Signal.RPM, Signal.CONCURRENCY, Signal.TOKENS))
        return min((mine / theirs for mine, theirs in both if mine is not None and theirs is not None), default=None)

    def times(self, ratio: float) -> "Capacity":
        """The same replica at a part of its load, or a multiple: each limit that is known, times `ratio`."""
        rpm, concurrency, tokens = (None if limit is None else limit * ratio for limit in (self.rpm, self.concurrency, self.tokens))
        return replace(self, rpm=rpm, concurrency=concurrency, tokens=tokens)

    def _check_together(self) -> None:
        if self.rpm is None:
            return
        remedy = "correct one of the two, or leave one out"
        if self.concurrency is not None and not _LEAST_REQUEST_S <= (took_s := self.concurrency * MINUTE_S / self.rpm) <= DAY_S:
            msg = f"a capacity of {self.rpm:g} rpm and {self.concurrency:g} in flight means {took_s:g} s a request: {remedy}"
            raise ValueError(msg)
        if self.tokens is not None and (length := self.tokens * MINUTE_S / self.rpm) < 1:
            msg = f"a capacity of {self.rpm:g} rpm and {self.tokens:g} tokens/s means {length:g} tokens a request: {remedy}"
            raise ValueError(msg)
