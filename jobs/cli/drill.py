"""What `check --drill` prints: the promises as they were rehearsed, workload by workload."""

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from connectors.levers.registry import open_levers
from forecaster.ports import Lease
from jobs.cli.options import DONE, PARTLY, Output
from jobs.cli.session import Session, session
from jobs.cli.show import Table, say, show
from jobs.config.document import LogSection
from jobs.config.paths import beside
from jobs.drill.drill import drill
from jobs.drill.lease import NAME
from jobs.drill.levers import drill_levers
from jobs.drill.outcome import Outcome, Result
from jobs.leases import lease_of
from jobs.levers.desk import values_of
from jobs.telemetry import start_logging

_IN_MEMORY = "memory:"


def show_drill(config: Path | None, now: str | None, workload: str | None, output: Output) -> int:
    """Rehearse and print; the exit code. Raises ConfigRejected and StoreError."""
    with session(config, now, rehearse="all") as at:
        start_logging(LogSection(level="error"))  # that something is tried again is no finding
        alone = at.store_url == _IN_MEMORY and at.config.lease is None
        lease = None if alone else _leases(at)
        unmade = at.fleet.problems  # told already
        outcomes = drill(at.fleet, at.members(workload), lease, at.now)
        if workload is None:
            outcomes += _levers(at)
    _show(outcomes, output)
    counted = Counter(outcome.result for outcome in outcomes)
    say(f"{', '.join(f'{counted[result]} {result}' for result in Result)}; none of your objects was written")
    return PARTLY if counted[Result.FAIL] or unmade else DONE


def _levers(at: Session) -> tuple[Outcome, ...]:
    """Those of the section `tiers`, where there is one."""
    tiers = at.config.tiers
    if tiers is None:
        return ()
    levers = open_levers({name: beside(config, at.path.parent) for name, config in tiers.levers.items()})
    return tuple(drill_levers(levers, values_of(tiers), at.now))


def _leases(at: Session) -> Callable[[str], Lease]:
    return lambda holder: lease_of(at.config, at.path.parent, NAME, holder=holder)


def _show(outcomes: tuple[Outcome, ...], output: Output) -> None:
    """For people a table each workload, target and pool; for programs one of all."""
    columns = ("promise", "result", "evidence")
    if output is not Output.TABLE:
        rows = tuple((each.workload, each.where, *_cells(each)) for each in outcomes)
        show(Table(title="Drill", columns=("workload", "where", *columns), rows=rows), output)
        return
    for whose, group in groupby(outcomes, key=lambda each: (each.workload, each.where)):
        title = " on ".join(filter(None, whose))
        show(Table(title=title, columns=columns, rows=tuple(_cells(each) for each in group), named_by=2), output)


def _cells(outcome: Outcome) -> tuple[str, str, str]:
    return str(outcome.promise), str(outcome.result), outcome.evidence
