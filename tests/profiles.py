"""Profiles for tests: load steps of an engine whose latencies grow with its load, and what it was measured on."""

from collections.abc import Sequence
from datetime import UTC, datetime

from forecaster.profile import Origin, Point, Profile, ProfileEntry, Setup, Slo, Spread

MEASURED = datetime(2026, 2, 20, 9, 0, tzinfo=UTC)
SETUP = Setup(
    engine="vllm", engine_version="0.11.0", model="llama-8b", precision="fp16", tensor_parallelism=1, max_batch=256, hardware="h100"
)
SLO = Slo(ttft_p95_s=1.0, e2e_p95_s=10.0)
KNEE_RPM = 600.0
SOURCES = {Origin.REPLAY: "replay of day.csv", Origin.FILE: "vLLM bench serve run.json", Origin.PRODUCTION: "production of 14 days"}


def point(rpm: float, *, ttft_s: float = 0.2, e2e_s: float = 4.0, served: float = 1.0, errors: float | None = 0.0) -> Point:
    """A step of an open loop with 500 tokens in and 200 out; the tail is twice the mean."""
    return Point(
        offered_rpm=rpm,
        achieved_rpm=rpm * served,
        ttft=_spread(ttft_s),
        tpot=_spread((e2e_s - ttft_s) / 199),
        e2e=_spread(e2e_s),
        error_ratio=errors,
        input_tokens=500,
        input_std=100,
        output_tokens=200,
        output_std=50,
    )


def sweep() -> tuple[Point, ...]:
    """Steps up to 600 rpm hold, and 660 rpm breaks the P95 of the first token."""
    return (point(300), point(480), point(KNEE_RPM), point(660, ttft_s=0.8))


def profile(
    points: Sequence[Point] | None = None, setup: Setup = SETUP, measured_at: datetime | None = MEASURED, origin: Origin = Origin.FILE
) -> Profile:
    """What a file of a load test comes to, or another measurement."""
    steps = sweep() if points is None else tuple(points)
    return Profile(origin=origin, source=SOURCES[origin], points=steps, setup=setup, measured_at=measured_at)


def entry(at: datetime, of: Profile | None = None, slo: Slo = SLO) -> ProfileEntry:
    """The profile as a person gave it to a pool."""
    return ProfileEntry(at=at, author="ana", profile=profile() if of is None else of, slo=slo)


def _spread(mean_s: float) -> Spread:
    return Spread(mean_s=mean_s, p50_s=0.9 * mean_s, p95_s=2 * mean_s, p99_s=2.5 * mean_s)
