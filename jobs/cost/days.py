"""What a workload took and did on each of some whole UTC days, from the store alone: replica-hours and their price, requests, tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forecaster.always_on import own_load, served_ratio
from forecaster.decision import CycleRecord
from forecaster.savings import day_means, floors_by_minute
from forecaster.series import Floats, Series, Signal, Window
from forecaster.unit_cost import Used, added
from forecaster.units import DAY_S, HOUR_S, MINUTE_S
from forecaster.workload import Pool
from jobs.caches import after_caches
from jobs.fleet import Member
from jobs.ready import ReadyReplicas
from jobs.route import route
from jobs.savings import sizing_signal

_DAY_H, _DAY_MIN = DAY_S // HOUR_S, DAY_S // MINUTE_S
READY, FLOORS, MIXED = "ready", "floors", "ready and floors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """A workload's days in order. load: its requests by bucket. hours_of: what replica-hours are those of, None = none are known."""

    used: tuple[Used, ...]
    load: Series
    hours_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One pool: replicas on average by day, what they are those of, and those that its load would fill."""

    replicas: tuple[float | None, ...]
    of: tuple[str | None, ...]
    busy: tuple[float | None, ...]
    gpu_hour: float | None


def days_of(replicas: ReadyReplicas, member: Member, records: Sequence[CycleRecord], window: Window) -> Days:
    """The days of a workload; what was not kept is not known. window: whole UTC days. Raises StoreError and HistoryAtOtherStep.

    Replicas are those seen ready, on days without such looks the floors that were decided.
    """
    count = int(window.length_s // DAY_S)
    parts = [_pool(replicas, member, pool, records, window) for pool in member.workload.serving]
    load = _kept(replicas, member, Signal.RPM, window)
    served = min(1.0, served_ratio(member.workload))
    done = {name: day_means(values * served, count) for name, values in _work(replicas, member, load, window).items()}
    found = {of for part in parts for of in part.of if of is not None}
    return Days(
        used=tuple(
            Used(
                hours=added([_times(part.replicas[i], _DAY_H) for part in parts]),
                spend=added([_times(part.replicas[i], part.gpu_hour, _DAY_H) for part in parts]),
                busy_hours=added([_times(part.busy[i], _DAY_H) for part in parts]),
                **{name: _times(means[i], _DAY_MIN) for name, means in done.items()},
            )
            for i in range(count)
        ),
        load=load,
        hours_of=None if not found else found.pop() if len(found) == 1 else MIXED,
    )


def _pool(replicas: ReadyReplicas, member: Member, pool: Pool, records: Sequence[CycleRecord], window: Window) -> _Part:
    count = int(window.length_s // DAY_S)
    seen = day_means(replicas.of(member.workload.name, pool.name, window, member.step_s).mean, count)
    decided = day_means(floors_by_minute(records, pool.name, pool.targets[0], window), count)
    prices = member.prices.get(pool.name)
    return _Part(
        replicas=tuple(ready if ready is not None else floor for ready, floor in zip(seen, decided, strict=True)),
        of=tuple(READY if ready is not None else FLOORS if floor is not None else None for ready, floor in zip(seen, decided, strict=True)),
        busy=day_means(filled(replicas, member, pool, window), count),
        gpu_hour=None if prices is None else prices.gpu_hour,
    )


def filled(replicas: ReadyReplicas, member: Member, pool: Pool, window: Window) -> Floats:
    """Replicas that a pool's load would fill, by bucket, a fraction of one included; NaN where nobody can say."""
    signal = sizing_signal(member, pool)
    capacity = None if signal is None else pool.capacity.of(signal)
    if signal is None or capacity is None:
        return np.full(int(window.length_s // member.step_s), np.nan)
    carry = capacity * member.workload.policy.efficiency_ratio
    room = max(1.0, served_ratio(member.workload))  # shares of more than all are room, not load
    left = after_caches(replicas.store, member, pool, _kept(replicas, member, signal, window))
    busy: Floats = own_load(member.workload, pool, signal, left.mean / room) / carry
    return busy


def _work(replicas: ReadyReplicas, member: Member, load: Series, window: Window) -> dict[str, Floats]:
    """Requests and tokens a minute by bucket, by the names of Used's fields.

    Tokens are requests times their mean lengths. Where lengths are not asked for, all tokens are those of the signal `tokens`.
    """
    asked = {query.signal for query in member.queries}
    into, out = (
        _tokens(load.mean, _kept(replicas, member, signal, window).mean if signal in asked else np.full(len(load), np.nan))
        for signal in (Signal.INPUT_LENGTH, Signal.OUTPUT_LENGTH)
    )
    both = into + out
    if Signal.TOKENS in asked and np.isnan(both).all():
        both = _kept(replicas, member, Signal.TOKENS, window).mean * MINUTE_S
    return {"requests": load.mean, "input_tokens": into, "output_tokens": out, "tokens": both}


def _tokens(rpm: Floats, length: Floats) -> Floats:
    """Without a request there is no length, and no token: where any length was measured an idle bucket has none of them."""
    idle = (rpm == 0) & ~np.isnan(length).all()
    tokens: Floats = np.where(idle, 0.0, rpm * length)
    return tokens


def _kept(replicas: ReadyReplicas, member: Member, signal: Signal, window: Window) -> Series:
    return route(replicas.store, member.lineage, signal, window, member.step_s).series


def _times(*factors: float | None) -> float | None:
    """A product of which one part is not known is not known."""
    product = 1.0
    for factor in factors:
        if factor is None:
            return None
        product *= factor
    return product
