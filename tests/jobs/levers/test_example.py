"""examples/levers.yaml as it stands, on loopback servers: three rules of thumb, and the ladder of degradation with its way back."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.levers.tick import Tick
from tests.jobs.levers.stage import Process, Stage

EXAMPLE = Path(__file__).parents[3] / "examples" / "levers.yaml"
QUERIES = {
    "queue": "llm_waiting",
    "ttft": "p99(llm_first_token_seconds)",
    "p99": "p99(llm_latency_seconds)",
    "errors": 'ratio(llm_requests_total{code="500"}, llm_requests_total)',
}
"""The example's signals as the loopback engine has them; the last one is of its gateway there."""
STEPS = ("shorter batch wait", "capped output tokens", "cached answers", "shed the lowest priority", "smaller model")


@pytest.fixture
def service(stage: Stage) -> Stage:
    """The example in mode auto, with its objects on the loopback API server, and thresholds that the engine's buckets reach."""
    tiers: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())["tiers"]
    for lever in tiers["levers"].values():
        lever["cluster"] = {"server": stage.world.api.url}
    tiers |= {"mode": "auto", "signals": {name: {"pages": [stage.engine.page], "query": query} for name, query in QUERIES.items()}}
    tiers["ladders"][0]["when"] |= {"above": 4, "below": 2}
    stage.tiers = tiers
    api, gateway = stage.world.api, "inference.networking.x-k8s.io/v1alpha2"
    api.define("inferenceobjectives", kind="InferenceObjective", api_version=gateway)
    api.define("inferencemodelrewrites", kind="InferenceModelRewrite", api_version=gateway)
    api.define("backendtrafficpolicies", kind="BackendTrafficPolicy", api_version="gateway.envoyproxy.io/v1alpha1")
    data = {"batch_wait_ms": "20", "max_batch": "64", "max_output_tokens": "4096", "cached_answers": "false"}
    api.put("configmaps", "llm", "router", metadata={}, data=data)
    api.put("inferenceobjectives", "llm", "free", metadata={}, spec={"priority": 0})
    api.put("inferencemodelrewrites", "llm", "chat", metadata={}, spec={"rules": [{"targets": [{"modelRewrite": "large"}]}]})
    limits = {"rateLimit": {"local": {"rules": [{"limit": {"requests": 900}}]}}, "circuitBreaker": {"maxParallelRequests": 64}}
    api.put("backendtrafficpolicies", "llm", "chat", metadata={}, spec=limits)
    return stage


def stands(service: Stage) -> dict[str, object]:
    """Each lever's value as its object has it."""
    api = service.world.api
    policy = api.look("backendtrafficpolicies", "llm", "chat")["spec"]
    return {
        **api.look("configmaps", "llm", "router")["data"],
        "priority": api.look("inferenceobjectives", "llm", "free")["spec"]["priority"],
        "model": api.look("inferencemodelrewrites", "llm", "chat")["spec"]["rules"][0]["targets"][0]["modelRewrite"],
        "rate": policy["rateLimit"]["local"]["rules"][0]["limit"]["requests"],
        "breaker": policy["circuitBreaker"]["maxParallelRequests"],
    }


def ticks(service: Stage, process: Process, at: range, *, latency_s: float = 0.3, **served: float) -> list[Tick]:
    found = []
    for each in at:
        service.engine.serve(50, latency_s=latency_s, first_s=served.get("first_s", 0.1), failed=int(served.get("failed", 0)))
        found.append(process.tick(each))
    return found


def test_a_deep_queue_raises_now_and_moves_nothing(service: Stage) -> None:
    before, service.engine.waiting = stands(service), 500
    with service.process() as process:
        raised = [tick.pulled.raise_now for tick in ticks(service, process, range(3))]
    assert raised == [False, True, False]  # once it has lasted five seconds, and at that tick alone
    assert stands(service) == before


def test_a_slow_first_token_makes_batches_smaller(service: Stage) -> None:
    before = stands(service)
    with service.process() as process:
        ticks(service, process, range(1))
        ticks(service, process, range(1, 3), first_s=4.0)
        assert stands(service) == before | {"max_batch": "16"}
        ticks(service, process, range(3, 20))
    assert stands(service) == before


def test_errors_limit_the_rate_and_open_the_circuit(service: Stage) -> None:
    before = stands(service)
    with service.process() as process:
        ticks(service, process, range(1))
        ticks(service, process, range(1, 3), failed=30)
        assert stands(service) == before | {"rate": 60, "breaker": 1}
        ticks(service, process, range(3, 20))
    assert stands(service) == before


def test_a_high_p99_takes_five_steps_in_order_and_gives_them_back_in_reverse(service: Stage) -> None:
    course: list[dict[str, object]] = [
        {"batch_wait_ms": "2"},
        {"max_output_tokens": "256"},
        {"cached_answers": "true"},
        {"priority": -10},
        {"model": "small"},
    ]
    expected = [stands(service)]
    for change in course:
        expected.append(expected[-1] | change)
    with service.process() as process:
        ticks(service, process, range(1))
        seen, steps = [stands(service)], []
        for at in range(1, 120):
            (tick,) = ticks(service, process, range(at, at + 1), latency_s=4.9 if at < 40 else 0.3)
            steps += [reason.detail for reason in tick.pulled.reasons if "step" in reason.detail and "degrade" in reason.detail]
            now = stands(service)
            seen += [now] if now != seen[-1] else []
    assert seen == [*expected, *reversed(expected[:-1])]
    taken = [step for step in steps if "takes step" in step]
    back = [step for step in steps if "takes back" in step]
    assert [name for step in taken for name in STEPS if f", {name}:" in step] == list(STEPS)
    assert [name for step in back for name in STEPS if f", {name}:" in step] == list(reversed(STEPS))
