"""The replay: hand-made books, two loops that agree, and an independent one that knows no formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.series import Floats
from forecaster.simulate.fleet import Fleet, Policies, Traffic, replicas_for
from forecaster.simulate.replay import all_at_once, clairvoyant_hours, one_by_one, replay
from tests.simulation.plain_replay import plain_replay

SMALL = Fleet(replica_rpm=10, lead_min=2, memory_min=2)


def traffic(load: list[float], before: list[float], edges: list[int] | None = None) -> Traffic:
    return Traffic(before_rpm=np.array(before), rpm=np.array(load), edges=np.array(edges or [0, len(load)]))


def policies(targets: list[float], floors: list[list[int]], start: list[float] | None = None) -> Policies:
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


loads = st.lists(st.floats(0, 500, allow_subnormal=False), min_size=1, max_size=60)
floors = st.lists(st.integers(0, 40), min_size=60, max_size=60)
fleets = st.builds(Fleet, replica_rpm=st.floats(1, 50), lead_min=st.integers(0, 12), memory_min=st.integers(1, 6))


@given(load=loads, rows=st.lists(st.tuples(floors, st.floats(0.1, 1)), min_size=1, max_size=4), fleet=fleets)
def test_both_loops_keep_the_same_books(load: list[float], rows: list[tuple[list[int], float]], fleet: Fleet) -> None:
    n = len(load)
    stretch = traffic(load, before=load[:3], edges=sorted({0, n // 2, n}))
    all_rows = policies([target for _, target in rows], [row[:n] for row, _ in rows])
    one, many = one_by_one(stretch, all_rows, fleet), all_at_once(stretch, all_rows, fleet)
    for name in ("arrivals", "late", "paid_min", "changes", "backlog"):
        np.testing.assert_allclose(getattr(one, name), getattr(many, name), rtol=1e-9, atol=1e-9, err_msg=name)


@given(load=loads, row=floors, target=st.sampled_from([0.3, 0.5, 0.7, 1.0]), fleet=fleets)
def test_a_queue_of_requests_and_a_list_of_replicas_keep_the_same_books(
    load: list[float], row: list[int], target: float, fleet: Fleet
) -> None:
    whole = [float(round(a)) for a in load]
    mu = float(round(fleet.replica_rpm))
    rounded = Fleet(replica_rpm=mu, lead_min=fleet.lead_min, memory_min=fleet.memory_min)
    books = plain_replay(whole, row, before=whole[:5], mu=mu, target=target, lead=fleet.lead_min, memory=fleet.memory_min)
    outcome = replay(traffic(whole, before=whole[:5], edges=list(range(len(whole) + 1))), policies([target], [row[: len(whole)]]), rounded)
    np.testing.assert_allclose(outcome.late[0], books.late, atol=1e-6)
    assert outcome.paid_min[0].tolist() == books.fleet
    assert outcome.changes.sum() == books.changes
    assert outcome.backlog[0] == pytest.approx(books.waiting, abs=1e-6)
    assert books.served + books.waiting == pytest.approx(books.arrived, abs=1e-6)


@given(load=loads, low=floors, extra=floors, fleet=fleets)
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
