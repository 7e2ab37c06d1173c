"""Prefill and decode in a ratio: floors of both are raised to it, and where that cannot be a sentence says so."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.balance import balanced, unbalanced
from forecaster.decision import Ruling, RulingKind
from forecaster.guard import guard
from forecaster.plan import Plan
from forecaster.reasons import ALERTS, Code
from forecaster.roles import Beside, Roles
from forecaster.workload import Policy
from tests.values import NOW, case_of, look_of, plan_of

ROLES = Roles(prefill="prefill", decode="decode", least_ratio=0.25, most_ratio=0.5)
counts, ratios = st.integers(0, 200), st.tuples(st.floats(0.05, 20), st.floats(0.05, 20))


def plans(prefill: list[float], decode: list[float], policy: Policy | None = None) -> tuple[Plan, Plan]:
    return replace(plan_of(prefill, policy), pool="prefill"), replace(plan_of(decode, policy), pool="decode")


def replicas(plan: Plan) -> list[int]:
    return [floor.replicas for floor in plan.floors]


@pytest.mark.parametrize(
    ("own", "raised"), [((4, 12), (4, 12)), ((2, 12), (3, 12)), ((8, 12), (8, 16)), ((0, 0), (0, 0)), ((0, 1), (1, 1))]
)
def test_each_role_is_raised_to_what_the_other_needs_beside_it(own: tuple[int, int], raised: tuple[int, int]) -> None:
    assert ROLES.raised(*own) == raised


@given(counts, counts, ratios)
def test_floors_are_only_raised_and_then_stand_in_the_ratio(prefill: int, decode: int, ratio: tuple[float, float]) -> None:
    roles = replace(ROLES, least_ratio=min(ratio), most_ratio=max(ratio))
    more, beside = roles.raised(prefill, decode)
    assert more >= prefill
    assert beside >= decode
    assert more >= roles.least_ratio * beside - 1e-6
    assert more <= roles.most_ratio * beside + 1
    assert roles.are_held(more, beside)


@given(counts, counts, counts, counts, ratios)
def test_a_larger_need_of_either_lowers_neither(prefill: int, decode: int, p: int, d: int, ratio: tuple[float, float]) -> None:
    roles = replace(ROLES, least_ratio=min(ratio), most_ratio=max(ratio))
    before, after = roles.raised(prefill, decode), roles.raised(prefill + p, decode + d)
    assert all(a <= b for a, b in zip(before, after, strict=True))


def test_l27_when_only_one_role_scales_the_other_is_raised_beside_it() -> None:
    prefill, decode = balanced(plans([20.0] * 12, [80.0] * 6 + [240.0] * 6), ROLES, None)
    assert replicas(prefill) == [2, 6]
    assert replicas(decode) == [8, 24]
    assert prefill.floors[1].reason.code is Code.ROLE_RATIO
    assert prefill.floors[1].reason.detail == "beside 24 of decode: 0.25 to 0.5 replicas of prefill for one of decode"
    assert unbalanced((prefill, decode), ROLES, NOW) == (prefill, decode)


def test_l27_a_ratio_that_maxima_do_not_allow_is_a_sentence_and_an_alert() -> None:
    policy = Policy(maximum=20)
    made = balanced(plans([20.0] * 6 + [150.0] * 6, [80.0] * 12, policy), ROLES, policy.maximum)
    assert [replicas(plan) for plan in made] == [[2, 15], [8, 20]]
    prefill, decode = unbalanced(made, ROLES, NOW)
    (told,) = (reason for reason in prefill.reasons if reason.code is Code.ROLE_UNMET)
    assert told in decode.reasons
    assert told.code in ALERTS
    assert told.detail == (
        "2026-03-02T08:30:00Z: 15 of prefill for 20 of decode is out of the ratio, 0.25 to 0.5 replicas of prefill for one of decode, "
        "until 2026-03-02T09:00:00Z: raise max or the budget, or widen the ratio"
    )


def test_pools_without_a_role_and_plans_without_their_other_are_as_they_were() -> None:
    prefill, decode = plans([20.0] * 12, [240.0] * 12)
    assert balanced((prefill, decode), None, None) == (prefill, decode)
    assert balanced((decode,), ROLES, None) == (decode,)


def test_l27_a_raise_of_one_role_by_live_load_raises_the_other() -> None:
    case = case_of(plan_of([20.0] * 12), look_of(2.0, ratio=1.0), beside=Beside(roles=ROLES, pool="prefill", other=24))
    decision = guard(case)
    assert decision.floor == 6
    (reason,) = (reason for reason in decision.reasons if reason.code is Code.ROLE_RATIO)
    assert (reason.before, reason.after) == (2, 6)


def test_a_persons_override_is_raised_by_no_ratio() -> None:
    override = Ruling(at=NOW, workload="chat", kind=RulingKind.OVERRIDE, author="eva", reason="test", replicas=3)
    beside = Beside(roles=ROLES, pool="prefill", other=24)
    assert guard(case_of(plan_of([20.0] * 12), look_of(2.0, ratio=1.0), beside=beside, rulings=(override,))).floor == 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"least_ratio": 2.0}, "roles.ratio must be its least and its most value in this order, got 2 and 0.5"),
        ({"least_ratio": 0.0}, "roles.ratio must be above 0"),
        ({"decode": "prefill"}, "roles.prefill and roles.decode must be two pools, got prefill twice"),
    ],
)
def test_a_ratio_that_contradicts_itself_is_refused(change: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        replace(ROLES, **change)  # type: ignore[arg-type]  # one field at a time
