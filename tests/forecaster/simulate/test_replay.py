"""The replay: hand-made books, two loops that agree, and an independent one that knows no formula."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.cost import Prices
from forecaster.series import Floats
from forecaster.simulate.autoscaler import HpaBehavior
from forecaster.simulate.fleet import Fleet, Policies, Traffic, replicas_for
from forecaster.simulate.kubernetes import OneHpa
from forecaster.simulate.replay import all_at_once, clairvoyant_hours, one_by_one, replay
from tests.simulation.plain_replay import plain_replay

SMALL = Fleet(replica_rpm=10, lead_min=2, memory_min=2)


def traffic(load: list[float], before: list[float], edges: list[int] | None = None) -> Traffic:
    return Traffic(before_rpm=np.array(before), rpm=np.array(load), edges=np.array(edges or [0, len(load)]))


def policies(targets: list[float], floors: Sequence[Sequence[float]], start: list[float] | None = None) -> Policies:
    return Policies(
        targets=np.array(targets),
        floors=np.array(floors, dtype=float),
        column=np.arange(len(floors[0])),
        start=None if start is None else np.array(start),
    )


def test_a_surge_is_late_until_what_was_requested_for_it_is_ready() -> None:
    """35 arrive where 10 are served: 25 are late, 6 replicas are wanted for the 35 + 25, and serve two minutes later."""
    outcome = replay(traffic([35, 10, 10, 10, 10, 10], before=[10, 10], edges=[0, 1, 2, 3, 4, 5, 6]), policies([1.0], [[1] * 6]), SMALL)
    assert outcome.late.tolist() == [[25, 10, 10, 0, 0, 0]]
    assert outcome.paid_min.tolist() == [[1, 6, 6, 4, 4, 1]]
    assert outcome.changes.tolist() == [[0, 1, 0, 1, 0, 1]]
    assert outcome.replica_hours.tolist() == [22 / 60]
    assert outcome.late_ratio.tolist() == [45 / 85]


def test_a_floor_raised_one_lead_time_before_the_surge_leaves_nothing_late() -> None:
    in_time = policies([1.0], [[4, 4, 4, 1, 1]])
    late_by_a_minute = policies([1.0], [[1, 4, 4, 1, 1]])
    surge = traffic([10, 10, 35, 10, 10], before=[10, 10])
    assert replay(surge, in_time, SMALL).late.sum() == 0
    assert replay(surge, late_by_a_minute, SMALL).late.sum() > 0


def test_the_newest_replicas_go_first_even_while_they_are_pending() -> None:
    """Wanted 1, 4, 2, 4: the two kept from the second minute serve in the fourth, the two requested again do not."""
    outcome = replay(traffic([10, 10, 10, 30], before=[10, 10], edges=[0, 3, 4]), policies([np.inf], [[1, 4, 2, 4]], [1]), SMALL)
    assert outcome.late.tolist() == [[0, 10]]


def test_without_an_autoscaler_the_fleet_is_the_floor() -> None:
    outcome = replay(traffic([99, 99, 99], before=[99]), policies([np.inf], [[3, 3, 3]], [3]), SMALL)
    assert outcome.paid_min.tolist() == [[9]]
    assert outcome.backlog.tolist() == [3 * 69]


def test_the_fleet_is_never_smaller_than_one() -> None:
    outcome = replay(traffic([0, 0], before=[0]), policies([0.7], [[0, 0]]), SMALL)
    assert outcome.paid_min.tolist() == [[2]]
    assert outcome.late_ratio.tolist() == [0]


def test_no_arrivals_are_no_lateness() -> None:
    assert replay(traffic([0.0], before=[0]), policies([1.0], [[1]]), SMALL).late_ratio.tolist() == [0]


def test_l21_float_noise_at_a_whole_number_of_replicas_asks_for_no_extra_one() -> None:
    load = 0.1 * 3 / 0.3  # 1.0000000000000002 where 1 is meant
    assert replicas_for(np.array([load * 6, 6.0, 6.001]), 1.0).tolist() == [6, 6, 7]
    outcome = replay(traffic([60 * load] * 3, before=[60 * load]), policies([1.0], [[1] * 3]), SMALL)
    assert outcome.paid_min.tolist() == [[18]]


def test_a_column_table_means_the_same_as_floors_written_out_a_minute() -> None:
    load = traffic([10, 20, 30, 40], before=[10])
    short = Policies(targets=np.array([0.8]), floors=np.array([[2.0, 5.0]]), column=np.array([0, 0, 1, 1]))
    assert replay(load, short, SMALL).paid_min.tolist() == replay(load, policies([0.8], [[2, 2, 5, 5]]), SMALL).paid_min.tolist()


def test_parts_add_up_to_the_whole() -> None:
    load = traffic([35, 10, 50, 10], before=[10], edges=[0, 1, 3, 4])
    outcome = replay(load, policies([0.9], [[1] * 4]), SMALL)
    assert outcome.parts(0, 3).replica_hours == outcome.replica_hours
    assert outcome.parts(1, 2).arrivals.tolist() == [60]


def test_the_clairvoyant_pays_each_minute_for_its_own_load_and_for_one_replica_at_least() -> None:
    assert clairvoyant_hours(np.array([0, 10, 10.1, 35.0]), SMALL) == (1 + 1 + 2 + 4) / 60


def test_traffic_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"traffic\.rpm must be finite"):
        traffic([np.nan], before=[1])


def test_parts_that_do_not_cover_the_traffic_are_refused() -> None:
    with pytest.raises(ValueError, match=r"traffic\.edges must increase from 0 to 2"):
        traffic([1, 2], before=[1], edges=[0, 1])


def test_floors_that_do_not_cover_the_traffic_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry a minute, got 1 for 2 minutes"):
        replay(traffic([1, 2], before=[1]), policies([1.0], [[1]]), SMALL)


def test_a_step_of_15_s_at_even_load_keeps_the_books_of_a_minute() -> None:
    minute = traffic([20, 20, 20], before=[20, 20])
    finer = Traffic(before_rpm=np.full(8, 20.0), rpm=np.full(12, 20.0), edges=np.array([0, 12]), step_s=15)
    calm = policies([1.0], [[1] * 3])
    for outcome in (replay(minute, calm, SMALL), replay(finer, calm.each_for(4), SMALL)):
        assert outcome.replica_hours.tolist() == [6 / 60]
        assert outcome.arrivals.tolist() == [60]
        assert outcome.late.tolist() == [[0]]


def test_in_finer_steps_late_is_still_what_waits_at_the_end_of_its_minute() -> None:
    """One replica serves 2.5 in 15 s: the 10 that come in the first quarter are served within the minute, those of the last are not."""
    early = Traffic(before_rpm=np.full(4, 4.0), rpm=np.array([40.0, 0, 0, 0]), edges=np.array([0, 4]), step_s=15)
    late = Traffic(before_rpm=np.full(4, 4.0), rpm=np.array([0, 0, 0, 40.0]), edges=np.array([0, 4]), step_s=15)
    alone = policies([np.inf], [[1] * 4], [1])
    assert replay(early, alone, SMALL).late.tolist() == [[0]]
    assert replay(late, alone, SMALL).late.tolist() == [[7.5]]


def test_a_lead_time_that_ends_within_a_step_serves_for_the_rest_of_it() -> None:
    """Asked for at the second minute and ready 1.25 minutes later: three quarters of the third."""
    fleet = Fleet(replica_rpm=10, lead_min=1.25)
    outcome = replay(traffic([10, 10, 30, 30], before=[10], edges=[0, 2, 3, 4]), policies([np.inf], [[1, 3, 3, 3]], [1]), fleet)
    assert outcome.late.tolist() == [[0, 30 - (10 + 0.75 * 20), 5]]


def test_replicas_that_start_must_be_at_least_one() -> None:
    with pytest.raises(ValueError, match=r"policies\.start must be at least 1"):
        policies([1.0], [[1]], [0])


def test_parts_of_finer_steps_are_whole_minutes() -> None:
    with pytest.raises(ValueError, match=r"traffic\.edges lie on whole minutes"):
        Traffic(before_rpm=np.ones(1), rpm=np.ones(8), edges=np.array([0, 3, 8]), step_s=15)


def test_cost_is_replica_hours_and_late_requests_at_their_prices() -> None:
    outcome = replay(traffic([35, 10, 10], before=[10, 10]), policies([np.inf], [[2, 2, 2]], [2]), SMALL)
    assert outcome.late_requests.tolist() == [15 + 5]
    assert outcome.cost(Prices(currency="EUR", gpu_hour=3, late_request=0.5)).tolist() == [6 / 60 * 3 + 20 * 0.5]


def test_a_metric_that_cannot_exceed_full_use_is_slower_to_see_a_surge() -> None:
    surge = traffic([10.0] * 3 + [60.0] * 20, before=[10] * 5)
    blind, seeing = (replace(policies([0.8], [[1] * 23]), behavior=HpaBehavior(capped=capped, metric_lag_s=0)) for capped in (True, False))
    assert replay(surge, blind, SMALL).late.sum() > replay(surge, seeing, SMALL).late.sum()


def test_k26_the_tolerance_of_a_hpa_swallows_the_last_step_of_a_ramp_and_a_floor_does_not() -> None:
    """The load ahead given to a real HPA as its metric leaves 100 replicas where 108 are needed; as a floor it is 108."""
    need = np.repeat([60.0, 80, 100, 108], 6)
    ahead = np.array([need[t : t + 3].max() for t in range(need.size)])
    hpa, asked = OneHpa(HpaBehavior(metric_lag_s=0), 60, 60, [60]), [60.0]
    for load in ahead.tolist():
        asked.append(hpa.replicas(1, asked[-1], load))
    by_metric, by_floor = asked[1:], np.ceil(ahead).tolist()
    assert (by_metric[-1], by_floor[-1]) == (100, 108)
    outcome = replay(
        traffic((need * SMALL.replica_rpm).tolist(), before=[600]), policies([np.inf] * 2, [by_metric, by_floor], [60, 60]), SMALL
    )
    assert outcome.late_ratio[0] > 0.01
    assert outcome.late_ratio[1] == 0


loads = st.lists(st.floats(0, 500, allow_subnormal=False), min_size=1, max_size=60)
floors = st.lists(st.integers(0, 40), min_size=60, max_size=60)
fleets = st.builds(Fleet, replica_rpm=st.floats(1, 50), lead_min=st.integers(0, 12), memory_min=st.integers(1, 6))
any_fleet = st.builds(Fleet, replica_rpm=st.floats(1, 50), lead_min=st.floats(0, 12), memory_min=st.integers(1, 6))
any_hpa = st.none() | st.builds(
    HpaBehavior,
    sync_s=st.sampled_from([15, 60, 120]),
    metric_lag_s=st.sampled_from([0, 30, 90]),
    maximum=st.sampled_from([None, 30]),
    capped=st.booleans(),
)


def in_minutes(load: list[float], step_s: int) -> Traffic:
    steps = 60 // step_s
    rpm = np.repeat(load, steps) * np.tile(np.linspace(1.5, 0.5, steps) if steps > 1 else 1.0, len(load))
    return Traffic(before_rpm=rpm[:1], rpm=rpm, edges=np.array(sorted({0, len(load) // 2 * steps, len(load) * steps})), step_s=step_s)


@given(
    load=loads,
    rows=st.lists(st.tuples(floors, st.floats(0.1, 1)), min_size=1, max_size=4),
    fleet=any_fleet,
    behavior=any_hpa,
    step_s=st.sampled_from([60, 60, 30, 15]),
)
def test_both_loops_keep_the_same_books_in_every_mode(
    load: list[float], rows: list[tuple[list[int], float]], fleet: Fleet, behavior: HpaBehavior | None, step_s: int
) -> None:
    stretch = in_minutes(load, step_s)
    asked = policies([target for _, target in rows], [row[: len(load)] for row, _ in rows])
    all_rows = replace(asked, behavior=behavior).each_for(60 // step_s)
    one, many = one_by_one(stretch, all_rows, fleet), all_at_once(stretch, all_rows, fleet)
    for name in ("arrivals", "late", "paid_min", "changes", "backlog"):
        np.testing.assert_allclose(getattr(one, name), getattr(many, name), rtol=1e-9, atol=1e-9, err_msg=name)


@given(load=loads, row=floors, fleet=any_fleet, behavior=any_hpa, step_s=st.sampled_from([60, 30]))
def test_what_arrives_is_served_or_waits(
    load: list[float], row: list[int], fleet: Fleet, behavior: HpaBehavior | None, step_s: int
) -> None:
    """Served by the end of minute k is what arrived less what waits there: it never falls, nor faster than what is paid for serves."""
    asked = replace(policies([0.8], [row[: len(load)]]), behavior=behavior)
    served, could = [0.0], [0.0]
    for minutes in range(1, len(load) + 1):
        stretch = in_minutes(load[:minutes], step_s)
        cut = replace(asked, column=asked.column[:minutes]).each_for(60 // step_s)
        outcome = replay(stretch, cut, fleet)
        served.append(outcome.arrivals.sum() - outcome.backlog[0])
        could.append(outcome.paid_min.sum() * fleet.replica_rpm)
        assert 0 <= outcome.late.sum() <= outcome.arrivals.sum() + 1e-6
    for (before, after), (least, most) in zip(pairwise(served), pairwise(could), strict=True):
        assert -1e-6 <= after - before <= most - least + 1e-6


@given(load=loads, row=floors, target=st.sampled_from([0.3, 0.5, 0.7, 1.0]), fleet=fleets)
def test_a_queue_of_requests_and_a_list_of_replicas_keep_the_same_books(
    load: list[float], row: list[int], target: float, fleet: Fleet
) -> None:
    whole = [float(round(a)) for a in load]
    mu = float(round(fleet.replica_rpm))
    rounded = Fleet(replica_rpm=mu, lead_min=fleet.lead_min, memory_min=fleet.memory_min)
    books = plain_replay(whole, row, before=whole[:5], mu=mu, target=target, lead=int(fleet.lead_min), memory=fleet.memory_min)
    outcome = replay(traffic(whole, before=whole[:5], edges=list(range(len(whole) + 1))), policies([target], [row[: len(whole)]]), rounded)
    np.testing.assert_allclose(outcome.late[0], books.late, atol=1e-6)
    assert outcome.paid_min[0].tolist() == books.fleet
    assert outcome.changes.sum() == books.changes
    assert outcome.backlog[0] == pytest.approx(books.waiting, abs=1e-6)
    assert books.served + books.waiting == pytest.approx(books.arrived, abs=1e-6)


@given(load=loads, low=floors, extra=floors, fleet=any_fleet)
def test_a_higher_floor_never_makes_more_late_where_no_autoscaler_answers_to_the_backlog(
    load: list[float], low: list[int], extra: list[int], fleet: Fleet
) -> None:
    n = len(load)
    high = [a + b for a, b in zip(low, extra, strict=True)]
    outcome = replay(traffic(load, before=load[:1]), policies([np.inf, np.inf], [low[:n], high[:n]], [1, 1]), fleet)
    assert outcome.late[1].sum() <= outcome.late[0].sum() + 1e-6


def saw(minutes: int) -> Floats:
    load: Floats = 200 + 150 * np.sin(np.arange(minutes) / 1_440 * 2 * np.pi) + 40.0 * (np.arange(minutes) % 7 == 0)
    return load


def test_many_policies_over_days_end_where_each_alone_ends() -> None:
    load = saw(3 * 1_440)
    stretch = Traffic(before_rpm=load[:5], rpm=load, edges=np.array([0, 1_440, 2_880, 4_320]))
    targets = np.linspace(0.3, 1, 20)
    many = Policies(targets=targets, floors=np.outer(np.arange(20), [1.0, 0.0]), column=np.arange(4_320) // 2_160)
    one, row = one_by_one(stretch, many, Fleet(replica_rpm=10)), all_at_once(stretch, many, Fleet(replica_rpm=10))
    np.testing.assert_allclose(one.late, row.late)
    np.testing.assert_array_equal(one.paid_min, row.paid_min)


@given(load=loads, row=floors, fleet=any_fleet, faster=st.floats(1, 3))
def test_more_capacity_never_makes_more_late_where_no_autoscaler_answers(
    load: list[float], row: list[int], fleet: Fleet, faster: float
) -> None:
    stretch, fixed = traffic(load, before=load[:1]), policies([np.inf], [row[: len(load)]], [1])
    sooner = replace(fleet, replica_rpm=fleet.replica_rpm * faster)
    assert replay(stretch, fixed, sooner).late.sum() <= replay(stretch, fixed, fleet).late.sum() + 1e-6


@given(load=loads, row=floors, fleet=any_fleet, less=st.floats(0, 1))
def test_a_shorter_lead_time_never_makes_more_late_where_no_autoscaler_answers(
    load: list[float], row: list[int], fleet: Fleet, less: float
) -> None:
    stretch, fixed = traffic(load, before=load[:1]), policies([np.inf], [row[: len(load)]], [1])
    sooner = replace(fleet, lead_min=fleet.lead_min * less)
    assert replay(stretch, fixed, sooner).late.sum() <= replay(stretch, fixed, fleet).late.sum() + 1e-6
