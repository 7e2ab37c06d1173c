"""What one replica carries, measured: one point a load step, and what it was measured on."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from forecaster.units import HOUR_S, MINUTE_S, check_instant, check_named, check_not_negative, check_positive, spell_number

PLAUSIBLE_S = {"ttft": (1e-3, 600.0), "tpot": (5e-5, 2.0), "e2e": (2e-3, 6.0 * HOUR_S)}
"""Beyond these a latency is in another unit: no engine answers within a millisecond, or takes 2 s a token."""
_UNITS_APART = 3.0
"""Figures of one step that speak of the same thing agree to this factor; milliseconds for seconds are a thousand apart, minutes sixty."""

_MIXED_UP = "seconds and milliseconds are mixed up"


class Origin(StrEnum):
    """Where the figures come from, the best first: driven by us, a file of a load test, production, a rule of thumb, a person."""

    REPLAY = "replay"
    FILE = "file"
    PRODUCTION = "production"
    ESTIMATE = "estimate"
    CONFIGURED = "configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What was measured, or what is served; None = not told.

    kv_tokens: tokens that the KV cache of one replica holds. shared_prefix_tokens: those of a request that it shares with others in the
    cache: they belong to the traffic, so that they make nothing stale.
    """

    engine: str | None = None
    engine_version: str | None = None
    model: str | None = None
    precision: str | None = None
    tensor_parallelism: int | None = None
    max_batch: int | None = None
    hardware: str | None = None
    kv_tokens: float | None = None
    shared_prefix_tokens: float | None = None

    def __post_init__(self) -> None:
        for name in ("engine", "engine_version", "model", "precision", "hardware"):
            if (text := getattr(self, name)) is not None:
                check_named(f"setup.{name}", text)
        for name in ("tensor_parallelism", "max_batch", "kv_tokens"):
            if (number := getattr(self, name)) is not None:
                check_positive(f"setup.{name}", number, "")
        if self.shared_prefix_tokens is not None:
            check_not_negative("setup.shared_prefix_tokens", self.shared_prefix_tokens, "tokens")

    def filled(self, other: Self) -> Self:
        """This one, with what it does not tell taken from the other."""
        missing = {field.name: getattr(other, field.name) for field in fields(self) if getattr(self, field.name) is None}
        return replace(self, **missing)

    def changed(self, served: Self) -> tuple[str, ...]:
        """What is served otherwise than it was measured, in words; what one of them does not tell has not changed."""
        names = (field.name for field in fields(self) if field.name != "shared_prefix_tokens")
        both = ((name, getattr(self, name), getattr(served, name)) for name in names)
        return tuple(
            f"{name.replace('_', ' ')} was {_said(was)} and is {_said(now)}"
            for name, was, now in both
            if None not in {was, now} and was != now
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One kind of latency of one load step in seconds; None = not told. Raises ValueError where percentiles fall."""

    mean_s: float | None = None
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None

    def __post_init__(self) -> None:
        told = [value for value in (self.p50_s, self.p95_s, self.p99_s) if value is not None]
        for value in (*told, *((self.mean_s,) if self.mean_s is not None else ())):
            check_not_negative("a latency", value, "seconds")
        if told != sorted(told):
            msg = f"percentiles must not fall, got {', '.join(f'{value:g}' for value in told)} s"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One load step. Rates are in requests per minute.

    offered_rpm: what was sent, None = a closed loop of `clients` that each wait for their answer. in_flight: mean requests in flight as
    the tool measured them. error_ratio: failed over all, None = not told. Tokens are those of one request. Raises ValueError where a
    latency is in another unit than told, or figures contradict each other: by Little's law (1961) requests in flight = rate x time, and
    a request takes the time to its first token and that of the others.
    """

    achieved_rpm: float
    offered_rpm: float | None = None
    clients: float | None = None
    in_flight: float | None = None
    ttft: Spread = Spread()
    tpot: Spread = Spread()
    e2e: Spread = Spread()
    error_ratio: float | None = None
    input_tokens: float | None = None
    input_std: float | None = None
    output_tokens: float | None = None
    output_std: float | None = None

    def __post_init__(self) -> None:
        check_positive("point.achieved_rpm", self.achieved_rpm, "rpm")
        for name in ("offered_rpm", "clients", "in_flight", "input_tokens", "output_tokens"):
            if (value := getattr(self, name)) is not None:
                check_positive(f"point.{name}", value, "")
        for name in ("input_std", "output_std"):
            if (value := getattr(self, name)) is not None:
                check_not_negative(f"point.{name}", value, "tokens")
        if self.error_ratio is not None and not 0 <= self.error_ratio <= 1:
            msg = f"point.error_ratio must be 0 to 1, got {self.error_ratio:g}"
            raise ValueError(msg)
        self._check_plausible()
        self._check_together()

    @property
    def load_rpm(self) -> float:
        """What was asked of the replica: what was sent, in a closed loop what was served."""
        return self.achieved_rpm if self.offered_rpm is None else self.offered_rpm

    @property
    def concurrency(self) -> float | None:
        """Requests in flight: rate x mean time (Little 1961), else as measured; None = not known."""
        if self.e2e.mean_s is None:
            return self.in_flight
        return self.achieved_rpm / MINUTE_S * self.e2e.mean_s

    @property
    def tokens_s(self) -> float | None:
        """Generated tokens per second, None = their number was not told."""
        return None if self.output_tokens is None else self.achieved_rpm / MINUTE_S * self.output_tokens

    def _check_plausible(self) -> None:
        for name, (least_s, most_s) in PLAUSIBLE_S.items():
            spread: Spread = getattr(self, name)
            for value in (spread.mean_s, spread.p50_s, spread.p95_s):
                if value and not least_s <= value <= most_s:
                    told = f"{name.upper()} of {value:.3g} s is not plausible ({least_s:g} to {most_s:g} s)"
                    raise ValueError(f"{told}: {_MIXED_UP}")

    def _check_together(self) -> None:
        rate, mean_s = self.achieved_rpm / MINUTE_S, self.e2e.mean_s
        if mean_s and self.in_flight is not None and not _agree(self.in_flight, rate * mean_s):
            told = f"{spell_number(self.in_flight)} in flight do not fit {spell_number(self.achieved_rpm)} rpm of {mean_s:g} s each"
            msg = f"{told}: a rate a second is taken for one a minute, or milliseconds for seconds"
            raise ValueError(msg)
        if mean_s and self.ttft.mean_s and self.tpot.mean_s and self.output_tokens is not None and self.output_tokens > 1:
            parts_s = self.ttft.mean_s + self.tpot.mean_s * (self.output_tokens - 1)
            if not _agree(mean_s, parts_s):
                msg = (
                    f"requests of {mean_s:g} s do not fit TTFT and TPOT, which come to {parts_s:g} s: seconds and milliseconds are mixed up"
                )
                raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """Limits of P95 latencies in seconds; at least one."""

    ttft_p95_s: float | None = None
    tpot_p95_s: float | None = None
    e2e_p95_s: float | None = None

    def __post_init__(self) -> None:
        if not tuple(self.limits):
            msg = "an SLO needs at least one of ttft_p95, tpot_p95 and e2e_p95"
            raise ValueError(msg)
        for name, limit_s in self.limits:
            check_positive(f"slo.{name}_p95", limit_s, "seconds")

    @property
    def limits(self) -> Iterator[tuple[str, float]]:
        """Those that are set, by the name of the point's field."""
        all_of = (("ttft", self.ttft_p95_s), ("tpot", self.tpot_p95_s), ("e2e", self.e2e_p95_s))
        return ((name, limit_s) for name, limit_s in all_of if limit_s is not None)

    @property
    def told(self) -> str:
        """In words."""
        return ", ".join(f"P95 {name.upper()} {limit_s:g} s" for name, limit_s in self.limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The load steps of one measurement.

    source: the tool and its files, in words. proven: the SLO that a tool found its single point to be the largest load within; None = the
    points are a sweep. measured_at: None = not told.
    """

    origin: Origin
    source: str
    points: tuple[Point, ...]
    setup: Setup = Setup()
    measured_at: datetime | None = None
    proven: Slo | None = None

    def __post_init__(self) -> None:
        check_named("profile.source", self.source)
        if self.measured_at is not None:
            check_instant("profile.measured_at", self.measured_at)
        if not self.points:
            msg = "a profile needs at least one load step"
            raise ValueError(msg)

    @property
    def is_closed_loop(self) -> bool:
        """Whether clients waited for their answers, which hides the queue that independent arrivals would stand in."""
        return self.proven is None and all(point.offered_rpm is None for point in self.points)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileEntry:
    """A profile as a person gave it to a pool, from `at` on, with the SLO that its capacity is read at."""

    at: datetime
    author: str
    profile: Profile
    slo: Slo

    def __post_init__(self) -> None:
        check_instant("profile_entry.at", self.at)
        check_named("profile_entry.author", self.author)


def _said(value: str | float) -> str:
    return value if isinstance(value, str) else spell_number(value)


def _agree(a: float, b: float) -> bool:
    return 1 / _UNITS_APART <= a / b <= _UNITS_APART
