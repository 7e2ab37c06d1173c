"""The engine is called as a fleet calls it."""

from datetime import timedelta
from itertools import islice

import pytest

from benchmarks.accuracy.generated import START, loads
from benchmarks.cost import worked
from benchmarks.engine import CORE_MEMBERS, HISTORY_DAYS, Work, forecast, fresh, on_day
from forecaster.errors import NotEnoughHistory
from forecaster.models.catalogue import DEFAULT_MEMBERS

SERIES = dict(islice(loads(HISTORY_DAYS + 1), 2))


def test_a_chunk_has_28_days_of_history_on_either_day() -> None:
    first, then = on_day(SERIES, 0), on_day(SERIES, 1)
    assert first.mean.shape == then.mean.shape == (2, HISTORY_DAYS * 288)
    assert then.start - first.start == timedelta(days=1)
    assert first.start == START


def test_the_next_day_goes_on_from_what_was_kept() -> None:
    issued = forecast(fresh(on_day(SERIES, 0), CORE_MEMBERS))
    then = on_day(SERIES, 1)
    answers = forecast(Work(panel=then, states=tuple(one.state for one in issued), members=CORE_MEMBERS))
    assert [one.forecast.start for one in answers] == [START + timedelta(days=HISTORY_DAYS + 1)] * 2
    assert {member.name for member in answers[0].forecast.members} == set(CORE_MEMBERS)


def test_a_chunk_that_cannot_be_forecast_is_no_benchmark() -> None:
    panel = on_day({name: series.between(START, START + timedelta(hours=2)) for name, series in SERIES.items()}, 0)
    with pytest.raises(NotEnoughHistory):
        forecast(fresh(panel, CORE_MEMBERS))


def test_the_core_is_part_of_the_ensemble() -> None:
    assert set(CORE_MEMBERS) < set(DEFAULT_MEMBERS)


def test_a_worker_tells_what_a_chunk_took() -> None:
    done = worked(fresh(on_day(SERIES, 0), CORE_MEMBERS))
    assert len(done.issued) == 2
    assert done.cpu_s > 0
    assert done.worker_mb > 10
