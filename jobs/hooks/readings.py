"""What those who pull are told, as gauges of the moment: they go stale by themselves, unlike what the last run left."""

from collections.abc import Iterator

from forecaster.errors import ForecasterError
from jobs.hooks.answer import Answer
from jobs.hooks.desk import Desk
from jobs.telemetry import catalogue
from jobs.telemetry.metric import Metric
from jobs.telemetry.readings import Reading


def pulled(desk: Desk) -> tuple[Reading, ...]:
    """The floor that every pool's hook answers now, and how old what it rests on is; nothing where the store cannot be read."""
    try:
        return tuple(reading for known in desk.of_all() for reading in _of_pool(known))
    except ForecasterError:  # told and counted by the desk; a page that cannot tell floors still tells the rest
        return ()


def posted(desk: Desk) -> tuple[Reading, ...]:
    """What the last applies left, for a process that runs none: the same series that the daemon shows of its own."""
    try:
        found = desk.postings()
    except ForecasterError:  # as above
        return ()
    return tuple(
        reading
        for (workload, pool), posting in found.items()
        for reading in (
            *(Reading(metric=catalogue.FLOOR, labels=(workload, pool, target), value=floor) for target, floor in posting.floors.items()),
            *_known(catalogue.PLANNED, (workload, pool), posting.planned),
            *_known(catalogue.PLANNED_AHEAD, (workload, pool), posting.planned_ahead),
        )
    )


def _of_pool(known: Answer) -> Iterator[Reading]:
    labels = (known.workload, known.pool)
    yield from _known(catalogue.PULLED_FLOOR, labels, known.floor)
    yield from _known(catalogue.PULLED_AGE, labels, known.age_s)


def _known(metric: Metric, labels: tuple[str, ...], value: float | None) -> Iterator[Reading]:
    if value is not None:
        yield Reading(metric=metric, labels=labels, value=float(value))
