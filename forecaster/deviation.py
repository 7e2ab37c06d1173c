"""How far live load is off the forecast, what becomes of that over the lead window, and how it is told."""

import math
from dataclasses import dataclass

import numpy as np

from forecaster.gains import LONG_S, SHORT_S, Gains
from forecaster.series import Floats, Signal
from forecaster.units import MINUTE_S, check_not_negative

_LEAST_RATIO = 1e-6  # a load that vanished has a logarithm, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Live load over the median forecast.

    short, long: that ratio over the last 15 and 120 minutes. broken: the short one is so high that the forecast is taken for wrong.
    """

    short: float
    long: float
    broken: bool = False

    def __post_init__(self) -> None:
        check_not_negative("deviation.short", self.short, "x")
        check_not_negative("deviation.long", self.long, "x")

    def carried(self, gains: Gains, leads_s: Floats) -> Floats:
        """The log ratio that is expected of it at each lead: what the gains leave, and all of the short one at least when broken."""
        short = _log(self.short)
        left = gains.carried(short, _log(self.long), leads_s)
        return np.maximum(left, short) if self.broken else left

    def lift(self, medians: Floats, gains: Gains, step_s: int) -> float:
        """How many times higher the largest of the medians ahead is expected; the first is that of the bucket in progress.

        Never falls when either ratio rises, whatever the gains: they are at least 0. Raises ValueError unless every median is above 0.
        """
        if not medians.size or not (medians > 0).all():
            msg = "a lift needs medians, each above 0"
            raise ValueError(msg)
        left = self.carried(gains, step_s * np.arange(medians.size, dtype=np.float64))
        return float((medians * np.exp(left)).max() / medians.max())

    def told(self, signal: Signal, gains: Gains, lead_s: float) -> str:
        """The deviation and what is expected of it a lead later, as part of a sentence."""
        so_far = f"live {signal} is {self.short:.2f} x the forecast over {SHORT_S // MINUTE_S} min"
        if self.broken:
            return f"{so_far}: the forecast is taken for wrong and the load is followed"
        left, whole, lead = float(self.carried(gains, np.array([lead_s]))[0]), _log(self.short), f"{lead_s / MINUTE_S:g} min"
        if not 0 < left <= whole:
            return f"{so_far} and {self.long:.2f} x over {LONG_S // MINUTE_S} min: {math.exp(left):.2f} x is expected {lead} later"
        share = f"{left / whole:.0%} of such a deviation"
        if gains.cut:
            return f"{so_far}; in the past {share} was still there {lead} later"
        return f"{so_far}; {share} is taken to be there {lead} later"


def _log(ratio: float) -> float:
    return math.log(max(ratio, _LEAST_RATIO))
