"""From what was asked to a report: read once, replay, judge."""

from dataclasses import replace

from connectors.kube.cluster import Cluster
from connectors.sources.csv import CsvConfig, CsvSource
from connectors.sources.registry import open_source
from forecaster.backtest.run import Backtest, backtest
from forecaster.backtest.settings import Progress, silent
from forecaster.ports import Clock, Query, Unit
from forecaster.series import Signal
from forecaster.workload import Policy
from jobs.backtest import backtest_csv
from jobs.clock import SystemClock
from jobs.proof.asked import Asked
from jobs.proof.evidence import Evidence, Wanted, gather
from jobs.proof.judged import judge
from jobs.proof.report import Report

_LEAD_TIME = "A new replica was taken to be ready after 10 minutes: name your own lead time in a configuration and give it with --config."
_READ, _REPLAYED = 0.05, 0.9  # shares of the work done, by its time


def report_of(asked: Asked, progress: Progress = silent, clock: Clock | None = None) -> Report:
    """Read, replay and judge. Raises what reading raises, and TraceRejected when the load cannot be replayed."""
    if asked.csv is not None:
        found = backtest_csv(asked.csv, asked.policy, asked.settings, _between(progress, 0.0, _REPLAYED), columns=asked.columns)
        progress(_REPLAYED, "late minutes and mornings")
        return Report(found=found, judged=judge(found), notes=(_of_file(asked, found), *_of_settings(asked)))
    progress(0.0, "reading the load")
    evidence = _read(asked, clock or SystemClock())
    settings = replace(asked.settings, replica_rpm=evidence.size.replica_rpm)
    found = backtest(evidence.trace, _policy(asked, evidence), settings, _between(progress, _READ, _REPLAYED), theirs=evidence.theirs)
    progress(_REPLAYED, "late minutes and mornings")
    url = None if asked.prometheus is None else asked.prometheus.url
    notes = (*evidence.notes, *_of_settings(asked))
    return Report(found=found, judged=judge(found, evidence.theirs), evidence=evidence, url=url, notes=notes)


def _of_file(asked: Asked, found: Backtest) -> str:
    """What the column holds, and how many of its rows were left out; as of its end, since a recording has no age."""
    if asked.csv is None:
        raise AssertionError("a proof has a file or a server")
    source = CsvSource(CsvConfig(type="csv", path=asked.csv, timestamp=asked.columns.timestamp))
    query = Query(signal=Signal.RPM, expression=asked.columns.value, unit=Unit.COUNT)
    return f"Load: {source.probe(query, found.trace.end)}."


def _of_settings(asked: Asked) -> tuple[str, ...]:
    return () if asked.told_lead_time else (_LEAD_TIME,)


def _read(asked: Asked, clock: Clock) -> Evidence:
    if asked.prometheus is None:
        raise AssertionError("a proof has a file or a server")
    source = open_source(asked.prometheus)
    try:
        wanted = Wanted(hpa=asked.hpa, query=asked.query, capacity_rpm=asked.capacity_rpm)
        return gather(wanted, source, Cluster(asked.cluster), clock.now())
    finally:
        source.close()


def _policy(asked: Asked, evidence: Evidence) -> Policy:
    """Floors between the bounds of the HPA that they stand under, unless a configuration has bounds of its own."""
    if evidence.hpa is None or asked.bounded:
        return asked.policy
    least = max(1, evidence.hpa.minimum)
    return replace(asked.policy, minimum=least, maximum=max(least, evidence.hpa.maximum))


def _between(progress: Progress, first: float, last: float) -> Progress:
    return lambda done, doing: progress(first + (last - first) * done, doing)
