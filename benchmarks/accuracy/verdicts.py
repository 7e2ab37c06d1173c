"""The default model beside its rivals on each recording, measured in two processes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.judged import Peaks, coverage, peaks, pinball
from benchmarks.accuracy.recordings import Recording
from benchmarks.accuracy.rolling import RIVALS, Issued, Way, check_no_peeking, joined, processes, submit
from forecaster.models.catalogue import DEFAULT_MODEL
from forecaster.series import Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """What one recording said of the default model.

    ratios, late_ratios: pinball over that of each rival, at all origins and at those with 28 days of history; NaN of none.
    coverage: of P95. cpu_s: of one forecast, by way. issued: what the ways said, for whom it concerns.
    """

    recording: Recording
    ratios: dict[Way, float]
    late_ratios: dict[Way, float]
    coverage: float
    peaks: Peaks
    cpu_s: dict[Way, float] = field(repr=False)
    issued: dict[Way, Issued] = field(repr=False)


def verdicts(every: Sequence[Recording]) -> tuple[Verdict, ...]:
    """Each recording forecast by the default model and by the rivals. Raises RuntimeError where one of them looked ahead."""
    ways = (DEFAULT_MODEL, *RIVALS)
    with processes() as pool:
        checks = [pool.submit(check_no_peeking, one, way, one.origins[0]) for one in every for way in ways]
        longest_first = sorted(every, key=lambda one: -len(one.origins) * one.per_day)
        waiting = {(one.name, way): submit(pool, one, way) for way in ways for one in longest_first}
        for check in checks:
            check.result()
        issued = {key: joined(part.result() for part in parts) for key, parts in waiting.items()}
    return tuple(judged(one, {way: issued[one.name, way] for way in ways}) for one in every)


def judged(recording: Recording, issued: dict[Way, Issued]) -> Verdict:
    """The default model against what came and against each rival."""
    late, actual, ours = recording.with_28_days, recording.actual, issued[DEFAULT_MODEL]
    return Verdict(
        recording=recording,
        ratios={rival: ratio(actual, ours, issued[rival], np.ones_like(late)) for rival in RIVALS},
        late_ratios={rival: ratio(actual, ours, issued[rival], late) for rival in RIVALS},
        coverage=coverage(actual, ours.quantiles),
        peaks=peaks(recording, ours),
        cpu_s={way: said.cpu_s / _forecasts(recording, way) for way, said in issued.items()},
        issued=issued,
    )


def ratio(actual: Floats, ours: Issued, rival: Issued, origins: NDArray[np.bool_]) -> float:
    """Pinball of ours over the rival's at the chosen origins; NaN where nothing was measured after any of them."""
    if np.isnan(actual[origins]).all():
        return np.nan
    return pinball(actual[origins], ours.quantiles[origins]) / pinball(actual[origins], rival.quantiles[origins])


def _forecasts(recording: Recording, way: Way) -> int:
    """How many a way has made: rivals remember nothing and need no warming up."""
    return len(recording.origins) + (0 if way in RIVALS else len(recording.warm_up))
