"""The mean token lengths of a workload's recent requests, from kept history."""

from datetime import datetime, timedelta

import numpy as np

from forecaster.errors import HistoryAtOtherStep
from forecaster.estimate import Lengths
from forecaster.ports import Store
from forecaster.series import Floats, Signal, Window
from forecaster.units import DAY_S, HOUR_S, floor_to


def measured_lengths(store: Store, workload: str, step_s: int, now: datetime) -> Lengths:
    """Means over the day that ended with the last whole hour, so that ticks within an hour agree. Raises StoreError.

    Buckets count by their requests, where those were measured: what a quiet night sends says little of a full replica.
    """
    end = floor_to(now, max(HOUR_S, step_s))
    window = Window(start=end - timedelta(seconds=DAY_S), end=end)

    def kept(signal: Signal) -> Floats:
        try:
            return store.history(workload, signal, window, step_s).mean
        except HistoryAtOtherStep:  # of a step that was changed since: of another length of bucket nothing is known
            return np.full(DAY_S // step_s, np.nan)

    requests = kept(Signal.RPM)
    return Lengths(
        input_tokens=_mean(kept(Signal.INPUT_LENGTH), requests),
        output_tokens=_mean(kept(Signal.OUTPUT_LENGTH), requests),
        told="as measured over a day",
    )


def _mean(lengths: Floats, requests: Floats) -> float | None:
    """By requests, else plain; None where nothing was measured, or nothing but zeros."""
    known = ~np.isnan(lengths) & (lengths > 0)
    if not known.any():
        return None
    weights = np.nan_to_num(requests[known])
    return float(np.average(lengths[known], weights=weights)) if weights.sum() > 0 else float(lengths[known].mean())
