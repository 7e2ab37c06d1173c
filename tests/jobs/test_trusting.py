"""What becomes of a forecast that cannot be trusted, on the real line: plans, floors, alerts."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from forecaster.forecast import TrackRecord
from forecaster.reasons import Code
from forecaster.series import Signal, Window
from forecaster.trust import Verdict
from jobs.apply import apply_fleet
from jobs.draft import Draft
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.world import NOW, World, daily_rpm, issued, write_trace

HOUR = timedelta(hours=1)
GOOD = TrackRecord(days=14, pinball=6.0, naive_pinball=10.0, coverage=0.95, drift_log=0.0)


def bursts(now: datetime = NOW, *, days: int = 16, at: tuple[timedelta, timedelta] | None = None) -> list[tuple[datetime, float]]:
    """Five-minute counts of 20 requests a minute with two hours of 1,500 here and there, at no hour that comes back.

    Quiet since noon of the day before, but for the span `at` from now on.
    """
    rng = np.random.default_rng(7)
    start = (now - timedelta(days=days)).replace(hour=0, minute=0)
    stamps = [start + timedelta(minutes=5 * i) for i in range(12 * 24 * (days + 2))]
    busy = np.repeat(rng.random(len(stamps) // 24 + 1) < 0.15, 24)[: len(stamps)]
    loud = np.array([b and stamp < now - 19 * HOUR for stamp, b in zip(stamps, busy, strict=True)])
    if at is not None:
        loud |= np.array([at[0] <= stamp - now < at[1] for stamp in stamps])
    return list(zip(stamps, (20 + 1480 * loud) * rng.lognormal(0, 0.05, loud.size) * 5, strict=True))


def planned(fleet: Fleet, record: TrackRecord | None, now: datetime = NOW) -> Draft:
    """The plans of now from forecasts whose predecessors did as the record says."""
    stored = fleet.store.forecasts("chat", Signal.RPM, Window(start=NOW, end=NOW + timedelta(seconds=1)))
    if not stored:
        forecast_fleet(fleet, NOW)
    fleet.store.append_forecasts([("chat", replace(issued(fleet), record=record))])
    (draft,) = plan_fleet(fleet, now)
    return draft


def verdicts(draft: Draft) -> list[Verdict]:
    return [found.verdict for plan in draft.plans for found in plan.trusts]


def codes(draft: Draft) -> list[Code]:
    return [reason.code for plan in draft.plans for reason in plan.reasons]


def test_a_young_forecast_is_planned_from_and_says_that_nothing_was_scored(world: World) -> None:
    world.workload("chat")
    write_trace(world.folder / "load.csv", [row for row in daily_rpm() if row[0] >= NOW - 30 * HOUR])
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        model = issued(fleet).model
    assert verdicts(draft) == [Verdict.TRUSTED]
    assert codes(draft) == [Code.TRUST_YOUNG]
    assert draft.plans[0].demand is not None
    assert draft.plans[0].demand.model == model


def test_a_forecast_worse_than_the_naive_one_is_planned_from_that_one_and_every_decision_says_so(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        draft = planned(fleet, replace(GOOD, pinball=14.0))
        (cycle,) = apply_fleet(fleet, NOW)
    (plan,) = draft.plans
    assert verdicts(draft) == [Verdict.NAIVE]
    assert plan.demand is not None
    assert plan.demand.model == "seasonal_naive"
    (record,) = cycle.records
    assert Code.TRUST_NAIVE in {alert.code for alert in record.decision.alerts}
    assert "plans rest on the load at the same time earlier" in record.sentence
    assert world.floor("chat") >= 4


def test_l16_coverage_that_drifts_away_takes_plans_to_the_naive_forecast_until_it_is_back(world: World) -> None:
    world.workload("chat")
    found = []
    with world.fleet() as fleet:
        for step, coverage in enumerate((0.95, 0.80, 0.70, 0.76, 0.95)):
            found += verdicts(planned(fleet, replace(GOOD, coverage=coverage), NOW + timedelta(minutes=step)))
    # the score is 0.9 x (coverage - 0.6) / 0.3: at 0.76 above the gate, and not yet a tenth above it
    assert found == [Verdict.TRUSTED, Verdict.TRUSTED, Verdict.NAIVE, Verdict.NAIVE, Verdict.TRUSTED]


def test_k13_a_load_without_a_period_is_left_to_live_load_over_its_base(world: World) -> None:
    world.workload("chat")
    write_trace(world.folder / "load.csv", bursts(at=(2 * HOUR, 4 * HOUR)))
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        (plan,) = draft.plans
        apply_fleet(fleet, NOW)
        quiet = world.floor("chat")
        (busy,) = apply_fleet(fleet, NOW + 3 * HOUR)
    assert draft.problems == ()
    assert verdicts(draft) == [Verdict.REACTIVE]
    assert (plan.demand, {floor.replicas for floor in plan.floors}) == (None, {1})
    assert {floor.reason.code for floor in plan.floors} == {Code.TRUST_REACTIVE}
    assert quiet == 2  # as it was found: nothing is worse than before
    assert 15 <= world.floor("chat") <= 17
    alerts = {alert.code for alert in busy.records[0].decision.alerts}
    assert alerts == {Code.TRUST_REACTIVE}  # and no plan is called broken for not having known


def test_k13_windows_and_min_hold_without_a_period_too(world: World) -> None:
    world.workload("chat", min=3, windows=[{"from": "08:00", "to": "10:00", "min_replicas": 9}])
    write_trace(world.folder / "load.csv", bursts())
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
    (plan,) = draft.plans
    assert verdicts(draft) == [Verdict.REACTIVE]
    assert {(floor.replicas, floor.reason.code) for floor in plan.floors} == {(3, Code.MIN_BINDS), (9, Code.WINDOW_BINDS)}


def test_a_floor_that_falls_away_by_distrust_is_a_change_under_the_envelope(world: World) -> None:
    world.workload("chat", trust={"gate": 0})
    write_trace(world.folder / "load.csv", bursts())
    with world.fleet() as fleet:
        (before,) = forecast_fleet(fleet, NOW - HOUR)
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["policy"] = {"mode": "auto"}
    with world.fleet() as fleet:
        (after,) = forecast_fleet(fleet, NOW)
    assert max(floor.replicas for floor in before.plans[0].floors) >= 10
    assert verdicts(after) == [Verdict.REACTIVE]
    assert after.plans[0].held


def test_a_gate_of_0_plans_from_whatever_is_forecast(world: World) -> None:
    world.workload("chat", trust={"gate": 0})
    with world.fleet() as fleet:
        draft = planned(fleet, replace(GOOD, pinball=99.0))
    assert (verdicts(draft), codes(draft)) == ([], [])
    assert draft.plans[0].demand is not None
    assert draft.plans[0].demand.model == draft.outlooks[0].model != "seasonal_naive"


def test_a_plan_made_again_at_the_same_instant_is_the_same(world: World) -> None:
    world.workload("chat")
    near = replace(GOOD, pinball=10.5)  # above the gate, and not enough for one that was distrusted
    with world.fleet() as fleet:
        first = planned(fleet, near)
        again = planned(fleet, near)
    assert verdicts(first) == verdicts(again) == [Verdict.TRUSTED]


def test_a_distrusted_forecast_that_cannot_be_replaced_stays_and_is_told(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        old = issued(fleet)
    world.config["forecast"] = {"history": "1d"}
    world.config["store"] = "sqlite:///young.db"
    write_trace(world.folder / "load.csv", daily_rpm()[-3 * 288 :])
    with world.fleet() as fleet:
        fleet.store.append_forecasts([("chat", replace(old, record=replace(GOOD, pinball=14.0)))])
        (draft,) = plan_fleet(fleet, NOW)
    assert verdicts(draft) == [Verdict.TRUSTED]
    assert draft.plans[0].demand is not None
    assert draft.plans[0].demand.model == old.model
    assert "below 0.4" in draft.problems[0]
    assert "seasonal_naive has no answer" in draft.problems[0]


@pytest.mark.parametrize("signal", ["input_length", "output_length"])
def test_a_mean_length_is_forecast_and_sizes_nothing(world: World, signal: str) -> None:
    world.workload("chat")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["signals"][signal] = {"query": "value", "unit": "count"}
    world.config["executor"] = {"type": "serial"}
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        (recalled,) = plan_fleet(fleet, NOW)
    assert sorted(outlook.signal for outlook in draft.outlooks) == sorted(["rpm", signal])
    assert len(recalled.outlooks) == 2
    assert draft.plans[0].demand is not None
    assert draft.plans[0].demand.signals == (Signal.RPM,)
    assert draft.problems == ()
    assert 4 <= world.floor("chat") <= 8
