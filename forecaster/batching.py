"""What batch size and batch wait buy: the frontier of throughput against P95, from the load steps of a profile.

An engine that batches at every step takes a step for each token, and the more requests share a step the longer it takes:

    step(b) = alpha + beta b            service(b) = prefill + (tokens - 1) step(b)            throughput(b) = b / service(b)

with alpha and beta by least squares over the measured steps, neither below 0, and the prefill as the time to the first token at the
smallest load. Service that depends so on the state is how llm-d's workload-variant-autoscaler sees an engine. The batch of a step is that
of requests in service, rate x (prefill + (tokens - 1) x time a token) by Little 1961: those in a queue are not in the batch.

| larger batch | more throughput, longer steps, fewer requests that wait for a slot                                    |
| longer wait  | each request waits for the others; the engine joins them at its next step anyway, so nothing is gained |
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from forecaster.batch_delay import Gathered, Load, Shape, delay_p95_s
from forecaster.profile import Point, Profile, Setup, Slo, Spread
from forecaster.profile_carried import requests_in_memory
from forecaster.series import Floats
from forecaster.units import MINUTE_S, check_not_negative, check_positive

UTILISATION_RATIO = 0.8
"""Of its throughput, at which P95 is told: at all of it the queue has no end."""
WAITS_S = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
APART_RATIO = 1.1
"""Batches that differ by less are one: a slope through them is noise."""
MOST_BATCH = 4_096
"""Engines do not run more at once."""
_LEAST_UTILISATION_RATIO, _HALVINGS = 0.02, 10

Untold: TypeAlias = str
"""The sentence that says what the profile lacks, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Step time and what a request takes of it. batches: the smallest and the largest that were measured.

    e2e, ttft, tpot: how such times spread around their mean, None = not told. residual_ratio: the largest difference of a measured step
    from the line, over the measured one.
    """

    alpha_s: float
    beta_s: float
    prefill_s: float
    tokens: float
    batches: tuple[float, float]
    e2e: Shape
    ttft: Shape | None = None
    tpot: Shape | None = None
    residual_ratio: float = 0.0

    def __post_init__(self) -> None:
        for name in ("alpha_s", "beta_s", "prefill_s"):
            check_not_negative(f"engine.{name}", getattr(self, name), "seconds")
        check_positive("engine.step", self.alpha_s + self.beta_s, "seconds")
        if self.tokens <= 1:
            msg = f"engine.tokens must be above 1, got {self.tokens:g}"
            raise ValueError(msg)

    def step_s(self, batch: float) -> float:
        """Seconds a token."""
        return self.alpha_s + self.beta_s * batch

    def service_s(self, batch: float) -> float:
        """Seconds from a request's first step to its last token, of a mean request in such a batch."""
        return self.prefill_s + (self.tokens - 1) * self.step_s(batch)

    def most_rpm(self, batch: int) -> float:
        """What it serves while the batch is always full."""
        return batch / self.service_s(batch) * MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPoint:
    """One setting. rpm: the load at which the P95s are told, a part of most_rpm, which it serves at best. None = not told.

    is_extrapolated: no batch as small or as large was measured.
    """

    batch: int
    wait_s: float
    most_rpm: float
    rpm: float
    e2e_p95_s: float
    ttft_p95_s: float | None
    tpot_p95_s: float | None
    tokens_s: float
    is_extrapolated: bool

    @property
    def utilisation_ratio(self) -> float:
        """The part of its throughput that it is loaded with."""
        return self.rpm / self.most_rpm

    def keeps(self, slo: Slo) -> bool | None:
        """Whether it is within the limits; None where one of them cannot be judged and none is broken."""
        told = [(getattr(self, f"{name}_p95_s"), limit_s) for name, limit_s in slo.limits]
        if any(p95_s is not None and p95_s > limit_s for p95_s, limit_s in told):
            return False
        return None if any(p95_s is None for p95_s, _ in told) else True


def engine_of(profile: Profile) -> Engine | Untold:
    """The engine that a profile's steps speak of, or what they lack."""
    if profile.proven is not None:
        return "a tool told its result and not its load steps: measure at two loads at least"
    told = [point for point in profile.points if _step_s(point) is not None]
    if not told:
        return "its load steps tell no time a token beside TTFT and generated tokens: measure with all three"
    lowest = min(told, key=lambda point: point.achieved_rpm)
    prefill_s, times = lowest.ttft.mean_s or 0.0, np.array([_step_s(point) for point in told])
    most = profile.setup.max_batch or MOST_BATCH
    batches = np.array([min(_batch(point, prefill_s), most) for point in told])
    if batches.max() < APART_RATIO * batches.min():
        return "its load steps have one batch size, and a line needs two: measure at a smaller and at a larger load"
    e2e = _e2e_shape(lowest)
    if e2e is None:
        return "its smallest load tells neither mean and P95 of E2E nor the spread of generated tokens: measure with one of them"
    alpha_s, beta_s = line(batches, times)
    return Engine(
        alpha_s=alpha_s,
        beta_s=beta_s,
        prefill_s=prefill_s,
        tokens=_tokens(lowest),
        batches=(float(batches.min()), float(batches.max())),
        e2e=e2e,
        ttft=_shape(lowest.ttft),
        tpot=_shape(lowest.tpot),
        residual_ratio=float(np.max(np.abs(alpha_s + beta_s * batches - times) / times)),
    )


