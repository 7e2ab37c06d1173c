"""What a replay request by request costs, and how near it comes to the one by the minute.

Goals: a day at 1,000 RPM (1.44 million requests) in 60 s; at 1,000 RPM and more the two forms agree within 2 % on replica-hours and
0.2 points on the late share, with requests spaced evenly. What random instants add is for the record: it is what minutes cannot see.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter

import numpy as np

from benchmarks.figures import Figure
from forecaster.series import Floats
from forecaster.simulate.fleet import Fleet, Policies, Traffic
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.replay import replay
from forecaster.simulate.requests.admission import BreakerRule, Quota
from forecaster.simulate.requests.arrivals import Priority, Requests, Share, Spacing, drawn
from forecaster.simulate.requests.gateway import Rules
from forecaster.simulate.requests.queues import Patience
from forecaster.simulate.requests.replica import Service
from forecaster.simulate.requests.run import simulate
from forecaster.simulate.requests.scaling import Scaling

_START = datetime(2024, 3, 4, tzinfo=UTC)
_DAY_MIN = 1_440
_FLEET = Fleet(replica_rpm=50)
_SHARES = (Share(tenant="shop", weight=6), Share(tenant="lab"), Share(tenant="night", priority=Priority.BULK, weight=3))
_RULES = Rules(
    patience=Patience(interactive_s=30, bulk_s=600),
    quotas={"lab": Quota(rate_rpm=150, burst=50)},
    breaker=BreakerRule(queue_limit=1_000),
)


def wave(minutes: int, mean_rpm: float, noise_ratio: float) -> Floats:
    """One wave around a mean, noisy by the minute."""
    rise = 1 - 0.4 * np.cos(2 * np.pi * np.arange(minutes) / minutes)
    load: Floats = np.round(mean_rpm * rise * np.random.default_rng(7).lognormal(0, noise_ratio, minutes))
    return load


def crowd(minutes: int) -> Floats:
    """Three times the load at once, for a tenth of the time."""
    return np.where(np.arange(minutes) // (minutes // 10) == 4, 3_600.0, 1_200.0)


def requests_of(load: Floats, spacing: Spacing, shares: tuple[Share, ...] = (Share(tenant="everyone"),)) -> Requests:
    return drawn(MinuteLoad(start=_START, rpm=load), np.random.default_rng(1), shares=shares, spacing=spacing)


def day_s(service: Service, rules: Rules) -> float:
    """Seconds for a day at 1,000 RPM."""
    load = wave(_DAY_MIN, 1_000, 0.1)
    requests = requests_of(load, Spacing.RANDOM, _SHARES)
    scaling = Scaling(target=0.7, floors=np.ones(_DAY_MIN), before_rpm=load[:5])
    begun = perf_counter()
    simulate(requests, service=service, scaling=scaling, rules=rules)
    return perf_counter() - begun


def differences(spacing: Spacing, targets: tuple[float, ...]) -> tuple[float, float]:
    """The largest differences of the two forms over loads and targets: replica-hours in percent, late share in points."""
    hours, late = [0.0], [0.0]
    for load in (wave(120, 1_800, 0.1), crowd(100)):
        traffic = Traffic(before_rpm=load[:5], rpm=load, edges=np.array([0, load.size]))
        policies = Policies(targets=np.array(targets), floors=np.ones((len(targets), 1)), column=np.zeros(load.size, dtype=np.int64))
        fluid, requests = replay(traffic, policies, _FLEET), requests_of(load, spacing)
        for row in range(len(targets)):
            found = simulate(requests, service=Service(replica_rpm=_FLEET.replica_rpm), scaling=Scaling.of(policies, row, traffic, _FLEET))
            hours.append(100 * abs(found.replica_hours / float(fluid.replica_hours[row]) - 1))
            late.append(100 * abs(found.total.late_ratio - float(fluid.late_ratio[row])))
    return max(hours), max(late)


def figures() -> Iterator[Figure]:
    """Speed, plain and with every rule, then agreement."""
    batches = Service(replica_rpm=50, max_batch_size=8, max_wait_ms=50, fixed_ratio=0.3)
    for name, service, rules in (
        ("one at a time", Service(replica_rpm=50), Rules()),
        ("batches of 8, quotas, classes, breaker", batches, _RULES),
    ):
        yield Figure(name=f"a day at 1,000 RPM request by request: {name}", value=day_s(service, rules), unit="s", goal=60)
    for spacing, targets, goals in (
        (Spacing.EVEN, (0.5, 0.7, 1.0), (2.0, 0.2)),
        (Spacing.RANDOM, (0.5, 0.7), (2.0, 0.2)),
        (Spacing.RANDOM, (1.0,), (None, None)),
    ):
        spelled = ", ".join(f"{target:g}" for target in targets)
        for what, unit, value, goal in zip(
            ("replica-hours", "late share"), ("%", "points"), differences(spacing, targets), goals, strict=True
        ):
            name = f"requests against minutes: {what} off at most, {spacing} instants, HPA at {spelled}"
            yield Figure(name=name, value=value, unit=unit, goal=goal)


if __name__ == "__main__":
    for figure in figures():
        print(figure.line)
