"""How far replicas may go down where no autoscaler is above: the rules over what was read of the pods."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.kube.cluster import Json
from connectors.targets.lowering import Leaving, disruptions_allowed, draining_pods, idle_pods, lowest, selects
from forecaster.units import iso

NOW = datetime(2024, 5, 6, 8, tzinfo=UTC)
COUNTS = st.integers(0, 60)
AGES = st.none() | st.integers(-600, 3_600).map(lambda age_s: NOW - timedelta(seconds=age_s))
DRAINS = st.integers(0, 1_800)


@st.composite
def fleets(draw: st.DrawFn) -> Leaving:
    replicas = draw(COUNTS)
    return Leaving(
        replicas=replicas,
        idle=draw(st.integers(0, replicas)),
        draining=draw(st.integers(0, 5)),
        allowed=draw(st.none() | COUNTS),
        last=draw(AGES),
    )


@given(fleets(), DRAINS)
def test_never_more_leave_than_are_there_and_what_stands_in_the_way_is_always_told(leaving: Leaving, drain_s: int) -> None:
    least, barrier = lowest(leaving, drain_s=drain_s, now=NOW)
    assert 0 <= least <= leaving.replicas
    if least > 0:
        assert barrier is not None


@given(fleets(), DRAINS)
def test_of_those_that_serve_no_more_go_at_once_than_every_budget_allows(leaving: Leaving, drain_s: int) -> None:
    least, _ = lowest(leaving, drain_s=drain_s, now=NOW)
    serving_told_to_go = leaving.replicas - leaving.idle - least
    if leaving.allowed is not None:
        assert serving_told_to_go <= leaving.allowed


@given(fleets(), DRAINS)
def test_none_that_serves_goes_while_others_finish_or_their_time_is_not_over(leaving: Leaving, drain_s: int) -> None:
    least, _ = lowest(leaving, drain_s=drain_s, now=NOW)
    if leaving.draining or (leaving.last is not None and leaving.last + timedelta(seconds=drain_s) > NOW):
        assert least == leaving.replicas - leaving.idle


@given(fleets(), DRAINS)
def test_those_that_never_ran_may_always_go(leaving: Leaving, drain_s: int) -> None:
    least, _ = lowest(leaving, drain_s=drain_s, now=NOW)
    assert least <= leaving.replicas - leaving.idle


@given(fleets(), DRAINS, st.integers(0, 1_000))
def test_a_longer_drain_or_a_tighter_budget_never_lets_more_go(leaving: Leaving, drain_s: int, more: int) -> None:
    least, _ = lowest(leaving, drain_s=drain_s, now=NOW)
    assert lowest(leaving, drain_s=drain_s + more, now=NOW)[0] >= least
    tighter = Leaving(
        replicas=leaving.replicas,
        idle=leaving.idle,
        draining=leaving.draining,
        allowed=0 if leaving.allowed is None else max(leaving.allowed - more, 0),
        last=leaving.last,
    )
    assert lowest(tighter, drain_s=drain_s, now=NOW)[0] >= least


@pytest.mark.parametrize("count", [{"replicas": -1}, {"idle": -1}, {"draining": -1}, {"allowed": -1}])
def test_counts_are_not_negative(count: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Leaving(**{"replicas": 1, "idle": 0, "draining": 0, "allowed": 1, "last": None} | count)


def pod(phase: str = "Running", *, labels: dict[str, str] | None = None, time_left_s: int | None = None) -> Json:
    metadata: Json = {"labels": labels or {"app": "llm"}}
    if time_left_s is not None:
        metadata["deletionTimestamp"] = iso(NOW + timedelta(seconds=time_left_s))
    return {"metadata": metadata, "status": {"phase": phase}}


def test_pods_that_wait_for_a_node_or_an_image_never_ran() -> None:
    assert idle_pods([pod("Pending"), pod("Running"), pod("Pending", time_left_s=30)]) == 1


def test_a_pod_finishes_until_its_time_is_over_and_then_hangs_on_a_lost_node() -> None:
    assert draining_pods([pod(time_left_s=30), pod(time_left_s=-1), pod(), pod("Succeeded", time_left_s=30)], NOW) == 1


def budget(allowed: int | None = 3, *, selector: Json | None, generation: int = 1, observed: int = 1) -> Json:
    status = {"observedGeneration": observed} | ({} if allowed is None else {"disruptionsAllowed": allowed})
    return {"metadata": {"generation": generation}, "spec": {"selector": selector}, "status": status}


OURS = {"matchLabels": {"app": "llm"}}


def test_the_tightest_budget_over_our_pods_counts_and_those_of_others_do_not() -> None:
    budgets = [budget(5, selector=OURS), budget(2, selector={}), budget(0, selector={"matchLabels": {"app": "other"}})]
    assert disruptions_allowed(budgets, [pod()]) == 2
    assert disruptions_allowed(budgets[2:], [pod()]) is None
    assert disruptions_allowed(budgets, []) is None


@pytest.mark.parametrize("unknown", [budget(None, selector=OURS), budget(3, selector=OURS, generation=2)])
def test_a_budget_that_its_controller_has_not_looked_at_allows_nothing(unknown: Json) -> None:
    assert disruptions_allowed([unknown], [pod()]) == 0


@pytest.mark.parametrize(
    ("rule", "taken"),
    [
        ({"key": "app", "operator": "In", "values": ["llm", "x"]}, True),
        ({"key": "app", "operator": "In", "values": ["x"]}, False),
        ({"key": "app", "operator": "NotIn", "values": ["x"]}, True),
        ({"key": "tier", "operator": "NotIn", "values": ["x"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["llm"]}, False),
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "tier", "operator": "Exists"}, False),
        ({"key": "tier", "operator": "DoesNotExist"}, True),
        ({"key": "app", "operator": "DoesNotExist"}, False),
        ({"key": "app", "operator": "OfTomorrow"}, True),
    ],
)
def test_selectors_take_as_kubernetes_does_and_an_unknown_operator_counts_as_met(rule: Json, taken: bool) -> None:
    assert selects({"matchExpressions": [rule]}, {"app": "llm"}) is taken


def test_an_empty_selector_takes_all_and_none_at_all_takes_nothing() -> None:
    assert selects({}, {"app": "llm"})
    assert not selects(None, {"app": "llm"})
