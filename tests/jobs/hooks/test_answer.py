"""What is answered, by what is known: the table in jobs/hooks/answer.py, line by line."""

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.calendar import FloorWindow
from forecaster.plan import Plan
from forecaster.starts import Start
from forecaster.workload import Mode, Policy
from jobs.hooks.answer import Answer, Known, Source, answer, hpa_value
from tests.jobs.hooks.desks import FRESH_S, MINUTE, posting, workload
from tests.values import NOW, plan_of

LATE = NOW + timedelta(seconds=FRESH_S + 1)


def known(*, policy: Policy | None = None, **values: Any) -> Known:
    chat = workload()
    standard: dict[str, Any] = {"posting": posting(), "fresh_s": FRESH_S}
    return Known(workload="chat", pool=chat.pools[0], policy=policy or chat.policy, **(standard | values))


def a_plan(rpm: float) -> Plan:
    return plan_of([rpm] * 288, start=NOW)


def floor_of(found: Answer) -> tuple[int | None, Source]:
    return found.floor, found.source


def test_a_fresh_decision_is_the_answer() -> None:
    found = answer(known(), NOW + timedelta(seconds=FRESH_S))
    assert floor_of(found) == (12, Source.DECIDED)
    assert found.why == "decided at 2026-03-02T08:00:00Z"


@pytest.mark.parametrize(("fallback", "told"), [(None, 2), (7, 7)])
def test_in_observe_the_fallback_is_answered_and_not_what_was_decided(fallback: int | None, told: int) -> None:
    found = answer(known(policy=Policy(mode=Mode.OBSERVE, fallback=fallback), posting=posting(30, mode=Mode.OBSERVE)), NOW)
    assert floor_of(found) == (told, Source.FALLBACK)


def test_what_was_decided_in_observe_is_not_followed_after_a_change_of_mode_until_an_apply_says_so() -> None:
    assert floor_of(answer(known(posting=posting(30, mode=Mode.OBSERVE)), NOW)) == (2, Source.FALLBACK)


def test_a_change_to_observe_holds_at_once() -> None:
    assert floor_of(answer(known(policy=Policy(mode=Mode.OBSERVE)), NOW)) == (2, Source.FALLBACK)


@pytest.mark.parametrize(("planned_rpm", "told"), [(50.0, 12), (200.0, 20)])
def test_when_nobody_decides_the_plan_may_raise_the_last_floor_and_never_lowers_it(planned_rpm: float, told: int) -> None:
    found = answer(known(plan=a_plan(planned_rpm)), LATE)
    assert floor_of(found) == (told, Source.PLANNED)
    assert "nobody has decided since 2026-03-02T08:00:00Z" in found.why


def test_without_a_plan_the_last_floor_holds_until_it_expires_and_then_the_fallback() -> None:
    expires = posting(valid_until=NOW + timedelta(hours=1))
    assert floor_of(answer(known(posting=expires), LATE)) == (12, Source.LAST)
    assert floor_of(answer(known(posting=expires), NOW + timedelta(hours=1))) == (2, Source.FALLBACK)


def test_an_open_window_holds_when_nobody_decides() -> None:
    always = FloorWindow(days=frozenset(range(7)), start_min=0, end_min=1440, zone="UTC", min_replicas=15)
    assert answer(known(policy=Policy(mode=Mode.AUTO, windows=(always,))), LATE).floor == 15


def test_bounds_outrank_the_plan_of_a_fleet_that_nobody_decides_on() -> None:
    found = answer(known(posting=posting(most=14), plan=a_plan(200)), LATE)
    assert found.floor == 14
    assert found.why.endswith("bounds make it 14")


@given(
    decided=st.integers(0, 60), original=st.integers(0, 20), planned_rpm=st.floats(0, 500), hours=st.floats(-1, 48), observe=st.booleans()
)
def test_in_observe_it_is_the_fallback_whatever_was_decided_and_else_silence_lowers_nothing_that_is_valid(
    decided: int, original: int, planned_rpm: float, hours: float, observe: bool
) -> None:
    mode = Mode.OBSERVE if observe else Mode.AUTO
    posted = posting(max(decided, original), original=original, least=original, mode=mode)
    now = NOW + timedelta(hours=hours)
    found = answer(known(policy=Policy(mode=mode), posting=posted, plan=a_plan(planned_rpm)), now)
    assert found.floor is not None
    if observe:
        assert floor_of(found) == (original, Source.FALLBACK)
    else:
        assert found.floor >= (posted.floor if now < posted.valid_until else original)


