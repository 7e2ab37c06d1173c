"""The fleet that is measured is one that works."""

from contextlib import closing
from datetime import timedelta

import numpy as np

from benchmarks.fleet import CountedExecutor, InMemory, Spent, fleet_of
from connectors.stores.memory import MemoryStore
from forecaster.models.catalogue import FALLBACK_MODEL
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from jobs.apply import apply_fleet
from jobs.forecast import forecast_fleet
from tests.values import NOW

QUERY = Query(signal=Signal.RPM, expression="load", unit=Unit.PER_MINUTE)


def test_a_source_in_memory_answers_at_finer_steps_and_inside_of_the_window_only() -> None:
    load = np.arange(4.0)
    source = InMemory(load=Series(signal=Signal.RPM, start=NOW, step_s=300, mean=load, peak=load))
    window = Window(start=NOW + timedelta(minutes=4), end=NOW + timedelta(minutes=11))
    assert source.fetch(QUERY, window, 60).mean.tolist() == [0, 1, 1, 1, 1, 1, 2]


def test_a_measured_fleet_is_planned_and_applied_without_a_failure_and_its_parts_are_counted() -> None:
    spent = Spent()
    with closing(MemoryStore()) as store:
        fleet = fleet_of(2, store, CountedExecutor(spent), FALLBACK_MODEL)
        begin = next(iter(fleet.members)).source
        assert isinstance(begin, InMemory)
        now = begin.load.start + timedelta(days=57, minutes=2)
        drafts = forecast_fleet(fleet, now)
        cycles = apply_fleet(fleet, now + timedelta(minutes=1))
    assert [(draft.problems, len(draft.plans)) for draft in drafts] == [((), 1)] * 2
    assert [(cycle.problems, len(cycle.records)) for cycle in cycles] == [((), 1)] * 2
    assert spent.seconds["models"] > 0
