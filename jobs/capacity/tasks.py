"""What a task takes under each variant, asked of the workload's source over the days that `forecaster cost` looks at."""

from datetime import datetime

from forecaster.errors import HistoryAtOtherStep, SourceError
from forecaster.marks import Mark
from forecaster.ports import MetricSource, Query, Store
from forecaster.series import Series, Signal, Window
from forecaster.unit_cost import Task
from jobs.cost.asked import TaskAsked, task_of
from jobs.fleet import Member
from jobs.route import route
from jobs.savings import whole_days

_DAYS = 7


class Tasks:
    """The tasks of one workload and its variants; each question is asked once, whoever asks it."""

    def __init__(self, store: Store, member: Member, now: datetime) -> None:
        self._store, self._member, self._window = store, member, whole_days(now, _DAYS)
        self._source = _AskedOnce(member.source)
        self._load: Series | None = None

    def of(self, asked: TaskAsked) -> Task | str:
        """What a task took, or the sentence that says why nobody knows. Raises StoreError."""
        try:
            return task_of(asked, self._source, self._requests())
        except HistoryAtOtherStep as error:
            return f"what a task takes is not known: {error}"

    def _requests(self) -> Series:
        if self._load is None:
            self._load = route(self._store, self._member.lineage, Signal.RPM, self._window, self._member.step_s).series
        return self._load


class _AskedOnce:
    """A source that remembers what it answered, and what it could not."""

    def __init__(self, source: MetricSource) -> None:
        self._source = source
        self._told: dict[tuple[Query, Window, int], Series | SourceError] = {}

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        key = (query, window, step_s)
        if key not in self._told:
            try:
                self._told[key] = self._source.fetch(query, window, step_s)
            except SourceError as error:
                self._told[key] = error
        told = self._told[key]
        if isinstance(told, SourceError):
            raise told
        return told

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:
        return self._source.remarks(query, window, now)