def test_what_was_never_seen_is_unknown_and_not_zero() -> None:
    found = answer(known(posting=None), NOW)
    assert floor_of(found) == (None, Source.UNKNOWN)
    assert (found.ready, found.warming, found.queue, found.age_s) == (None, None, None, None)
    assert found.active
    assert answer(known(posting=None, policy=Policy(mode=Mode.AUTO, fallback=3)), NOW).floor == 3


def test_only_a_floor_of_zero_is_inactive() -> None:
    assert not answer(known(posting=posting(0, least=0)), NOW).active
    assert answer(known(posting=posting(1)), NOW).active


def test_the_next_replica_is_expected_a_lead_time_after_its_request() -> None:
    starts = tuple(Start(target="t", replica=str(i), requested=NOW - minutes * MINUTE, seen_at=NOW) for i, minutes in enumerate((2, 6)))
    warming = posting(ready=3, pending=2, lead_s=600.0)
    assert answer(known(posting=warming, starts=starts), NOW).eta_s == 240
    assert answer(known(posting=warming, starts=starts), NOW + 9 * MINUTE).eta_s == 0
    assert answer(known(posting=warming), NOW).eta_s == 600
    assert answer(known(posting=None), NOW).eta_s == 600


def test_l40_what_is_answered_tells_its_age_and_does_not_pass_for_fresh() -> None:
    frozen = answer(known(posting=posting(ready=3, pending=0)), NOW + timedelta(hours=30))
    assert frozen.age_s == 30 * 3_600
    assert frozen.source is Source.FALLBACK


def wanted_by_hpa(metric: int, replicas: int, tolerance: float, *, strict: bool) -> int:
    """ceil(metric / 1), unless metric / replicas is within the tolerance of 1. strict: whether the edge itself counts as within."""
    ratio = metric / replicas
    within = 1 - tolerance <= ratio <= 1 + tolerance if strict else abs(1 - ratio) <= tolerance
    return replicas if within else math.ceil(metric)


def test_k26_a_floor_as_a_plain_metric_is_swallowed_by_the_tolerance() -> None:
    assert wanted_by_hpa(21, 20, 0.1, strict=True) == 20


@given(floor=st.integers(1, 2_000), replicas=st.integers(1, 2_000), tolerance=st.sampled_from([0.0, 0.05, 0.1, 0.2]), strict=st.booleans())
def test_k26_a_floor_that_is_pulled_survives_the_tolerance_of_a_hpa(floor: int, replicas: int, tolerance: float, strict: bool) -> None:
    told = hpa_value(floor, replicas, tolerance)
    wanted = wanted_by_hpa(told, replicas, tolerance, strict=strict)
    assert wanted >= floor
    assert wanted <= max(replicas, floor, math.floor((1 + tolerance) * (floor - 1)) + 2)


@given(floor=st.integers(0, 2_000), replicas=st.integers(1, 2_000), strict=st.booleans())
def test_k26_it_survives_also_where_nobody_knows_how_many_there_are(floor: int, replicas: int, strict: bool) -> None:
    assert wanted_by_hpa(hpa_value(floor, None), replicas, 0.1, strict=strict) >= floor


@pytest.mark.parametrize(
    ("floor", "standing", "told"),
    [(10, 9, 10), (11, 10, 12), (21, 20, 23), (21, 21, 21), (21, 25, 21), (30, 10, 30), (0, 0, 0), (1, 0, 1), (9, None, 9), (21, None, 23)],
)
def test_the_metric_is_the_floor_wherever_that_is_not_swallowed(floor: int, standing: int | None, told: int) -> None:
    assert hpa_value(floor, standing) == told


def test_where_the_hpa_has_no_tolerance_the_metric_is_the_floor() -> None:
    assert all(hpa_value(floor, None, 0.0) == floor for floor in range(100))
