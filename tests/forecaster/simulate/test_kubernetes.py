"""The HPA's arithmetic on the worked examples of its documentation, and one HPA against a row of them."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.autoscaler import HpaBehavior, ScalingPolicy, ScalingRules, Select, Unit
from forecaster.simulate.kubernetes import ManyHpas, OneHpa, pace

AT_ONCE = ScalingRules()
SYNC_S = 15


def pods(value: int, period_s: int = 60) -> ScalingPolicy:
    return ScalingPolicy(unit=Unit.PODS, value=value, period_s=period_s)


def percent(value: int, period_s: int = 60) -> ScalingPolicy:
    return ScalingPolicy(unit=Unit.PERCENT, value=value, period_s=period_s)


def behavior(up: ScalingRules = AT_ONCE, down: ScalingRules = AT_ONCE, lag_s: int = 0, maximum: int | None = None) -> HpaBehavior:
    return HpaBehavior(up=up, down=down, sync_s=SYNC_S, metric_lag_s=lag_s, maximum=maximum)


def run(hpa: HpaBehavior, start: float, needs: Sequence[float], step_s: float = SYNC_S, floor: float = 1) -> list[float]:
    """What it asks for where everything asked for is ready at once."""
    one, asked = OneHpa(hpa, step_s, start, needs[:1]), [start]
    for need in needs:
        asked.append(one.replicas(floor, asked[-1], need))
    return asked[1:]


def after(hpa: HpaBehavior, start: float, need: float) -> float:
    return run(hpa, start, [need])[0]


@pytest.mark.parametrize(
    ("replicas", "metric", "target", "wanted"),
    [
        (4, 200, 100, 8),
        (4, 50, 100, 2),
        (50, 90, 75, 60),
        (3, 90, 60, 5),
        (4, 109, 100, 4),
        (4, 110, 100, 4),
        (4, 91, 100, 4),
        (4, 89, 100, 4),
    ],
)
def test_replicas_follow_the_ratio_of_metric_and_target_rounded_up_and_within_a_tenth_they_stay(
    replicas: float, metric: float, target: float, wanted: float
) -> None:
    assert after(behavior(), replicas, replicas * metric / target) == wanted


def test_a_hundred_replicas_hide_nine_behind_the_tolerance_and_a_tolerance_of_none_hides_none() -> None:
    exact = ScalingRules(tolerance_ratio=0)
    assert after(behavior(), 100, 109) == 100
    assert after(behavior(), 100, 111) == 111
    assert after(behavior(up=exact, down=exact), 100, 101) == 101


def test_replicas_that_are_not_ready_count_as_idle_on_the_way_up() -> None:
    """10 asked for, 5 ready: a need of 9 is 180 % of those and 90 % of all; 12 is 120 % of all; 4 is 80 % of the ready ones."""
    for need, wanted in ((9, 10), (12, 12), (4, 4)):
        assert OneHpa(behavior(), SYNC_S, 10, [1]).replicas(1, 5, need) == wanted


def test_unless_told_otherwise_a_hpa_doubles_or_adds_four_in_15_s() -> None:
    assert run(HpaBehavior(metric_lag_s=0), 1, [100] * 6) == [5, 10, 20, 40, 80, 100]


def test_a_step_of_a_minute_holds_four_syncs() -> None:
    assert run(HpaBehavior(metric_lag_s=0), 1, [100] * 2, step_s=60) == [40, 100]


def test_steps_finer_than_the_sync_period_wait_for_it() -> None:
    assert run(behavior(), 1, [5, 6, 7, 8], step_s=5) == [5, 5, 5, 8]


def test_unless_told_otherwise_a_hpa_shrinks_to_the_highest_of_five_minutes() -> None:
    asked = run(HpaBehavior(metric_lag_s=0), 10, [10, 4, *[2] * 24])
    assert asked[:20] == [10] * 20
    assert asked[20] == 4
    assert asked[21:] == [2] * 5


def test_a_window_on_the_way_up_waits_until_all_of_it_asks_for_more() -> None:
    assert run(behavior(up=ScalingRules(stabilization_s=45)), 2, [9, 5, 7, 9]) == [2, 2, 5, 5]


def test_ten_per_cent_and_four_pods_a_minute_bring_80_replicas_down_as_documented() -> None:
    """8 of 80, then 7.2 of 72 is 8, and below 40 four pods are more than 10 %."""
    rules = ScalingRules(policies=(pods(4), percent(10)))
    asked = run(behavior(down=rules), 80, [10] * 60)
    by_minute = [80, *asked[0::4]]
    assert by_minute[:4] == [80, 72, 64, 57]
    below = [replicas for replicas in by_minute if replicas <= 40]
    assert all(a - b in {4, 0} or b == 10 for a, b in pairwise(below))
    assert asked[0] == asked[3]


def test_the_smaller_of_two_policies_holds_where_min_is_selected() -> None:
    rules = ScalingRules(policies=(pods(5), percent(10)), select=Select.MIN)
    assert after(behavior(down=rules), 100, 10) == 95
    assert after(behavior(down=rules), 20, 2) == 18


def test_a_disabled_direction_never_moves() -> None:
    off = ScalingRules(select=Select.DISABLED)
    assert run(behavior(down=off), 10, [2] * 3) == [10] * 3
    assert run(behavior(up=off), 10, [20] * 3) == [10] * 3


def test_a_limit_counts_what_the_period_has_seen_already() -> None:
    assert run(behavior(up=ScalingRules(policies=(pods(6),))), 10, [100] * 6) == [16, 16, 16, 16, 22, 22]


def test_a_floor_is_in_force_at_once_whatever_the_limits_are_and_a_maximum_bounds_it() -> None:
    slow = ScalingRules(policies=(pods(1),))
    assert run(behavior(up=slow), 2, [2], floor=30) == [30]
    assert run(behavior(up=slow, maximum=20), 2, [2], floor=30) == [20]


def test_a_metric_is_as_old_as_it_is() -> None:
    assert run(behavior(lag_s=30), 1, [1, 5, 7, 7, 7]) == [1, 1, 1, 5, 7]


def test_times_are_whole_steps() -> None:
    found = pace(HpaBehavior(metric_lag_s=30), 60)
    assert (found.every, found.syncs, found.lag, found.up, found.down) == (1, 4, 0, 1, 5)
    assert pace(HpaBehavior(metric_lag_s=30), 15).down == 20


policies = st.builds(ScalingPolicy, unit=st.sampled_from(Unit), value=st.integers(1, 120), period_s=st.sampled_from([15, 30, 60, 90]))
rules = st.builds(
    ScalingRules,
    policies=st.lists(policies, max_size=3).map(tuple),
    select=st.sampled_from(Select),
    stabilization_s=st.sampled_from([0, 15, 60, 300]),
    tolerance_ratio=st.sampled_from([0, 0.1, 0.3]),
)
behaviors = st.builds(
    HpaBehavior,
    up=rules,
    down=rules,
    sync_s=st.sampled_from([15, 30]),
    metric_lag_s=st.sampled_from([0, 30, 75]),
    minimum=st.integers(1, 3),
    maximum=st.sampled_from([None, 12]),
    capped=st.booleans(),
)


@given(
    hpa=behaviors,
    needs=st.lists(st.tuples(st.floats(0, 40), st.floats(0, 40)), min_size=1, max_size=30),
    step_s=st.sampled_from([15, 20, 60]),
)
def test_a_row_of_hpas_asks_for_what_each_would_alone(hpa: HpaBehavior, needs: list[tuple[float, float]], step_s: float) -> None:
    starts = (2.0, 9.0)
    ones = [OneHpa(hpa, step_s, start, [row[i] for row in needs[:2]]) for i, start in enumerate(starts)]
    row = ManyHpas(hpa, step_s, np.array(starts), np.array(needs[:2]))
    asked = np.array(starts)
    for step, need in enumerate(needs):
        floors, ready = np.array([1.0, step % 5 + 1]), np.maximum(1.0, asked - step % 3)
        alone = [one.replicas(*of) for one, *of in zip(ones, floors.tolist(), ready.tolist(), need, strict=True)]
        asked = row.replicas(floors, ready, np.array(need))
        assert asked.tolist() == alone
