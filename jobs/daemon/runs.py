"""The two halves of the line as the daemon runs them: alone on the store, counted, told, and never the end of the daemon."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Condition, Lock

import structlog

from forecaster.errors import ForecasterError, StoreError
from forecaster.ports import Clock
from forecaster.units import iso
from jobs.apply import apply_fleet
from jobs.daemon.due import is_due, last_planned
from jobs.daemon.fleets import Fleets, OpenFleet
from jobs.daemon.reload import look_again, reload
from jobs.failure import Failure, failure
from jobs.forecast import forecast_fleet
from jobs.leases import lease_of
from jobs.operating_point import TUNE, choose_in_turn
from jobs.pruning import prune_daily
from jobs.telemetry.metrics import Metrics
from jobs.telemetry.news import News
from jobs.telemetry.runs import Diary, Half, Outcome, Run, outcome_of

log = structlog.get_logger()


class Runs:
    """What the schedule calls. A call is one run, or none where nothing is due; it never raises.

    Safe for threads: a call waits for a run of the same half that is at work in this process.
    """

    def __init__(self, fleets: Fleets, clock: Clock, metrics: Metrics, diary: Diary) -> None:
        self._fleets = fleets
        self._clock = clock
        self._metrics = metrics
        self._diary = diary
        self._news = News()
        self._forecast_at: datetime | None = None
        self._forecast_for: frozenset[str] = frozenset()
        self._turns = {half: Lock() for half in Half}
        self._change = Condition()
        self._at_work = 0
        self._ending = False

    def apply(self) -> None:
        """Observe, correct, guard and write every floor once."""
        self._run(Half.APPLY, self._apply)

    def forecast(self) -> bool:
        """Forecast and plan if it is due; whether new plans may be there now. Objects of templates are looked up before."""
        self._run(Half.FORECAST, self._look_again)
        return self._run(Half.FORECAST, self._forecast) in {Outcome.DONE, Outcome.PARTLY}

    def choose(self) -> None:
        """Choose operating points whose turn it is; nothing where another process does."""
        with self._working() as wanted:
            if not wanted:
                return
            try:
                with self._fleets.in_force() as opened, _alone(opened, TUNE) as ours:
                    if ours:
                        choose_in_turn(opened.fleet, self._clock.now().replace(microsecond=0))
            except Exception:  # whatever breaks a choice must not end the daemon: the next forecast brings the next try
                log.exception(TUNE)

    def reload(self, path: Path) -> float | None:
        """Put the configuration on disk in force; how often it wants to apply, in seconds, None when it was refused."""
        with self._working() as wanted:
            if wanted and reload(path, self._fleets, self._metrics, self._clock):
                return self._fleets.current.config.apply.every
            return None

    def end(self, timeout_s: float) -> bool:
        """Begin no further run and wait for those at work; False when one still is after that time."""
        with self._change:
            self._ending = True
            return self._change.wait_for(lambda: self._at_work == 0, timeout_s)

    def _run(self, half: Half, work: Callable[[OpenFleet, datetime], tuple[Outcome, str] | None]) -> Outcome | None:
        """Do the work and say what became of it; None when there was nothing to do."""
        with self._turns[half], self._working() as wanted:
            if not wanted:
                return None
            now, begun_s = self._clock.now().replace(microsecond=0), self._clock.monotonic()  # whole seconds, as plans are named
            try:
                with self._fleets.in_force() as opened:
                    ended = work(opened, now)
            except ForecasterError as error:
                ended = self._failed(half, error)
            except Exception as error:  # whatever breaks a run must not end the daemon: the next tick tries again
                log.exception(half.value)
                ended = self._failed(half, error)
            if ended is None:
                return None
            outcome, sentence = ended
            duration_s = self._clock.monotonic() - begun_s
            run = Run(half=half, at=now, ended_at=self._clock.now(), duration_s=duration_s, outcome=outcome, sentence=sentence)
            self._diary.enter(run)
            self._metrics.record_run(run)
            self._news.tell_run(run)
            return outcome

    def _apply(self, opened: OpenFleet, now: datetime) -> tuple[Outcome, str]:
        with _alone(opened, Half.APPLY) as ours:
            if not ours:
                if opened.config.lease is not None:
                    self._diary.stand_by(now)
                return _skipped(Half.APPLY)
            cycles = apply_fleet(opened.fleet, now)
        self._metrics.record_cycles(cycles, now)
        self._news.tell_cycles(cycles)
        records = [record for cycle in cycles for record in cycle.records]
        written = sum(record.applied is not None and record.applied.written for record in records)
        done = sum(record.error is None for record in records)
        return _ended(f"floors decided: {done}, written: {written}", [f for cycle in cycles for f in cycle.failures], done)

    def _forecast(self, opened: OpenFleet, now: datetime) -> tuple[Outcome, str] | None:
        planned_at = self._forecast_at if opened.workloads <= self._forecast_for else None
        if not is_due(planned_at, opened.changed_at, opened.config.forecast.every, now):
            return None
        with _alone(opened, Half.FORECAST) as ours:
            if not ours:
                return _skipped(Half.FORECAST)
            if self._made_by_others(opened, now):
                return None
            try:
                drafts = forecast_fleet(opened.fleet, now)
            except StoreError:
                raise  # nothing was kept: due again at the next look
            except Exception:
                self._remember(opened, now)  # a fault of ours costs one try an interval, not one a look
                raise
        self._remember(opened, now)
        self._metrics.record_drafts(drafts)
        self._news.tell_drafts(drafts)
        prune_daily(opened.fleet, now)
        plans, waiting = sum(len(draft.plans) for draft in drafts), sum(len(draft.waiting) for draft in drafts)
        return _ended(f"plans made: {plans}, awaiting approval: {waiting}", [f for draft in drafts for f in draft.failures], plans)

    def _made_by_others(self, opened: OpenFleet, now: datetime) -> bool:
        """Whether the store has plans that are young enough, of another process or of the time before the start."""
        every_s = opened.config.forecast.every
        found = last_planned(opened.fleet, now, every_s)
        if found is None or is_due(found, opened.changed_at, every_s, now):
            return False
        self._remember(opened, found)
        self._diary.found(Half.FORECAST, found)
        self._metrics.record_success(Half.FORECAST, found)
        log.info("forecast", sentence=f"the plans of {iso(found)} are younger than {every_s / 60:g} min: the next forecast is due then")
        return True

    def _remember(self, opened: OpenFleet, at: datetime) -> None:
        self._forecast_at, self._forecast_for = at, opened.workloads

    def _look_again(self, _: OpenFleet, __: datetime) -> None:
        look_again(self._fleets, self._metrics, self._clock)

    def _failed(self, half: Half, error: Exception) -> tuple[Outcome, str]:
        failed = failure(half.value, error)
        self._metrics.record_failures((failed,))
        return Outcome.FAILED, failed.sentence

    @contextmanager
    def _working(self) -> Iterator[bool]:
        """Whether a run may begin; it is waited for at the end."""
        with self._change:
            wanted = not self._ending
            self._at_work += 1
        try:
            yield wanted
        finally:
            with self._change:
                self._at_work -= 1
                self._change.notify_all()


@contextmanager
def _alone(opened: OpenFleet, half: str) -> Iterator[bool]:
    """Hold the lease of one half of the line, or of what is beside it; False where another process does the work. Raises StoreError."""
    lease = lease_of(opened.config, opened.folder, str(half), lingers=True)
    ours = lease.try_acquire()
    try:
        yield ours
    finally:
        if ours:
            lease.release()


def _skipped(half: Half) -> tuple[Outcome, str]:
    return Outcome.SKIPPED, f"another {half} run is at work on this store; nothing was done"


def _ended(sentence: str, failures: list[Failure], done: int) -> tuple[Outcome, str]:
    """The outcome, and in the sentence how much failed and how it began."""
    if not failures:
        return outcome_of(0, done), sentence
    return outcome_of(len(failures), done), f"{sentence}, failures: {len(failures)}; the first: {failures[0].sentence}"
