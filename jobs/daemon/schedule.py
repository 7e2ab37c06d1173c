"""When runs begin."""

from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from threading import Lock

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from forecaster.ports import Clock
from jobs.daemon.due import POLL_S
from jobs.daemon.runs import Runs
from jobs.telemetry.runs import Half

_THREADS = 3 * len(Half) + 3
"""A run of each half by the clock, a tick that finds it at work, one asked for in between that waits; a reload; the levers and a tick."""


class Schedule:
    """`apply` every so many seconds; a look whether a forecast is due every 15 s, so that one that was missed is made up for.

    Jobs live in memory only: what was missed while we were down is found in the store. Ticks that were missed are made up for by
    one run, and a half never overlaps itself: a tick that finds it at work is left out without a word, since a forecast takes longer than
    the looks for it are apart, and how long runs take is measured.
    """

    def __init__(self, runs: Runs, clock: Clock) -> None:
        self._runs = runs
        self._clock = clock
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(_THREADS)},
            job_defaults={"coalesce": True, "max_instances": _THREADS, "misfire_grace_time": None},
        )

    def start(self, apply_every_s: float) -> None:
        """Run both at once, and from then on by the clock."""
        now = self._clock.now()
        self._scheduler.add_job(_alone(self._runs.apply), "interval", seconds=apply_every_s, id=Half.APPLY.value, next_run_time=now)
        self._scheduler.add_job(_alone(self._forecast), "interval", seconds=POLL_S, id=Half.FORECAST.value, next_run_time=now)
        self._scheduler.start()

    def beside(self, work: Callable[[], None], every_s: float, name: str) -> None:
        """Call something else by the clock, too; it never overlaps itself."""
        self._scheduler.add_job(_alone(work), "interval", seconds=every_s, id=name)

    def apply_at_once(self) -> None:
        """Decide floors now, beside the clock; two that ask before it begins are one."""
        self._once(self._runs.apply, Half.APPLY)

    def reload(self, path: Path) -> None:
        """Read the configuration again, beside the clock: what it connects to may be slow to answer."""
        self._scheduler.add_job(self._reload, args=[path])

    def stop(self) -> None:
        """Begin no further run; those at work are not waited for."""
        self._scheduler.shutdown(wait=False)

    def _reload(self, path: Path) -> None:
        """Run both at once under a new configuration, and from then on by its intervals."""
        apply_every_s = self._runs.reload(path)
        if apply_every_s is None:
            return
        self._scheduler.reschedule_job(Half.APPLY.value, trigger="interval", seconds=apply_every_s)
        self._once(self._runs.apply, Half.APPLY)
        self._once(self._forecast, Half.FORECAST)

    def _forecast(self) -> None:
        if self._runs.forecast():
            self._runs.apply()  # fresh plans are in force at once, not an interval later
            self._runs.choose()

    def _once(self, run: Callable[[], object], half: Half) -> None:
        """Run beside the clock, after a run of the same half that is at work."""
        self._scheduler.add_job(run, id=f"{half.value}-at-once", replace_existing=True)


def _alone(work: Callable[[], object]) -> Callable[[], None]:
    """The work, or nothing while it is being done: APScheduler itself would warn of every tick that it leaves out."""
    turn = Lock()

    def begin() -> None:
        if turn.acquire(blocking=False):
            try:
                work()
            finally:
                turn.release()

    return begin
