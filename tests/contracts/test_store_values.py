"""Whatever the vocabulary can say comes back from a store as it was given."""

from datetime import timedelta

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecaster.decision import CycleRecord, Ruling
from forecaster.events import EventEntry
from forecaster.forecast import Forecast, State
from forecaster.marks import Mark
from forecaster.plan import Plan
from forecaster.ports import Store
from forecaster.series import Series, Window
from tests.contracts.store import (
    many_event_entries,
    many_forecasts,
    many_marks,
    many_plans,
    many_records,
    many_rulings,
    many_series,
    names,
    same,
)

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

# One store serves all examples of a test: each looks only at what it has just written, under its own key.
examples = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

TICK = timedelta(microseconds=1)


@examples
@given(workload=names, measured=many_series())
def test_any_history_comes_back_equal(any_store: Store, workload: str, measured: Series) -> None:
    any_store.append_history(workload, measured)
    window = Window(start=measured.start, end=max(measured.end, measured.start + TICK))
    read = any_store.history(workload, measured.signal, window, measured.step_s)
    known = ~np.isnan(measured.mean)
    assert read.start == measured.start
    assert np.array_equal(read.mean[: len(measured)][known], measured.mean[known])
    assert np.array_equal(read.peak[: len(measured)][known], measured.peak[known])


@examples
@given(workload=names, issued=many_forecasts())
def test_any_forecast_comes_back_equal(any_store: Store, workload: str, issued: Forecast) -> None:
    any_store.append_forecasts([(workload, issued)])
    window = Window(start=issued.issued_at, end=issued.issued_at + TICK)
    assert same(any_store.forecasts(workload, issued.signal, window), (issued,))


@examples
@given(key=names, state=st.builds(State, model=names, version=st.integers(1, 2**31 - 1), payload=st.binary()))
def test_any_state_comes_back_equal(any_store: Store, key: str, state: State) -> None:
    any_store.save_states({key: state})
    assert any_store.states([key]) == {key: state}


@examples
@given(made=many_plans())
def test_any_plan_comes_back_equal(any_store: Store, made: Plan) -> None:
    any_store.append_plans([made])
    window = Window(start=made.issued_at, end=made.issued_at + TICK)
    assert same(any_store.plans(made.workload, made.pool, window), (made,))


@examples
@given(kept=many_records)
def test_any_record_comes_back_equal(any_store: Store, kept: CycleRecord) -> None:
    any_store.append_records([kept])
    read = any_store.records(kept.decision.workload, Window(start=kept.at, end=kept.at + TICK))
    assert kept in read
    assert all(r.at <= kept.at for r in read)


@examples
@given(given_word=many_rulings())
def test_any_ruling_comes_back_equal(any_store: Store, given_word: Ruling) -> None:
    any_store.append_ruling(given_word)
    read = any_store.rulings(given_word.workload, Window(start=given_word.at, end=given_word.at + TICK))
    assert read[-1] == given_word


@examples
@given(workload=names, said=many_marks)
def test_any_mark_comes_back_equal(any_store: Store, workload: str, said: Mark) -> None:
    any_store.append_marks(workload, [said])
    assert said in any_store.marks(workload, said.signal, said.span)


@examples
@given(said=many_event_entries())
def test_any_entry_of_an_event_comes_back_equal(any_store: Store, said: EventEntry) -> None:
    any_store.append_events([said])
    assert said in any_store.events(Window(start=said.at, end=said.at + TICK))
