"""How fast a fleet is replayed and a whole backtest runs.

Goals: a replay of 100 policies over 8 weeks of minutes in 5 s; a backtest of 90 days of minutes within 3 minutes on 2 cores.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter

import numpy as np

from benchmarks.figures import Figure
from forecaster.backtest.run import backtest
from forecaster.backtest.settings import Settings
from forecaster.series import Floats
from forecaster.simulate.fleet import Fleet, Policies, Traffic
from forecaster.simulate.replay import replay
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


def replay_s(policies: int) -> float:
    """Seconds for so many policies over 8 weeks of minutes."""
    load = counts(_WEEKS_MIN // 1_440)
    traffic = Traffic(before_rpm=load[:5], rpm=load, edges=np.arange(0, load.size + 1, 1_440))
    floors = np.random.default_rng(1).integers(1, 40, (policies, 24)).astype(float)
    many = Policies(targets=np.linspace(0.4, 1, policies), floors=floors, column=np.arange(load.size) // 60 % 24)
    begun = perf_counter()
    replay(traffic, many, Fleet(replica_rpm=60))
    return perf_counter() - begun


def backtest_s(days: int, bucket_s: int) -> float:
    """Seconds for a whole backtest."""
    recorded = counts(days).reshape(-1, bucket_s // 60).sum(axis=1)
    begun = perf_counter()
    backtest(Trace(start=_START, bucket_s=bucket_s, counts=recorded), CONTRACT_POLICY, Settings())
    return perf_counter() - begun


def figures() -> Iterator[Figure]:
    """Replays of one and of many policies over 8 weeks of minutes, and whole backtests of 90 days."""
    for policies, goal_s in ((1, None), (100, 5.0)):
        name = f"replay of {policies} policies together over 8 weeks of minutes"
        yield Figure(name=name, value=replay_s(policies), unit="s", goal=goal_s)
    for bucket_s in (60, 300, 3_600):
        yield Figure(name=f"backtest of 90 days of {bucket_s} s buckets", value=backtest_s(90, bucket_s), unit="s", goal=180)
