"""One workload on its way down the first half of the line."""

from dataclasses import dataclass

from forecaster.forecast import Forecast
from forecaster.plan import Plan
from forecaster.series import Series
from forecaster.trust import Trust
from jobs.failure import Failure
from jobs.fleet import Member


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One workload on its way down the line. failures: what went wrong so far; it goes on with what it has.

    believed: the load forecasts that plans rest on, where they were judged; trusts: what was thought of the issued ones. notes: what a
    person should know and is no failure.
    """

    member: Member
    histories: tuple[Series, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    believed: tuple[Forecast, ...] = ()
    trusts: tuple[Trust, ...] = ()
    plans: tuple[Plan, ...] = ()
    waiting: tuple[Plan, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def name(self) -> str:
        """The workload's name."""
        return self.member.workload.name

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each thing that failed."""
        return tuple(failed.sentence for failed in self.failures)
