from dataclasses import replace
from datetime import timedelta

import pytest

from forecaster.decision import Action, Applied, CycleRecord
from forecaster.explain import explain, sentence
from forecaster.gains import Gains
from forecaster.guard import guard
from forecaster.reasons import Code, Reason
from forecaster.workload import Mode
from tests.values import NOW, case_of, decided, look_of, plan_of, seen_of

PLAN = plan_of([215.0] * 12)
DECISION = guard(case_of(PLAN, look_of(5.0), recent=(decided(12, at=NOW - timedelta(hours=1)),)))
RAISED = Applied(target="recording:chat", before=12, after=22, written=True)
WHY = "rpm binds: P95 of the 15 min from 2026-03-02T08:00Z is 215 requests/min, a replica carries 10"


def test_a_raise_says_from_what_to_what_and_why() -> None:
    assert sentence(DECISION, Mode.AUTO, RAISED, None) == f"chat/main on recording:chat: floor 12 -> 22; {WHY}."


def test_observe_says_what_would_be() -> None:
    applied = replace(RAISED, written=False)
    assert sentence(DECISION, Mode.OBSERVE, applied, None) == f"chat/main on recording:chat: floor would go 12 -> 22; {WHY}."


def test_a_floor_that_stands_says_so() -> None:
    same = Applied(target="recording:chat", before=22, after=22, written=False)
    assert "floor stays at 22" in sentence(DECISION, Mode.AUTO, same, None)


def test_a_failed_write_says_what_failed() -> None:
    said = sentence(DECISION, Mode.AUTO, None, "the API server answered 403: patch is not allowed.")
    assert said.startswith("chat/main on recording:chat: floor 22 was not written (the API server answered 403: patch is not allowed); ")


def test_alerts_are_said_beside_the_reason_of_the_number() -> None:
    decision = guard(case_of(None, look_of(None), seen=seen_of(floor=9)))
    said = sentence(decision, Mode.AUTO, None, None)
    assert "rpm unknown: at least the last floor 9 and the fallback 2" in said
    assert "there is no plan to follow" in said


@pytest.mark.parametrize(("action", "words"), [(Action.LEAVE, "left alone at 22"), (Action.RELEASE, "released, floor 12 -> 22")])
def test_actions_that_set_no_floor_have_their_own_words(action: Action, words: str) -> None:
    assert words in sentence(replace(DECISION, action=action), Mode.AUTO, RAISED, None)


def test_what_the_target_added_is_said() -> None:
    taken = replace(RAISED, after=20, reasons=(Reason(code=Code.CEILING_BELOW_FLOOR, detail="maxReplicas is 20", before=22, after=20),))
    assert "floor 12 -> 20; maxReplicas is 20" in sentence(DECISION, Mode.AUTO, taken, None)


def test_an_explanation_names_forecast_level_capacity_lead_time_and_every_step() -> None:
    record = CycleRecord(at=NOW, mode=Mode.AUTO, decision=DECISION, applied=RAISED, error=None, sentence="s")
    found = explain(record, PLAN)
    basis = dict(found.basis)
    assert basis["level"] == "P95"
    assert basis["lead time"] == "10 min"
    assert basis["rpm forecast"] == "median 172, 215 requests/min at the level over the lead window"
    assert basis["rpm capacity"] == "10 requests/min a replica, so 21.50 replicas"
    assert [code for code, *_ in found.steps] == ["plan-followed"]


def test_an_explanation_tells_how_long_deviations_of_the_workload_last() -> None:
    assert PLAN.demand is not None
    gains = Gains(leads_s=(0, 600, 1_800), short=(0.6, 0.4, 0.1), long=(0.3, 0.12, 0.1), days=9, cut=(0.4, 0.3, 0.1))
    learned = replace(PLAN, demand=replace(PLAN.demand, gains=(gains,)))
    record = CycleRecord(at=NOW, mode=Mode.AUTO, decision=DECISION, applied=RAISED, error=None, sentence="s")
    assert dict(explain(record, learned).basis)["rpm deviations"] == "52% of one of two hours lasts 10 min more, learned from 9 days"
    assert "rpm deviations" not in dict(explain(record, PLAN).basis)


def test_an_explanation_without_a_plan_tells_what_is_known() -> None:
    record = CycleRecord(at=NOW, mode=Mode.AUTO, decision=DECISION, applied=RAISED, error=None, sentence="s")
    assert "plan" not in dict(explain(record, None).basis)
