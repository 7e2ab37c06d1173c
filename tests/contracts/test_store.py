"""What every store promises, whatever it is kept in."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.errors import HistoryAtOtherStep
from forecaster.forecast import State
from forecaster.ports import Store
from forecaster.series import Signal
from forecaster.units import DAY_S
from tests.contracts.store import Broken, Interrupted, after, forecast, plan, record, ruling, same, series, span

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

NAN = float("nan")
DAY = span(0, DAY_S)


# history


def test_history_is_read_as_it_was_measured(any_store: Store) -> None:
    measured = series([1, 2.5, NAN, 4])
    any_store.append_history("chat", measured)
    assert any_store.history("chat", Signal.RPM, span(0, 1200), 300) == measured


def test_a_window_of_history_holds_the_buckets_that_start_in_it_and_no_other(any_store: Store) -> None:
    any_store.append_history("chat", series([1, 2, 3, 4]))
    assert any_store.history("chat", Signal.RPM, span(300, 900), 300) == series([2, 3], start_s=300)


def test_histories_are_kept_together_all_or_none(any_store: Store) -> None:
    pairs = [("chat", series([1, 2])), ("embed", series([3])), ("chat", series([4], signal=Signal.CONCURRENCY)), ("idle", series([NAN]))]
    any_store.append_histories(pairs)
    for workload, kept in pairs:
        assert any_store.history(workload, kept.signal, span(0, 300 * len(kept)), 300) == kept
    with pytest.raises(Interrupted):
        any_store.append_histories(Broken(("chat", series([9, 9]))))
    assert any_store.history("chat", Signal.RPM, span(0, 600), 300) == series([1, 2])


def test_a_window_off_the_grid_begins_with_the_first_bucket_that_starts_in_it(any_store: Store) -> None:
    any_store.append_history("chat", series([1, 2, 3, 4]))
    assert any_store.history("chat", Signal.RPM, span(1, 601), 300) == series([2, 3], start_s=300)


def test_a_window_between_two_bucket_starts_holds_nothing(any_store: Store) -> None:
    any_store.append_history("chat", series([1, 2]))
    assert len(any_store.history("chat", Signal.RPM, span(1, 300), 300)) == 0


def test_what_was_never_kept_is_unknown_and_not_zero(any_store: Store) -> None:
    any_store.append_history("chat", series([7], start_s=300))
    assert any_store.history("chat", Signal.RPM, span(0, 900), 300) == series([NAN, 7, NAN])
    assert any_store.history("other", Signal.RPM, span(0, 900), 300) == series([NAN, NAN, NAN])


def test_history_crosses_midnight_and_skips_days_without_measurement(any_store: Store) -> None:
    any_store.append_history("chat", series([1, 2, 3], start_s=16 * 3600 - 300))
    any_store.append_history("chat", series([4], start_s=4 * DAY_S))
    read = any_store.history("chat", Signal.RPM, span(0, 5 * DAY_S), 300)
    assert len(read) == 5 * 288
    assert read.between(after(16 * 3600 - 300), after(16 * 3600 + 600)) == series([1, 2, 3], start_s=16 * 3600 - 300)
    assert read.between(after(4 * DAY_S), after(4 * DAY_S + 300)) == series([4], start_s=4 * DAY_S)
    assert np.isnan(read.mean).sum() == 5 * 288 - 4


def test_a_later_measurement_replaces_an_earlier_one_and_nan_replaces_nothing(any_store: Store) -> None:
    any_store.append_history("chat", series([1, 2, NAN, NAN]))
    any_store.append_history("chat", series([9, NAN, 8, NAN]))
    assert any_store.history("chat", Signal.RPM, span(0, 1200), 300) == series([9, 2, 8, NAN])


def test_a_measured_zero_is_kept_as_zero(any_store: Store) -> None:
    any_store.append_history("chat", series([5]))
    any_store.append_history("chat", series([0]))
    assert any_store.history("chat", Signal.RPM, span(0, 300), 300) == series([0])


def test_history_kept_twice_is_history_kept_once(any_store: Store) -> None:
    for _ in range(2):
        any_store.append_history("chat", series([1, NAN, 3]))
    assert any_store.history("chat", Signal.RPM, span(0, 900), 300) == series([1, NAN, 3])


def test_workloads_and_signals_do_not_mix(any_store: Store) -> None:
    any_store.append_history("chat", series([1]))
    any_store.append_history("chat", series([2], signal=Signal.CONCURRENCY))
    any_store.append_history("embed", series([3]))
    assert any_store.history("chat", Signal.RPM, span(0, 300), 300) == series([1])
    assert any_store.history("chat", Signal.CONCURRENCY, span(0, 300), 300) == series([2], signal=Signal.CONCURRENCY)
    assert any_store.history("embed", Signal.RPM, span(0, 300), 300) == series([3])


def test_history_kept_at_another_step_only_is_refused_with_both_steps_and_the_remedy(any_store: Store) -> None:
    any_store.append_history("chat", series([1], step_s=60))
    with pytest.raises(HistoryAtOtherStep) as refused:
        any_store.history("chat", Signal.RPM, DAY, 300)
    assert str(refused.value) == ("the rpm history of chat is kept in steps of 60 s, not of 300 s: set the step back, or start a new store")


def test_history_kept_at_two_steps_is_read_at_either(any_store: Store) -> None:
    any_store.append_history("chat", series([1], step_s=60))
    any_store.append_history("chat", series([2], step_s=300))
    assert any_store.history("chat", Signal.RPM, span(0, 60), 60) == series([1], step_s=60)
    assert any_store.history("chat", Signal.RPM, span(0, 300), 300) == series([2])
    assert np.isnan(any_store.history("chat", Signal.RPM, span(DAY_S, 2 * DAY_S), 300).mean).all()


def test_a_series_without_measurement_leaves_no_trace(any_store: Store) -> None:
    any_store.append_history("chat", series([NAN, NAN], step_s=60))
    any_store.append_history("chat", series([], step_s=60))
    assert any_store.history("chat", Signal.RPM, span(0, 300), 300) == series([NAN])


# forecasts


def test_forecasts_are_read_oldest_first_by_the_instant_of_issue(any_store: Store) -> None:
    issued = [forecast(after(s)) for s in (600, 0, 300)]
    any_store.append_forecasts([("chat", f) for f in issued])
    read = any_store.forecasts("chat", Signal.RPM, span(0, 600))
    assert same(read, (issued[1], issued[2]))


def test_a_forecast_issued_again_replaces_itself(any_store: Store) -> None:
    any_store.append_forecasts([("chat", forecast(load=100)), ("chat", forecast(load=200))])
    any_store.append_forecasts([("chat", forecast(load=300))])
    assert same(any_store.forecasts("chat", Signal.RPM, DAY), (forecast(load=300),))


def test_forecasts_of_workloads_and_signals_do_not_mix(any_store: Store) -> None:
    any_store.append_forecasts([("chat", forecast()), ("chat", forecast(signal=Signal.TOKENS)), ("embed", forecast(load=5))])
    assert same(any_store.forecasts("chat", Signal.TOKENS, DAY), (forecast(signal=Signal.TOKENS),))
    assert same(any_store.forecasts("embed", Signal.RPM, DAY), (forecast(load=5),))
    assert any_store.forecasts("embed", Signal.TOKENS, DAY) == ()


def test_instants_are_told_apart_to_the_microsecond(any_store: Store) -> None:
    any_store.append_forecasts([("chat", forecast(after(0.000001))), ("chat", forecast(after(0.000002)))])
    assert len(any_store.forecasts("chat", Signal.RPM, span(0.000001, 0.000002))) == 1


def test_a_batch_of_forecasts_that_breaks_half_way_leaves_nothing(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_forecasts(Broken(("chat", forecast())))
    assert any_store.forecasts("chat", Signal.RPM, DAY) == ()


# states


def test_the_latest_state_under_a_key_wins(any_store: Store) -> None:
    assert any_store.states(["chat/rpm"]) == {}
    for version, payload in ((1, b"old"), (2, b"\x00new\xff")):
        any_store.save_states({"chat/rpm": State(model="profile", version=version, payload=payload)})
    any_store.save_states({"embed/rpm": State(model="prophet", version=1, payload=b"")})
    assert any_store.states(["chat/rpm", "nobody"]) == {"chat/rpm": State(model="profile", version=2, payload=b"\x00new\xff")}


# plans


def test_plans_are_read_oldest_first_by_the_instant_of_issue(any_store: Store) -> None:
    issued = [plan(after(s), replicas=s) for s in (600, 0, 300)]
    any_store.append_plans(issued)
    assert same(any_store.plans("chat", "h100", span(0, 600)), (issued[1], issued[2]))


def test_a_plan_made_again_replaces_itself(any_store: Store) -> None:
    any_store.append_plans([plan(replicas=4)])
    any_store.append_plans([plan(replicas=5)])
    assert same(any_store.plans("chat", "h100", DAY), (plan(replicas=5),))


def test_plans_of_workloads_and_pools_do_not_mix(any_store: Store) -> None:
    any_store.append_plans([plan(), plan(pool="a100", replicas=1), plan(workload="embed", replicas=2)])
    assert same(any_store.plans("chat", "a100", DAY), (plan(pool="a100", replicas=1),))
    assert same(any_store.plans("embed", "h100", DAY), (plan(workload="embed", replicas=2),))


def test_only_the_newest_plans_are_read_when_only_so_many_are_asked_for(any_store: Store) -> None:
    issued = [plan(after(s)) for s in (0, 300, 600)]
    any_store.append_plans(issued)
    assert same(any_store.plans("chat", "h100", span(0, 601), last=2), (issued[1], issued[2]))
    assert same(any_store.plans("chat", "h100", span(0, 600), last=1), (issued[1],))
    assert same(any_store.plans("chat", "h100", span(0, 601), last=9), tuple(issued))
    assert any_store.plans("chat", "h100", span(0, 601), last=0) == ()


@pytest.mark.parametrize(
    ("start_s", "end_s", "floors"),
    [(0, 60, [0]), (350, 650, [1, 2]), (600, 900, [2]), (-900, 0, [0]), (900, 999, [2]), (-1, 999, [0, 1, 2])],
)
def test_only_the_floors_within_a_span_are_read_or_the_nearest(any_store: Store, start_s: int, end_s: int, floors: list[int]) -> None:
    pieces = tuple(replace(plan().floors[0], start=after(300 * i), until=after(300 * i + 300), replicas=i) for i in range(3))
    any_store.append_plans([replace(plan(), floors=pieces)])
    (read,) = any_store.plans("chat", "h100", DAY, span=span(start_s, end_s))
    assert same(read, replace(plan(), floors=tuple(pieces[i] for i in floors)))


def test_what_many_have_is_read_at_once_and_who_has_nothing_is_left_out(any_store: Store) -> None:
    """At once or one by one, the same is read."""
    names = ("chat", "embed", "idle")
    any_store.append_plans([plan(after(s), workload=name) for name in names[:2] for s in (0, 300, 9_000)])
    any_store.append_records([record(after(s), workload=name, target=target) for name in names[:2] for target in "ab" for s in (-900, 300)])
    for said in (ruling(after(0)), ruling(after(600)), ruling(after(9), workload="embed"), ruling(after(-9), workload="embed")):
        any_store.append_ruling(said)
    window, part, pools = span(0, 601), span(0, 60), [(name, "h100") for name in names]
    plans = {pool: any_store.plans(*pool, window, span=part) for pool in pools[:2]}
    assert {pool: len(found) for pool, found in plans.items()} == dict.fromkeys(pools[:2], 2)
    read = any_store.plans_of(pools, window, span=part)
    assert read.keys() == plans.keys()
    assert all(same(read[pool], plans[pool]) for pool in pools[:2])
    assert any_store.records_of(names, window) == {name: any_store.records(name, window) for name in names[:2]}
    assert any_store.rulings_of(names, window) == {name: any_store.rulings(name, window) for name in names[:2]}
    assert (any_store.plans_of([], window), any_store.records_of([], window), any_store.rulings_of([], window)) == ({}, {}, {})


def test_a_batch_of_plans_that_breaks_half_way_leaves_nothing(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_plans(Broken(plan()))
    assert any_store.plans("chat", "h100", DAY) == ()


# all


def test_an_empty_batch_is_no_error(any_store: Store) -> None:
    any_store.append_forecasts([])
    any_store.append_plans([])
    any_store.append_histories([])
    any_store.append_records([])
    any_store.append_marks("chat", [])
    assert any_store.records("chat", DAY) == ()


def test_windows_end_before_their_end_and_start_at_their_start(any_store: Store) -> None:
    edges = [after(0), after(60)]
    any_store.append_forecasts([("chat", forecast(at)) for at in edges])
    any_store.append_plans([plan(at) for at in edges])
    any_store.append_records([record(at) for at in edges])
    for at in edges:
        any_store.append_ruling(ruling(at))
    window = span(0, 60)
    assert [f.issued_at for f in any_store.forecasts("chat", Signal.RPM, window)] == [after(0)]
    assert [p.issued_at for p in any_store.plans("chat", "h100", window)] == [after(0)]
    assert [r.at for r in any_store.records("chat", window)] == [after(0)]
    assert [r.at for r in any_store.rulings("chat", window)] == [after(0)]


def test_what_lies_before_1970_is_kept_like_the_rest(any_store: Store) -> None:
    early = series([1, NAN, 3], start_s=-100 * 366 * DAY_S)
    any_store.append_history("chat", early)
    window = span(-100 * 366 * DAY_S, -100 * 366 * DAY_S + 900)
    assert any_store.history("chat", Signal.RPM, window, 300) == early
    any_store.append_records([record(early.start - timedelta(microseconds=1))])
    assert len(any_store.records("chat", window)) == 1