def line(batches: Floats, times: Floats) -> tuple[float, float]:
    """Intercept and slope of least squares, neither below 0; both of shape (n,), with two different batches at least."""
    centred = batches - batches.mean()
    slope = float(centred @ times / (centred @ centred))
    intercept = float(times.mean() - slope * batches.mean())
    if slope < 0:
        return float(times.mean()), 0.0
    if intercept < 0:
        return 0.0, float(batches @ times / (batches @ batches))
    return intercept, slope


def most_batch(points: Iterable[Point], setup: Setup, engine: Engine) -> tuple[int, str]:
    """The largest batch worth a look, and why: what the memory holds, else the engine's limit, else what was measured."""
    held = [memory for point in points if (memory := requests_in_memory(setup, point)[0]) is not None]
    if held:
        most, why = max(1, int(min(held))), "the KV memory holds no more"
    elif setup.max_batch is not None:
        most, why = setup.max_batch, "its max_batch, since kv_tokens or the spread of token lengths is not told"
    else:
        most, why = max(1, round(engine.batches[1])), "the largest that was measured, since neither kv_tokens nor max_batch is told"
    return (most, why) if most <= MOST_BATCH else (MOST_BATCH, "none that is larger is looked at")


def sizes(most: int, now: int | None) -> tuple[int, ...]:
    """Powers of two up to `most`, itself, and where the engine stands now."""
    powers = {2**i for i in range(most.bit_length()) if 2**i <= most}
    return tuple(sorted(powers | {most} | ({min(now, most)} if now else set())))


def point_of(engine: Engine, batch: int, wait_s: float, utilisation_ratio: float = UTILISATION_RATIO) -> BatchPoint:
    """What a setting comes to at a part of its throughput."""
    most_rpm = engine.most_rpm(batch)
    rate = most_rpm * utilisation_ratio / MINUTE_S
    load = Load.of(rate, [engine.service_s(n) for n in range(1, batch + 1)], engine.e2e)
    gathered = Gathered.of(wait_s, rate, batch)
    return BatchPoint(
        batch=batch,
        wait_s=wait_s,
        most_rpm=most_rpm,
        rpm=rate * MINUTE_S,
        e2e_p95_s=delay_p95_s(load, gathered, engine.e2e.quantiles_s(load.service_s)),
        ttft_p95_s=None if engine.ttft is None else delay_p95_s(load, gathered, engine.ttft.quantiles_s(engine.prefill_s)),
        tpot_p95_s=None if engine.tpot is None else engine.tpot.p95_s(engine.step_s(load.busy_p95)),
        tokens_s=rate * engine.tokens,
        is_extrapolated=not engine.batches[0] <= batch <= engine.batches[1],
    )


def frontier(points: Iterable[BatchPoint]) -> tuple[BatchPoint, ...]:
    """Those to which no other is better in throughput or P95 of E2E and as good in the other; by rising throughput. Pareto 1896."""
    found: list[BatchPoint] = []
    for point in sorted(points, key=lambda point: (-point.rpm, point.e2e_p95_s, point.wait_s)):
        if not found or point.e2e_p95_s < found[-1].e2e_p95_s:
            found.append(point)
    return tuple(reversed(found))


def best_within(engine: Engine, batches: Iterable[int], slo: Slo) -> BatchPoint | None:
    """What carries most within the limits, without a wait, which never helps; None where no load of any batch is known to keep them.

    A batch that breaks them at the usual part of its throughput may keep them at a smaller one.
    """
    kept = [point for batch in batches if (point := _most_within(engine, batch, slo)) is not None]
    return max(kept, key=lambda point: point.rpm, default=None)


def _most_within(engine: Engine, batch: int, slo: Slo) -> BatchPoint | None:
    usual, found = point_of(engine, batch, 0.0), point_of(engine, batch, 0.0, _LEAST_UTILISATION_RATIO)
    if usual.keeps(slo):
        return usual
    if not found.keeps(slo):
        return None
    low, high = _LEAST_UTILISATION_RATIO, UTILISATION_RATIO
    for _ in range(_HALVINGS):
        point = point_of(engine, batch, 0.0, (low + high) / 2)
        if point.keeps(slo):
            low, found = point.utilisation_ratio, point
        else:
            high = point.utilisation_ratio
    return found


def _step_s(point: Point) -> float | None:
    """Seconds a token, as measured, else what E2E leaves beside TTFT; None where prefill, tokens or time are not told."""
    tokens, prefill_s = point.output_tokens, point.ttft.mean_s
    if tokens is None or tokens <= 1 or prefill_s is None:
        return None
    if point.tpot.mean_s is not None:
        return point.tpot.mean_s or None
    left_s = 0.0 if point.e2e.mean_s is None else (point.e2e.mean_s - prefill_s) / (tokens - 1)
    return left_s if left_s > 0 else None


def _tokens(point: Point) -> float:
    return point.output_tokens or 0.0


def _batch(point: Point, prefill_s: float) -> float:
    """Requests in service: those in a queue wait for their first token, so that prefill is that of the smallest load."""
    return point.achieved_rpm / MINUTE_S * (prefill_s + (_tokens(point) - 1) * (_step_s(point) or 0.0))


def _shape(spread: Spread) -> Shape | None:
    if not spread.mean_s or spread.p95_s is None:
        return None
    return Shape.of_tail(spread.p95_s / spread.mean_s)


def _e2e_shape(point: Point) -> Shape | None:
    """That of E2E as measured, else that of the tokens, whose time is all but the prefill of it."""
    measured = _shape(point.e2e)
    if measured is not None or point.output_std is None:
        return measured
    return Shape.of_variation(point.output_std / _tokens(point))
