"""The numbers that Prometheus scrapes, in a registry of their own."""

import platform
from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib.metadata import version
from threading import Lock

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from forecaster.reasons import Code, Reason
from jobs.apply import Cycle
from jobs.failure import Failure
from jobs.forecast import Draft
from jobs.telemetry import catalogue, readings
from jobs.telemetry.catalogue import Metric
from jobs.telemetry.readings import Reading
from jobs.telemetry.runs import Job, Outcome, Run

KNOWN_FAILURES = (
    ("fetch", "SourceUnavailable"),
    ("fetch", "SourceRejected"),
    ("forecast", "NotEnoughHistory"),
    ("forecast", "ModelFailed"),
    ("forecast", "StateIncompatible"),
    ("forecast", "StoreError"),
    ("plan", Code.NO_CAPACITY.value),
    ("apply", "TargetMissing"),
    ("apply", "TargetForbidden"),
    ("apply", "TargetRefused"),
    ("apply", "TargetConflict"),
    ("apply", "TargetUnavailable"),
    ("apply", "StoreError"),
    ("reload", "ConfigRejected"),
    ("reload", "StoreError"),
)
"""Failures that are counted from 0 on, so that the very first one is an increase."""
_DURATION_BUCKETS_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 180, 600, 1_800)
_SNAPSHOT = (
    catalogue.FLOOR,
    catalogue.OBJECT_FLOOR,
    catalogue.READY,
    catalogue.PENDING,
    catalogue.ALERT,
    catalogue.PLANNED,
    catalogue.PLANNED_AHEAD,
    catalogue.LIVE_NEED,
    catalogue.PLAN_ISSUED,
    catalogue.PLAN_VALID_UNTIL,
    catalogue.AWAITING,
    catalogue.TROUBLES,
    catalogue.HISTORY_RATIO,
)


class Metrics:
    """What runs, cycles and drafts add up to. `registry` is ours alone: nothing of other libraries is in it. Safe for threads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._fleet = _FleetNow()
        self._workloads: frozenset[str] | None = None
        self.registry.register(self._fleet)
        self._runs = self._counter(catalogue.RUNS)
        self._durations = Histogram(
            catalogue.RUN_DURATION.name,
            catalogue.RUN_DURATION.help,
            catalogue.RUN_DURATION.labels,
            buckets=_DURATION_BUCKETS_S,
            registry=self.registry,
        )
        self._last_run, self._last_success = self._gauge(catalogue.LAST_RUN), self._gauge(catalogue.LAST_SUCCESS)
        self._failures, self._reasons = self._counter(catalogue.FAILURES), self._counter(catalogue.REASONS)
        self._decisions, self._writes = self._counter(catalogue.DECISIONS), self._counter(catalogue.WRITES)
        self._config_ok, self._config_loaded = self._gauge(catalogue.CONFIG_OK), self._gauge(catalogue.CONFIG_LOADED)
        self._gauge(catalogue.BUILD).labels(version("forecaster"), platform.python_version()).set(1)
        for job in Job:
            for outcome in Outcome:
                self._runs.labels(job, outcome)
        for verb, error in KNOWN_FAILURES:
            self._failures.labels(verb, error)
        for code in Code:
            self._reasons.labels(code)

    def record_run(self, run: Run) -> None:
        """Count a run. One that was skipped is no heartbeat: this process did nothing."""
        self._runs.labels(run.job, run.outcome).inc()
        if run.outcome is Outcome.SKIPPED:
            return
        self._durations.labels(run.job).observe(run.duration_s)
        self._last_run.labels(run.job).set(run.ended_at.timestamp())
        if run.outcome is not Outcome.FAILED:
            self.record_success(run.job, run.ended_at)

    def record_success(self, job: Job, at: datetime) -> None:
        """Note when a job last got something done, by whichever process."""
        self._last_success.labels(job).set(at.timestamp())

    def record_cycles(self, cycles: tuple[Cycle, ...], now: datetime) -> None:
        """Count what was decided, written and what failed in an apply run, and show the fleet as it left it."""
        cycles = tuple(cycle for cycle in cycles if self._has(cycle.workload))
        for cycle in cycles:
            self.record_failures(cycle.failures)
            for record in cycle.records:
                decision, applied = record.decision, record.applied
                labels = (decision.workload, decision.pool, decision.target)
                self._decisions.labels(*labels, decision.action).inc()
                self._writes.labels(*labels).inc(applied is not None and applied.written)
                self._count(decision.reasons)
                self._count(applied.reasons if applied is not None else ())
        self._fleet.show(Job.APPLY, readings.of_cycles(cycles, now))

    def record_drafts(self, drafts: tuple[Draft, ...]) -> None:
        """Count what was noted and what failed in a forecast run, and show how good its history was."""
        drafts = tuple(draft for draft in drafts if self._has(draft.name))
        for draft in drafts:
            self.record_failures(draft.failures)
            for forecast in draft.forecasts:
                self._count(forecast.notes)
            for plan in draft.plans:
                self._count(plan.reasons)
        self._fleet.show(Job.FORECAST, readings.of_drafts(drafts))

    def record_failures(self, failures: Iterable[Failure]) -> None:
        """Count failures by verb and type of error."""
        for failure in failures:
            self._failures.labels(failure.verb, failure.error).inc()

    def record_config(self, read_at: datetime, workloads: frozenset[str]) -> None:
        """Note the configuration in force; the series of workloads that it does not name disappear, and do not come back."""
        self._workloads = workloads
        self._config_ok.set(1)
        self._config_loaded.set(read_at.timestamp())
        for gone in self._fleet.keep_only(workloads):
            self._decisions.remove_by_labels({"workload": gone})
            self._writes.remove_by_labels({"workload": gone})

    def record_refused_config(self, failure: Failure) -> None:
        """Note that the configuration on disk is not the one in force."""
        self._config_ok.set(0)
        self.record_failures((failure,))

    def _has(self, workload: str) -> bool:
        """Whether the workload is still there: a run on the configuration before may end after the reload."""
        return self._workloads is None or workload in self._workloads

    def _count(self, reasons: Iterable[Reason]) -> None:
        for reason in reasons:
            self._reasons.labels(reason.code).inc()

    def _counter(self, metric: Metric) -> Counter:
        return Counter(metric.name, metric.help, metric.labels, registry=self.registry)

    def _gauge(self, metric: Metric) -> Gauge:
        return Gauge(metric.name, metric.help, metric.labels, registry=self.registry)


class _FleetNow(Collector):
    """The readings of each job's last run, whole: what the last run did not read is gone by itself."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readings: dict[Job, tuple[Reading, ...]] = {}

    def show(self, job: Job, readings: tuple[Reading, ...]) -> None:
        """Replace what the job's last run read."""
        with self._lock:
            self._readings[job] = readings

    def keep_only(self, workloads: frozenset[str]) -> frozenset[str]:
        """Forget all other workloads; their names."""
        with self._lock:
            named = {reading.labels[0] for kept in self._readings.values() for reading in kept}
            self._readings = {job: tuple(r for r in kept if r.labels[0] in workloads) for job, kept in self._readings.items()}
        return frozenset(named - workloads)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every gauge of the fleet with what is known of it."""
        with self._lock:
            known = [reading for kept in self._readings.values() for reading in kept]
        families = {metric: GaugeMetricFamily(metric.name, metric.help, labels=metric.labels) for metric in _SNAPSHOT}
        for reading in known:
            families[reading.metric].add_metric(reading.labels, reading.value)
        yield from families.values()
