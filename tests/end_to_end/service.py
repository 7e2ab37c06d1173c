"""A model service that no trace of ours shows: steep mornings, longer answers in the evening, calm weekends. Metrics of three weeks."""

from datetime import UTC, datetime, timedelta

import numpy as np

from forecaster.series import Floats
from forecaster.units import iso
from tests.prometheus import counter, gauge

START = datetime(2024, 3, 4, tzinfo=UTC)  # a Monday
DAYS = 24
DAY = START + timedelta(days=22)
"""The Tuesday that the tests live on: three weeks of history before it, and its load ahead."""
NIGHT_RPM, DAY_RPM = 120.0, 1_200.0
CARRY_RPM, CARRY_CONCURRENCY = 100.0, 25.0
RPM = 'sum(rate(llm_requests_total{model="chat"}[2m])) * 60'
CONCURRENCY = 'sum(llm_requests_running{model="chat"})'


def clock(text: str, day: datetime = DAY) -> datetime:
    """An instant of the day by its clock, `07:30`."""
    hour, minute = text.split(":")
    return day + timedelta(hours=int(hour), minutes=int(minute))


def true_rpm(instant: datetime) -> float:
    """What the service is asked for a minute, without its noise."""
    return float(_rpm(np.array([(instant - START).total_seconds() / 60]))[0])


def openmetrics() -> str:
    """The whole history as a Prometheus would have scraped it: requests counted, requests in flight, and those of a second model."""
    rng = np.random.default_rng(11)
    minutes = np.arange(DAYS * 1_440, dtype=np.float64)
    mood = rng.lognormal(0, 0.03, DAYS).repeat(1_440)
    requests = rng.poisson(_rpm(minutes) * mood).astype(np.float64)
    seconds = np.where(minutes % 1_440 >= 17 * 60, 20.0, 10.0)
    running = np.round(requests / 60 * seconds * rng.lognormal(0, 0.05, minutes.size))
    return "".join(
        (
            counter("llm_requests_total", START, requests.tolist(), labels='model="chat"'),
            counter("llm_requests_total", START + timedelta(days=21), [60.0] * 2_880, labels='model="code"'),
            gauge("llm_requests_running", START, running.tolist(), labels='model="chat"'),
            gauge("llm_broken", START + timedelta(days=21), [float("nan")] * 2_880, labels='model="chat"'),
        )
    )


def trace_csv(days: int = 16, *, before: datetime = DAY + timedelta(days=1), step_min: int = 5) -> str:
    """The same service's counts as a CSV trace that ends at `before`."""
    start = before - timedelta(days=days)
    minutes = (start - START).total_seconds() / 60 + np.arange(0, days * 1_440, step_min, dtype=np.float64)
    counts = np.random.default_rng(12).poisson(_rpm(minutes) * step_min)
    stamps = (start + timedelta(minutes=step_min * i) for i in range(counts.size))
    return "timestamp,value\n" + "".join(f"{iso(stamp)},{count}\n" for stamp, count in zip(stamps, counts.tolist(), strict=True))


def _rpm(minutes: Floats) -> Floats:
    """Night until seven, all of the day's load by eight, night again at ten in the evening; half of it on weekends."""
    hour = minutes / 60 % 24
    busy = np.clip(hour - 7, 0, 1) * np.clip((22 - hour) / 2, 0, 1)
    weekend = np.where(minutes // 1_440 % 7 >= 5, 0.5, 1.0)
    return NIGHT_RPM + (DAY_RPM - NIGHT_RPM) * busy * weekend
