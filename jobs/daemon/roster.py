"""The fleet in force as those who pull see it."""

from collections.abc import Iterator
from contextlib import contextmanager

from jobs.daemon.fleets import Fleets, OpenFleet
from jobs.hooks.desk import Roster
from jobs.web.health import allowed_s


class FleetRoster:
    """A roster for the length of a question, on connections that stay open for that long. Safe for threads."""

    def __init__(self, fleets: Fleets) -> None:
        self._fleets = fleets
        self._last: tuple[OpenFleet, Roster] | None = None

    @contextmanager
    def __call__(self) -> Iterator[Roster]:
        """The fleet in force at this moment."""
        with self._fleets.in_force() as opened:
            last = self._last
            if last is None or last[0] is not opened:
                self._last = last = (opened, _roster(opened))
            yield last[1]


def _roster(opened: OpenFleet) -> Roster:
    return Roster(
        store=opened.fleet.store,
        workloads={member.workload.name: member.workload for member in opened.fleet.members},
        fresh_s=allowed_s(opened.config.apply.every),
    )
