"""What runs add up to, in a registry of their own for Prometheus to scrape."""

import platform
from collections.abc import Callable, Iterable
from datetime import datetime
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Histogram

from forecaster.reasons import Code, Reason
from jobs.apply import Cycle
from jobs.draft import Draft
from jobs.failure import Failure
from jobs.levers.tick import Tick
from jobs.telemetry import catalogue, readings
from jobs.telemetry.board import Board
from jobs.telemetry.held import LONGEST_S, held_since
from jobs.telemetry.runs import Half, Outcome, Run

KNOWN_FAILURES = (
    ("fetch", "SourceUnavailable"),
    ("fetch", "SourceRejected"),
    ("forecast", "NotEnoughHistory"),
    ("forecast", "ModelFailed"),
    ("forecast", "ExecutorFailed"),
    ("forecast", "HistoryAtOtherStep"),
    ("forecast", "StoreError"),
    ("plan", Code.NO_CAPACITY.value),
    ("apply", "TargetMissing"),
    ("apply", "TargetForbidden"),
    ("apply", "TargetRefused"),
    ("apply", "TargetConflict"),
    ("apply", "TargetUnavailable"),
    ("apply", "StoreError"),
    ("starts", "TargetMissing"),
    ("starts", "TargetForbidden"),
    ("starts", "TargetRefused"),
    ("starts", "TargetUnavailable"),
    ("drift", "SourceUnavailable"),
    ("drift", "SourceRejected"),
    ("serve", "WorkloadUnknown"),
    ("serve", "PoolUnknown"),
    ("serve", "FloorUnknown"),
    ("serve", "StoreError"),
    ("levers", "SourceUnavailable"),
    ("levers", "SourceRejected"),
    ("levers", "TargetMissing"),
    ("levers", "TargetForbidden"),
    ("levers", "TargetRefused"),
    ("levers", "TargetConflict"),
    ("levers", "TargetUnavailable"),
    ("levers", "PoolUnknown"),
    ("levers", "StoreError"),
    ("levers", Code.LEVER_LOST.value),
    ("reload", "ConfigRejected"),
    ("reload", "StoreError"),
)
"""Failures that are counted from 0 on, so that the very first one is an increase."""
_DURATION_BUCKETS_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 180, 600, 1_800)


