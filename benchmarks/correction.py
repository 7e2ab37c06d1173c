"""What correction by live load gains over the median of the midnight before: the error at each lead, on recorded traces.

At every bucket boundary t of every scored day the median of the bucket that ends at t + lead is moved by the deviation of the buckets that
ended by t, with the gains that the day's forecast carries; where it carries none, with those learned from the forecasts of the days
before. Error cut = 1 - mean absolute error corrected / uncorrected.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from benchmarks.accuracy.judged import geometric_mean
from benchmarks.accuracy.recordings import Recording, recordings
from benchmarks.figures import Figure, Table
from forecaster.backtest.origins import early_origins
from forecaster.backtest.rolling import forecasts
from forecaster.backtest.settings import Settings
from forecaster.forecast import Forecast
from forecaster.gains import LONG_S, SHORT_S, Gains, corrected, learn
from forecaster.models.catalogue import DEFAULT_MODEL
from forecaster.models.past import log_offsets
from forecaster.series import Floats
from forecaster.units import DAY_S, MINUTE_S

GOALS = {10 * MINUTE_S: 0.45, 30 * MINUTE_S: 0.30, 60 * MINUTE_S: 0.20}
"""By lead in seconds."""
_LLM = "llm_"
_HALF = 0.5
_LEARNED_DAYS, _SCORED_DAYS = 14, 28


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rolled:
    """Load and the median of the midnight before, bucket by bucket over consecutive days; the first `young` of these are not scored.

    load: NaN = not measured; both of shape (days x per_day,). gains: one a scored day, None = not learned.
    """

    step_s: int
    load: Floats = field(repr=False)
    median: Floats = field(repr=False)
    offset: float
    young: int
    gains: tuple[Gains | None, ...] = field(repr=False)

    def cut(self, lead_s: int) -> float | None:
        """The share of the absolute error that correction spares; None where no bucket of the trace ends exactly so far ahead."""
        if lead_s % self.step_s:
            return None
        ahead, per_day = lead_s // self.step_s - 1, DAY_S // self.step_s
        before = after = 0.0
        for day, gains in enumerate(self.gains, start=self.young):
            for t in range(day * per_day, (day + 1) * per_day - ahead):
                actual, path = self.load[t + ahead], self.median[t : t + ahead + 1]
                if not np.isnan(actual):
                    before += abs(actual - path[-1])
                    after += abs(actual - (path if gains is None else self._corrected(path, gains, t))[-1])
        return 1 - after / before if before else None

    def _corrected(self, path: Floats, gains: Gains, t: int) -> Floats:
        short, long = (self._log_ratio(t, max(1, span_s // self.step_s)) for span_s in (SHORT_S, LONG_S))
        return corrected(path, gains, short, long, self.step_s, self.offset)

    def _log_ratio(self, t: int, steps: int) -> float:
        """Load over median in the last buckets, 0 where none was measured."""
        load, median = (line[max(0, t - steps) : t] for line in (self.load, self.median))
        known = ~np.isnan(load)
        return float(np.log((load[known].mean() + self.offset) / (median[known].mean() + self.offset))) if known.any() else 0.0


def figures() -> Iterator[Figure | Table]:
    """The three rows that have goals, over LLM traces, then a line a trace."""
    every = [(recording.name, rolled(recording)) for recording in recordings()]
    found = {name: [one.cut(lead_s) for lead_s in GOALS] for name, one in every}
    for column, (lead_s, goal) in enumerate(GOALS.items()):
        cuts = [cuts[column] for name, cuts in found.items() if name.startswith(_LLM)]
        left = geometric_mean(1 - cut for cut in cuts if cut is not None)
        value = None if left is None else 1 - left
        name = f"live correction: error cut at lead {lead_s // MINUTE_S} min, LLM traces"
        yield Figure(name=name, value=value, unit="", goal=goal, better="higher")
    header = ("recording", *(f"{lead_s // MINUTE_S} min" for lead_s in GOALS))
    rows = tuple((name, *("" if cut is None else f"{cut:.3f}" for cut in cuts)) for name, cuts in found.items())
    yield Table(
        title=f"Error cut by live correction, recording by recording: {DEFAULT_MODEL}, the last {_SCORED_DAYS} days",
        header=header,
        rows=rows,
    )


def rolled(recording: Recording) -> Rolled:
    """Each day as it was forecast at its midnight, and the gains as they were known then."""
    scored = recording.origins[-_SCORED_DAYS:]
    earlier = (*early_origins(recording.series, recording.origins[0]), *recording.origins[:-_SCORED_DAYS])
    since = scored[0] - timedelta(days=_LEARNED_DAYS)
    young = tuple(origin for origin in earlier if origin >= since)
    issued = list(forecasts(recording.series, (*young, *scored), Settings(model=DEFAULT_MODEL)))
    load = np.concatenate([_actual(recording, forecast) for forecast in issued])
    median = np.concatenate([forecast.at_level(_HALF) for forecast in issued])
    offset = float(log_offsets(recording.series.known_at(scored[0]).mean[None])[0])
    residuals = np.log((load + offset) / (median + offset))
    return Rolled(
        step_s=recording.series.step_s,
        load=load,
        median=median,
        offset=offset,
        young=len(young),
        gains=tuple(_known(issued, residuals, day, recording) for day in range(len(young), len(issued))),
    )


def _actual(recording: Recording, forecast: Forecast) -> Floats:
    came = recording.series.between(forecast.start, forecast.end).mean
    return np.pad(came, (0, len(forecast) - came.size), constant_values=np.nan)


def _known(issued: Sequence[Forecast], residuals: Floats, day: int, recording: Recording) -> Gains | None:
    """The gains that a day's forecast carries, else those that the days before it teach."""
    past = residuals[max(0, day - _LEARNED_DAYS) * recording.per_day : day * recording.per_day]
    return issued[day].gains or learn(past, recording.series.step_s)


if __name__ == "__main__":
    for found in figures():
        print(found)
