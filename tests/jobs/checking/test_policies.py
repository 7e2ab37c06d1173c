"""Rules that contradict the objects, the forecast or each other are named with both numbers."""

from datetime import UTC, datetime

import pytest

from forecaster.capacity import HOW_TO_TELL
from forecaster.decision import Seen
from jobs.checking.finding import State
from jobs.checking.policies import check_policy
from jobs.config.document import Config

TARGET = "recording:chat"


def config_of(policy: dict[str, object] | None = None, *, capacity: dict[str, float] | None = None, lead: str = "10m") -> Config:
    pool = {
        "name": "gpu",
        "capacity": {"rpm": 60} if capacity is None else capacity,
        "lead_time": {"cold": lead},
        "targets": [{"type": "recording", "name": "chat"}],
    }
    signals = {"rpm": {"query": "a", "unit": "count"}, "concurrency": {"query": "b", "unit": "count"}}
    workload = {"name": "chat", "source": "trace", "signals": signals, "pools": [pool], "policy": policy or {}}
    return Config.model_validate({"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": [workload]})


def seen(*, floor: int = 2, ceiling: int | None = 20) -> dict[str, Seen]:
    now = datetime(2026, 3, 2, tzinfo=UTC)
    one = Seen(target=TARGET, at=now, floor=floor, ceiling=ceiling, original=floor, ready=None, pending=None, version="1")
    return {TARGET: one}


def said(config: Config, objects: dict[str, Seen]) -> list[tuple[State, str]]:
    return [(one.state, one.sentence) for one in check_policy(config.workloads[0], config, objects)]


def test_without_a_contradiction_it_is_said_what_the_policy_comes_to() -> None:
    assert said(config_of({"level": 0.9}), seen()) == [(State.OK, "mode observe: floors follow rpm at P90, 10m ahead")]


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"min": 30}, f"min asks for 30 and the ceiling of {TARGET} is 20: floors stop at 20; raise the one or lower the other"),
        ({"fallback": 9, "max": 5}, "fallback asks for 9 and max is 5: floors stop at 5; raise the one or lower the other"),
        (
            {"windows": [{"from": "08:00", "to": "18:00", "min_replicas": 25}]},
            f"a window asks for 25 and the ceiling of {TARGET} is 20: floors stop at 20; raise the one or lower the other",
        ),
        ({"min": 1}, f"min 1 is below the 2 found on {TARGET}, which holds; set allow_below_original to go lower"),
        ({"max": 1}, f"max 1 is below the 2 found on {TARGET}, which holds; set allow_below_original to go lower"),
        ({"expiry": "30m"}, "plans expire after 30m, and the daemon makes one every 1h: the fallback holds in between; lengthen expiry"),
    ],
)
def test_bounds_that_cross_are_a_warning_since_the_guard_holds_them(policy: dict[str, object], sentence: str) -> None:
    assert said(config_of(policy), seen()) == [(State.WARNING, sentence)]


def test_bulk_work_needs_no_capacity() -> None:
    config = config_of().model_dump(mode="json", by_alias=True, exclude_unset=True)
    night = {"name": "night", "budget": "spot", "bulk": {"replica_hours": 1, "deadline": "06:00"}}
    config["workloads"][0]["pools"].append(night | {"targets": [{"type": "recording", "name": "night"}]})
    config["workloads"][0]["pools"][0]["lead_time"] = {"cold": "10m"}
    assert said(Config.model_validate(config | {"budgets": {"spot": {"gpus": 8}}}), {})[0][0] is State.OK


def test_going_below_what_was_found_may_be_meant() -> None:
    assert said(config_of({"min": 1, "allow_below_original": True}), seen())[0][0] is State.OK


def test_an_object_without_a_ceiling_has_none_to_cross() -> None:
    assert said(config_of({"min": 30}), seen(ceiling=None))[0][0] is State.OK


def test_an_object_that_was_not_seen_is_not_judged() -> None:
    assert said(config_of({"min": 30}), {})[0][0] is State.OK


def test_a_lead_time_beyond_the_horizon_fails_since_no_floor_would_be_in_time() -> None:
    ((state, sentence),) = said(config_of(lead="4d"), seen())
    assert state is State.FAILED
    assert sentence.startswith("pool gpu needs 4d from request to ready, and the horizon is 3d: no floor would be in time; lengthen")


def test_a_pool_without_a_capacity_for_any_signal_is_held_and_says_so() -> None:
    assert said(config_of(capacity={"tokens": 5}), seen()) == [
        (State.WARNING, f"pool gpu has no capacity for rpm, concurrency: it is held where it is; {HOW_TO_TELL}")
    ]


def test_a_floor_above_what_was_found_and_a_lower_max_stops_at_what_was_found() -> None:
    sentences = [sentence for _, sentence in said(config_of({"max": 1, "fallback": 5}), seen())]
    assert sentences == [
        f"max 1 is below the 2 found on {TARGET}, which holds; set allow_below_original to go lower",
        f"fallback asks for 5 and what was found on {TARGET} is 2: floors stop at 2; raise the one or lower the other",
    ]
