"""Series to forecast: generated ones of known shape, and the real one that the product carries."""

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from forecaster.forecast import Horizon
from forecaster.series import Floats, Panel, Series, Signal, panel_of
from forecaster.trace import Trace
from forecaster.units import DAY_S, MINUTE_S, epoch_s, floor_to

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
_ROOT = Path(__file__).parent.parent


def series_of(mean: Floats | list[float], *, end: datetime = MONDAY, step_s: int = 3_600) -> Series:
    """RPM that ends at `end`; the peak minute equals the mean."""
    values = np.asarray(mean, dtype=np.float64)
    return Series(signal=Signal.RPM, start=end - timedelta(seconds=values.size * step_s), step_s=step_s, mean=values, peak=values)


def usual_rpm(
    days: int, *, end: datetime = MONDAY, step_s: int = 3_600, noise_ratio: float = 0.05, seed: int = 0, zone_s: int = 0
) -> Series:
    """A service with a noon peak of 300 RPM, a night at 100, and half of that on Saturday and Sunday, by a clock `zone_s` ahead of UTC."""
    rng = np.random.default_rng(seed)
    times_s = epoch_s(end) + zone_s + np.arange(-days * (DAY_S // step_s), 0) * step_s
    day = 200 - 100 * np.cos(2 * np.pi * (times_s % DAY_S) / DAY_S)
    weekend = (times_s // DAY_S + 3) % 7 >= 5
    return series_of(day * np.where(weekend, 0.5, 1.0) * rng.lognormal(0, noise_ratio, times_s.size), end=end, step_s=step_s)


def panel(*series: Series) -> Panel:
    """A chunk of series named a, b, c and so on."""
    return panel_of({chr(ord("a") + i): one for i, one in enumerate(series)})


def horizon(*, start: datetime = MONDAY, step_s: int = 3_600, steps: int = 24, window_steps: int = 2) -> Horizon:
    """From the bucket in progress at `start`."""
    return Horizon(issued_at=start, start=floor_to(start, step_s), step_s=step_s, steps=steps, window_steps=window_steps)


def packaged_trace() -> Trace:
    """The Azure 2024 conversation week that the product carries, in minutes."""
    return _minutes(_ROOT / "jobs" / "demo" / "llm_azure2024_conv_1m.csv.gz")


def _minutes(path: Path) -> Trace:
    """A trace in whole minutes, every one of them present."""
    with gzip.open(path, "rt") as file:
        rows = [line.split(",")[:2] for line in file.read().splitlines()[1:]]
    start = datetime.fromisoformat(rows[0][0])
    return Trace(start=start, bucket_s=MINUTE_S, counts=np.array([float(count) if count else np.nan for _, count in rows]))
