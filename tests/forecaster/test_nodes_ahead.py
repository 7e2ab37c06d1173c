"""Nodes are asked for before the replicas that run on them, by as much as a node takes, and no longer."""

from dataclasses import replace
from datetime import timedelta

import pytest

from forecaster.guard import guard
from forecaster.leadtime import LeadTime
from forecaster.reasons import Code
from forecaster.workload import Policy
from tests.values import NOW, case_of, decided, look_of, plan_of, pool_of

MINUTE = timedelta(minutes=1)
RAMP = [20.0] * 3 + [90.0] * 9  # 2 replicas, 9 from a quarter past on


@pytest.mark.parametrize(
    ("nodes_first", "plan_s", "ahead_s"),
    [(False, 900.0, 0.0), (True, 300.0, 600.0)],
)
def test_the_lead_time_of_replicas_on_nodes_of_their_own_is_the_warm_part(nodes_first: bool, plan_s: float, ahead_s: float) -> None:
    lead_time = LeadTime(warm_s=300, cold_s=900, nodes_first=nodes_first)
    assert (lead_time.plan_s, lead_time.nodes_ahead_s) == (plan_s, ahead_s)
    assert lead_time.told == ("15 min, as configured" if not nodes_first else "5 min, as configured, nodes 10 min earlier")


def test_nodes_that_come_faster_than_a_warm_start_are_asked_for_with_the_replicas() -> None:
    assert LeadTime(warm_s=900, cold_s=300, nodes_first=True).nodes_ahead_s == 0


@pytest.mark.parametrize(("minute", "pods", "nodes"), [(0, 2, 2), (5, 2, 2), (6, 2, 9), (14, 2, 9), (15, 9, 9)])
def test_the_nodes_of_a_ramp_are_asked_for_as_long_before_its_replicas_as_a_node_takes(minute: int, pods: int, nodes: int) -> None:
    now = NOW + minute * MINUTE
    last = (decided(2, at=NOW - MINUTE),)
    case = case_of(plan_of(RAMP), look_of(1.0, at=now), policy=Policy(hold_s=0), recent=last)
    assert guard(case).floor == pods
    of_nodes = guard(replace(case, ahead_s=600.0))
    assert of_nodes.floor == nodes
    assert (Code.NODES_AHEAD in {reason.code for reason in of_nodes.reasons}) is (nodes > pods)


def test_nodes_are_let_go_with_the_replicas_and_not_before() -> None:
    fall = [90.0] * 3 + [20.0] * 9
    last = (decided(9, at=NOW - MINUTE),)
    floors = []
    for minute in (14, 15):
        case = case_of(plan_of(fall), look_of(1.0, at=NOW + minute * MINUTE), policy=Policy(hold_s=0), recent=last, ahead_s=600.0)
        floors.append(guard(case).floor)
    assert floors == [9, 2]


def test_nodes_that_were_asked_for_ahead_are_held_as_any_floor_when_live_load_falls_short_for_a_moment() -> None:
    now = NOW + 10 * MINUTE
    first = guard(case_of(plan_of(RAMP), look_of(1.0, at=now), ahead_s=600.0, recent=(decided(2, at=NOW),)))
    flat = case_of(plan_of([20.0] * 12), look_of(1.0, at=now + MINUTE), ahead_s=600.0, recent=(first,))
    assert (first.floor, first.wanted, guard(flat).floor) == (9, 9, 9)
    assert guard(replace(flat, now=now + MINUTE, policy=Policy(hold_s=0))).floor == 2


def test_live_load_above_the_plan_asks_for_nodes_at_once() -> None:
    case = case_of(plan_of([20.0] * 12), look_of(7.0, ratio=4.0), policy=Policy(hold_s=0), recent=(decided(2, at=NOW - MINUTE),))
    assert guard(replace(case, ahead_s=600.0)).floor == guard(case).floor > 2


def test_nodes_are_written_before_the_replicas_on_them_whatever_the_order_in_the_configuration() -> None:
    pool = replace(pool_of(), targets=("pods", "nodes"), nodes=("nodes",), lead_time=LeadTime(warm_s=300, cold_s=900, nodes_first=True))
    assert pool.in_order == ("nodes", "pods")
    assert (pool.ahead_s("nodes"), pool.ahead_s("pods")) == (600.0, 0.0)
