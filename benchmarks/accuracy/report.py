"""The rows on accuracy: pinball against Prophet and last week's load, coverage, daily peaks, and the tables behind them."""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.accuracy.generated import generated
from benchmarks.accuracy.judged import above, geometric_mean, overshoot
from benchmarks.accuracy.members import members
from benchmarks.accuracy.recordings import Group, fortnights, recordings
from benchmarks.accuracy.rolling import LAST_WEEK, PROPHET, RIVALS, Way
from benchmarks.accuracy.verdicts import Verdict, verdicts
from benchmarks.figures import Figure, Table
from forecaster.models.catalogue import DEFAULT_MODEL

_REAL = (Group.LONG, Group.SHORT)
_GOALS = {(PROPHET, Group.LONG): 0.58, (PROPHET, Group.SHORT): 0.62, (LAST_WEEK, Group.LONG): 0.62, (LAST_WEEK, Group.SHORT): 0.75}
_NOMINAL = 0.95
_COVERAGE_LEAST, _COVERAGE_MOST, _GAP = 0.94, 0.965, 0.035
_BIAS, _ABOVE, _ABOVE_YOUNG, _OVERSHOOT = 0.02, 0.08, 0.12, 0.3
_PEAK_COLUMNS = ("peak bias", "by sums", "days above peak P95", "peak overshoot")
_MISSING = "no such trace here: FORECASTER_TRACES names a folder of them"


def figures() -> Iterator[Figure | Table]:
    """The rows that have goals first, then those for the record, then a line a recording and a line a model."""
    real = recordings()
    cuts = tuple(cut for recording in real for cut in fortnights(recording))
    found = verdicts((*real, *cuts, *generated()))
    yield from summed_up(found)
    yield members(found)


def summed_up(found: Sequence[Verdict]) -> Iterator[Figure | Table]:
    """The rows, and the table behind them."""
    for (rival, group), goal in _GOALS.items():
        yield _figure(f"pinball / {rival}, {group}", _pinball(found, rival, group), unit="x", goal=goal)
    real = [verdict for verdict in found if verdict.recording.group in _REAL]
    yield from _coverages(real)
    yield from _peaks(real)
    yield from _for_the_record(found)
    yield by_recording(found)


def by_recording(found: Sequence[Verdict]) -> Table:
    """A line a recording, over all its origins."""
    header = ("recording", "origins", "x Prophet", "x last week", "P95 covers", *_PEAK_COLUMNS, "CPU / Prophet")
    return Table(title=f"Recording by recording: {DEFAULT_MODEL}, all origins", header=header, rows=tuple(map(_row, found)))


def _pinball(found: Sequence[Verdict], rival: Way, group: Group) -> float | None:
    """Over the traces of a group; of the long ones only the origins with 28 days of history count."""
    members = [verdict for verdict in found if verdict.recording.group is group]
    return geometric_mean((v.late_ratios if group is Group.LONG else v.ratios)[rival] for v in members)


def _coverages(real: Sequence[Verdict]) -> Iterator[Figure]:
    shares = np.array([verdict.coverage for verdict in real])
    share, gap = float(np.nanmean(shares)), float(np.nanmean(np.abs(shares - _NOMINAL)))
    yield Figure(name="coverage of P95 over all series, at least", value=share, unit="", goal=_COVERAGE_LEAST, better="higher")
    yield Figure(name="coverage of P95 over all series, at most", value=share, unit="", goal=_COVERAGE_MOST)
    yield Figure(name="coverage of P95, mean absolute gap per series", value=gap, unit="", goal=_GAP)


def _peaks(real: Sequence[Verdict]) -> Iterator[Figure]:
    """Each day counts alike, whatever its recording; the bias is that of the recordings on average."""
    p95_ratio = np.concatenate([verdict.peaks.p95_ratio for verdict in real])
    young = np.concatenate([verdict.peaks.young for verdict in real])
    bias, of_sums = (float(abs(np.nanmean(off))) for off in zip(*((v.peaks.bias, v.peaks.bias_of_sums) for v in real), strict=True))
    yield _figure("daily peak: bias of the median, either way", bias, goal=_BIAS)
    yield _figure("daily peak: bias of the median by sums of peaks, either way", of_sums)
    yield _figure("daily peak: days above P95, 28 days of history or more", above(p95_ratio[~young]), goal=_ABOVE)
    yield _figure("daily peak: days above P95, young", above(p95_ratio[young]), goal=_ABOVE_YOUNG)
    yield _figure("daily peak: median overshoot of P95", overshoot(p95_ratio), goal=_OVERSHOOT)


def _for_the_record(found: Sequence[Verdict]) -> Iterator[Figure]:
    """What has no goal: groups that are made rather than recorded, and the long traces at all their origins."""
    for rival in RIVALS:
        long = geometric_mean(v.ratios[rival] for v in found if v.recording.group is Group.LONG)
        yield _figure(f"pinball / {rival}, {Group.LONG}, origins from day 14 on", long, unit="x")
        for group in (Group.CUT, Group.GENERATED):
            yield _figure(f"pinball / {rival}, {group}", _pinball(found, rival, group), unit="x")
    for group in (Group.CUT, Group.GENERATED):
        shares = [verdict.coverage for verdict in found if verdict.recording.group is group]
        yield _figure(f"coverage of P95, {group}", float(np.nanmean(shares)) if shares else None)


def _figure(name: str, value: float | None, *, unit: str = "", goal: float | None = None) -> Figure:
    return Figure(name=name, value=value, unit=unit, goal=goal, note=_MISSING if value is None else "")


def _row(verdict: Verdict) -> tuple[str, ...]:
    recording, days = verdict.recording, verdict.peaks
    return (
        recording.name,
        f"{len(recording.origins)}",
        f"{verdict.ratios[PROPHET]:.3f}",
        f"{verdict.ratios[LAST_WEEK]:.3f}",
        f"{verdict.coverage:.3f}",
        f"{days.bias:+.1%}",
        f"{days.bias_of_sums:+.1%}",
        _share(above(days.p95_ratio)),
        _share(overshoot(days.p95_ratio)),
        f"{verdict.cpu_s[DEFAULT_MODEL] / verdict.cpu_s[PROPHET]:.3f}",
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
