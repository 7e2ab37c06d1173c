"""What a source tells of single seconds, which most cannot: what is read every 15 seconds knows no peak second."""

from dataclasses import dataclass

from forecaster.series import Series
from forecaster.units import check_positive

FINE_S = 1.05
"""Samples at most so far apart tell single seconds: one scrape in twenty may be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """grain_s: seconds between the samples that a query rests on, None = it cannot be told. series: steps of 1 s, None = too coarse."""

    grain_s: float | None = None
    series: Series | None = None

    def __post_init__(self) -> None:
        if self.grain_s is not None:
            check_positive("seconds.grain_s", self.grain_s, "seconds")
        if self.series is not None and self.series.step_s != 1:
            msg = f"seconds.series must have steps of 1 s, got {self.series.step_s} s"
            raise ValueError(msg)
