"""How fast a fleet is replayed and a whole backtest runs.

Goals, on one core: a replay of one policy over 8 weeks of minutes in 150 ms and of 100 together in 5 s, under the autoscaler of the
contract and under a real HPA alike; a backtest of 90 days of minutes within 3 minutes on 2 cores. Replays are timed in CPU seconds,
the best of three, since a shared machine adds waits of its own.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time

import numpy as np

from benchmarks.figures import Figure
from forecaster.backtest.comparison import others
from forecaster.backtest.run import backtest
from forecaster.backtest.settings import Settings
from forecaster.series import Floats
from forecaster.simulate.autoscaler import Hpa, HpaBehavior
from forecaster.simulate.fleet import Fleet, Policies, Traffic
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.replay import replay
from forecaster.simulate.trial import Trial
from forecaster.trace import Trace
from jobs.backtest import CONTRACT_POLICY

_START = datetime(2024, 3, 4, tzinfo=UTC)
_WEEKS_MIN = 8 * 7 * 1_440


def counts(days: int) -> Floats:
    """Requests a minute: a daily and a weekly cycle, bursts and noise."""
    minutes = np.arange(days * 1_440)
    rng = np.random.default_rng(7)
    day = 1 + 0.7 * np.sin(minutes / 1_440 * 2 * np.pi)
    weekend = np.where(minutes // 1_440 % 7 >= 5, 0.6, 1.0)
    noise = rng.lognormal(0, 0.1, minutes.size)
    burst = np.where(rng.random(minutes.size) < 0.0005, 3.0, 1.0)
    load: Floats = np.round(1_000 * day * weekend * noise * burst)
    return load


def replay_s(policies: int, behavior: HpaBehavior | None = None, *, waits: bool = False) -> float:
    """CPU seconds for so many policies over 8 weeks of minutes, the best of three."""
    load = counts(_WEEKS_MIN // 1_440)
    traffic = Traffic(before_rpm=load[:5], rpm=load, edges=np.arange(0, load.size + 1, 1_440))
    floors = np.random.default_rng(1).integers(1, 40, (policies, 24)).astype(float)
    many = Policies(targets=np.linspace(0.4, 1, policies), floors=floors, column=np.arange(load.size) // 60 % 24, behavior=behavior)
    spent = []
    for _ in range(3):
        begun = process_time()
        replay(traffic, many, Fleet(replica_rpm=60), waits=waits)
        spent.append(process_time() - begun)
    return min(spent)


def rivals_s() -> float:
    """CPU seconds for everything that a backtest of 8 weeks compares with, six of them judged."""
    minutes = MinuteLoad(start=_START, rpm=counts(_WEEKS_MIN // 1_440))
    fleet = Fleet(replica_rpm=60)
    trial = Trial(minutes=minutes, start=_START + timedelta(days=14), end=minutes.end, fleet=fleet, late_limit_ratio=0.001)
    begun = process_time()
    others(trial, Hpa(target=0.7, behavior=HpaBehavior()))
    return process_time() - begun


def backtest_s(days: int, bucket_s: int) -> float:
    """Seconds for a whole backtest."""
    recorded = counts(days).reshape(-1, bucket_s // 60).sum(axis=1)
    begun = perf_counter()
    backtest(Trace(start=_START, bucket_s=bucket_s, counts=recorded), CONTRACT_POLICY, Settings())
    return perf_counter() - begun


def figures() -> Iterator[Figure]:
    """Replays of one and of many policies over 8 weeks of minutes, what a backtest compares with, and whole backtests of 90 days."""
    for policies, goal_s in ((1, 0.15), (100, 5.0)):
        for name, behavior in (("the contract's autoscaler", None), ("a real HPA", HpaBehavior())):
            what = f"replay of {policies} policies together over 8 weeks of minutes, {name}"
            yield Figure(name=what, value=replay_s(policies, behavior), unit="s", goal=goal_s)
    yield Figure(name="replay of one policy over 8 weeks of minutes, with waits", value=replay_s(1, waits=True), unit="s", goal=0.15)
    yield Figure(name="all other policies of a backtest of 8 weeks", value=rivals_s(), unit="s")
    for bucket_s in (60, 300, 3_600):
        yield Figure(name=f"backtest of 90 days of {bucket_s} s buckets", value=backtest_s(90, bucket_s), unit="s", goal=180)
