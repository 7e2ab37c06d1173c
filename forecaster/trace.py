"""A recorded count of requests per bucket: what a replay runs on."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import gcd

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats, Series, Signal, check_grid, frozen_floats
from forecaster.units import DAY_S, MINUTE_S, epoch_s, floor_to

FORECAST_STEP_S = 300
"""Load finer than this is forecast as means over it: finer cells are noise to a daily cycle and cost memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """Counts in epoch-aligned buckets of `bucket_s` seconds from `start`, shape (n,); NaN = not measured. Counts are at least 0."""

    start: datetime
    bucket_s: int
    counts: Floats = field(repr=False)

    def __post_init__(self) -> None:
        check_grid(self.start, self.bucket_s)
        object.__setattr__(self, "counts", frozen_floats(self.counts, ndim=1, name="counts"))
        if DAY_S % self.bucket_s:
            msg = f"bucket_s must divide a day, got {self.bucket_s} s"
            raise ValueError(msg)
        if np.isinf(self.counts).any() or (self.counts < 0).any():
            msg = "counts must be finite and at least 0, or NaN where nothing was measured"
            raise ValueError(msg)

    @property
    def end(self) -> datetime:
        """The end of the last bucket."""
        return self.start + timedelta(seconds=self.bucket_s * self.counts.size)

    @property
    def rpm(self) -> Floats:
        """Requests per minute in each bucket, shape (n,)."""
        rate: Floats = self.counts * (MINUTE_S / self.bucket_s)
        return rate

    def series(self) -> Series:
        """The trace as it is forecast: RPM on its own grid, or as 5-minute means when it is finer."""
        if self.bucket_s >= FORECAST_STEP_S:
            return Series(signal=Signal.RPM, start=self.start, step_s=self.bucket_s, mean=self.rpm, peak=self.rpm)
        common_s = gcd(self.bucket_s, FORECAST_STEP_S)  # buckets of 2 minutes straddle those of 5: cut both into minutes
        rpm = np.repeat(self.rpm, self.bucket_s // common_s)
        return Series(signal=Signal.RPM, start=self.start, step_s=common_s, mean=rpm, peak=rpm).coarser(FORECAST_STEP_S)

    def minute_load(self) -> tuple[datetime, Floats]:
        """The first minute and the load of each minute of the trace in RPM: linear between the stamps of measured buckets.

        Raises ValueError when no bucket was measured. Buckets finer than a minute are averaged into their minute first.
        """
        stamps: NDArray[np.int64] = epoch_s(self.start) + self.bucket_s * np.arange(self.counts.size, dtype=np.int64)
        measured = ~np.isnan(self.counts)
        if not measured.any():
            msg = "no bucket of the trace was measured"
            raise ValueError(msg)
        stamps, rpm = stamps[measured], self.rpm[measured]
        if self.bucket_s < MINUTE_S:
            minutes, group = np.unique(stamps // MINUTE_S * MINUTE_S, return_inverse=True)
            stamps, rpm = minutes, np.bincount(group, weights=rpm) / np.bincount(group)
        first = floor_to(self.start, MINUTE_S)
        grid = np.arange(epoch_s(first), epoch_s(self.end), MINUTE_S)
        return first, np.interp(grid, stamps, rpm)