class Metrics:
    """Everything of the catalogue. `registry` is ours alone: nothing of other libraries is in it. Safe for threads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._board = Board()
        self._workloads: frozenset[str] | None = None
        self._applied_at: datetime | None = None
        self._levers: tuple[readings.Reading, ...] = ()
        self._durations = Histogram(
            catalogue.RUN_DURATION.name,
            catalogue.RUN_DURATION.help,
            catalogue.RUN_DURATION.labels,
            buckets=_DURATION_BUCKETS_S,
            registry=self.registry,
        )
        self.registry.register(self._board)
        self._board.ask(lambda: self._levers)
        self._board.mark(catalogue.BUILD, (version("forecaster"), platform.python_version()), 1)
        for half in Half:
            for outcome in Outcome:
                self._board.count(catalogue.RUNS, (half.value, outcome.value), 0)
        for verb, error in KNOWN_FAILURES:
            self._board.count(catalogue.FAILURES, (verb, error), 0)
        for code in Code:
            self._board.count(catalogue.REASONS, (code.value,), 0)

    def record_run(self, run: Run) -> None:
        """Count a run. One that was skipped is no heartbeat: this process did nothing."""
        self._board.count(catalogue.RUNS, (run.half.value, run.outcome.value))
        if run.outcome is Outcome.SKIPPED:
            return
        self._durations.labels(run.half.value).observe(run.duration_s)
        self._board.mark(catalogue.LAST_RUN, (run.half.value,), run.ended_at.timestamp())
        if run.outcome is not Outcome.FAILED:
            self.record_success(run.half, run.ended_at)

    def record_success(self, half: Half, at: datetime) -> None:
        """Note when a half last got something done, by whichever process."""
        self._board.mark(catalogue.LAST_SUCCESS, (half.value,), at.timestamp())

    def record_cycles(self, cycles: tuple[Cycle, ...], now: datetime) -> None:
        """Count what was decided, written and what failed in an apply run, and show the fleet as it left it."""
        cycles = tuple(cycle for cycle in cycles if self._has(cycle.workload))
        elapsed_s = 0.0 if self._applied_at is None else min((now - self._applied_at).total_seconds(), LONGEST_S)
        self._applied_at = now
        for cycle in cycles:
            for more in held_since(cycle, elapsed_s):
                self._board.count(more.metric, more.labels, more.value)
            self.record_failures((*cycle.failures, *cycle.asides))
            for record in cycle.records:
                decision, applied = record.decision, record.applied
                labels = (decision.workload, decision.pool, decision.target)
                self._board.count(catalogue.DECISIONS, (*labels, decision.action.value))
                self._board.count(catalogue.WRITES, labels, applied is not None and applied.written)
                self._count(decision.reasons)
                self._count(applied.reasons if applied is not None else ())
        self._board.show(Half.APPLY, readings.of_cycles(cycles, now))

    def record_drafts(self, drafts: tuple[Draft, ...]) -> None:
        """Count what was noted and what failed in a forecast run, and show how good its history was."""
        drafts = tuple(draft for draft in drafts if self._has(draft.name))
        for draft in drafts:
            self.record_failures((*draft.failures, *draft.asides))
            for outlook in draft.outlooks:
                self._count(outlook.notes)
            for plan in draft.plans:
                self._count(plan.reasons)
        self._board.show(Half.FORECAST, readings.of_drafts(drafts))

    def record_levers(self, tick: Tick) -> None:
        """Count what a tick of the levers moved and what failed, and show where they stand."""
        self.record_failures(tick.failures)
        self._count(tick.pulled.reasons)
        for turn in tick.turns:
            self._board.count(catalogue.LEVER_MOVES, (turn.lever,), tick.moves and turn.moved is not None and turn.moved.written)
        self._levers = readings.of_levers(tick)

    def forget_levers(self) -> None:
        """Show no lever: another process looks after them, or the section is gone. What stood at our last tick may be over."""
        self._levers = ()

    def record_failures(self, failures: Iterable[Failure]) -> None:
        """Count failures by verb and type of error."""
        for failure in failures:
            self._board.count(catalogue.FAILURES, (failure.verb, failure.error))

    def ask(self, read: Callable[[], tuple[readings.Reading, ...]]) -> None:
        """Show further readings, asked for at every scrape."""
        self._board.ask(read)

    def record_config(self, read_at: datetime) -> None:
        """Note that the configuration on disk is the one in force."""
        self._board.mark(catalogue.CONFIG_OK, (), 1)
        self._board.mark(catalogue.CONFIG_LOADED, (), read_at.timestamp())

    def record_workloads(self, workloads: frozenset[str], template_problems: int) -> None:
        """Note which workloads there are; the series of all others disappear, and do not come back."""
        self._workloads = workloads
        self._board.keep_only(workloads)
        self._board.mark(catalogue.WORKLOADS, (), len(workloads))
        self._board.mark(catalogue.TEMPLATE_PROBLEMS, (), template_problems)

    def record_refused_config(self, failure: Failure) -> None:
        """Note that the configuration on disk is not the one in force."""
        self._board.mark(catalogue.CONFIG_OK, (), 0)
        self.record_failures((failure,))

    def _has(self, workload: str) -> bool:
        """Whether the workload is still there: a run on the configuration before may end after the reload."""
        return self._workloads is None or workload in self._workloads

    def _count(self, reasons: Iterable[Reason]) -> None:
        for reason in reasons:
            self._board.count(catalogue.REASONS, (reason.code.value,))
