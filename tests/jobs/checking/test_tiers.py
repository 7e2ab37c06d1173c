"""What `check` says of levers, of what they watch and of admission; nothing is moved."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from tests.jobs.levers.engine import Engine
from tests.jobs.levers.stage import Stage
from tests.jobs.world import NOW, World, daily_rpm, write_trace
from tests.kube_api import KubeApi
from tests.lever_receiver import LeverReceiver


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """All of it moved by something, and watched by something."""
    write_trace(tmp_path / "load.csv", daily_rpm(days=1))
    with KubeApi() as api, Engine() as engine, LeverReceiver() as gateway:
        built = Stage.built(World(folder=tmp_path, api=api), engine, gateway)
        engine.serve(10, latency_s=0.3, failed=1)
        built.tiers["rules"] += [
            {"name": "deep", "when": {"signal": "queue", "above": 10}, "set": {"cache": True}},
            {"name": "failing", "tier": "emergency", "when": {"signal": "errors", "above": 0.2}, "set": {"rate": 60, "breaker": 1}},
        ]
        yield built


def checked(stage: Stage) -> list[Finding]:
    stage.world.config["tiers"] = stage.tiers
    before = dict(stage.gateway.values)
    found = [one for one in check_all(stage.world.path, NOW) if one.what in {"lever", "signal", "admission", "tiers"}]
    assert (stage.world.api.writes, stage.gateway.posts, stage.gateway.values) == ((), [], before)
    return found


def found(stage: Stage, where: str) -> Finding:
    """The one finding, or the worst of several."""
    order = [State.FAILED, State.WARNING, State.OK]
    return min((one for one in checked(stage) if one.where == where), key=lambda one: order.index(one.state))


def test_where_all_works_every_lever_and_signal_is_one_row(stage: Stage) -> None:
    assert [(one.what, one.where, one.state, one.sentence) for one in checked(stage)] == [
        ("lever", "batch", State.OK, "stands at 32; not ours"),
        ("lever", "breaker", State.OK, "stands at 64; not ours"),
        ("lever", "cache", State.OK, "stands at false; not ours"),
        ("lever", "rate", State.OK, "stands at 900; not ours"),
        ("signal", "errors", State.OK, f"can be told from the second look on, of {stage.engine.page}"),
        ("signal", "p99", State.OK, f"can be told from the second look on, of {stage.engine.page}"),
        ("signal", "queue", State.OK, f"is 0 now, of {stage.engine.page}"),
    ]


def test_a_lever_whose_object_is_gone_is_one_sentence_with_the_remedy(stage: Stage) -> None:
    stage.world.api.remove("configmaps", "serving", "engine")
    told = found(stage, "batch")
    assert told.state is State.FAILED
    assert "configmaps serving/engine" in told.sentence
    assert told.sentence.endswith("it is not there: correct namespace and name in the configuration")


def test_one_that_is_gone_while_it_was_moved_says_what_it_is_to_go_back_to(stage: Stage) -> None:
    stage.tiers["rules"][1]["when"] |= {"lasting": None}
    stage.tiers["rules"][1]["set"] = {"batch": 8, "cache": True}
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
    writes = len(stage.world.api.writes)
    stage.world.api.remove("configmaps", "serving", "engine")
    sentences = [one.sentence for one in check_all(stage.world.path, NOW) if one.what == "lever" and one.where == "batch"]
    assert len(stage.world.api.writes) == writes
    assert sentences[0].endswith("; it was set to 8 at 2026-03-02T07:30:00Z and is to go back to 32")


def test_a_field_that_is_not_there_is_told_since_it_may_be_misspelt(stage: Stage) -> None:
    stage.tiers["levers"]["batch"]["field"] = "data.max_num_seq"
    told = found(stage, "batch")
    assert told.state is State.WARNING
    assert "nothing stands there now, so that it would be added and taken away again: correct kubernetes-field:serving/" in told.sentence


@pytest.mark.parametrize(("mode", "state"), [("auto", State.FAILED), ("observe", State.WARNING)])
def test_a_missing_right_to_write_is_named_with_its_rule_and_fails_only_where_levers_are_moved(
    stage: Stage, mode: str, state: State
) -> None:
    stage.tiers["mode"] = mode
    stage.world.api.forbid("patch", "configmaps")
    told = found(stage, "batch")
    assert told.state is state
    assert 'add the RBAC rule {apiGroups: [""], resources: [configmaps], verbs: [patch]} to our role in namespace serving' in told.sentence


def test_a_lever_that_nothing_moves_is_told(stage: Stage) -> None:
    stage.tiers["rules"].pop()
    assert found(stage, "breaker").sentence == "stands at 64; not ours; no rule, ladder or admission moves it: remove it"
    assert found(stage, "errors").sentence == "no rule or ladder watches it: remove it"


def test_a_page_that_does_not_answer_fails_and_one_of_two_is_a_warning(stage: Stage) -> None:
    absent = "http://127.0.0.1:9/metrics"
    stage.tiers["signals"]["queue"]["pages"] = [absent, stage.engine.page]
    assert found(stage, "queue").state is State.WARNING
    stage.tiers["signals"]["queue"]["pages"] = [absent]
    told = found(stage, "queue")
    assert (told.state, "see that the engine runs and lets us in" in told.sentence) == (State.FAILED, True)


def test_a_query_without_a_sample_is_told_with_its_name(stage: Stage) -> None:
    stage.tiers["signals"]["queue"]["query"] = "vllm:num_requests_waiting"
    told = found(stage, "queue")
    assert told.state is State.WARNING
    assert told.sentence.startswith(f"no sample of vllm:num_requests_waiting is on {stage.engine.page} now, so that it is unknown")


def test_a_quantile_of_what_is_no_histogram_is_told_as_such(stage: Stage) -> None:
    stage.tiers["signals"]["p99"]["query"] = "p99(llm_waiting)"
    assert found(stage, "p99").sentence.startswith(f"no histogram llm_waiting (no llm_waiting_bucket) is on {stage.engine.page} now")


def test_a_page_that_fails_for_now_is_told_without_a_remedy_that_is_none(stage: Stage) -> None:
    stage.engine.up = False
    told = found(stage, "queue")
    assert told.state is State.FAILED
    assert told.sentence == f"the page of metrics {stage.engine.page} answers HTTP 503: it is asked again at the next tick"


def test_a_quantile_that_its_buckets_cannot_exceed_fails(stage: Stage) -> None:
    stage.tiers["rules"][0]["when"] = {"signal": "p99", "above": 8}
    told = found(stage, "p99")
    assert told.state is State.FAILED
    assert "the histogram's largest bucket ends at 5" in told.sentence
    assert "slow acts above 8, which it never will" in told.sentence


def test_the_last_number_of_a_source_counts_and_a_source_that_only_levers_ask_is_not_idle(stage: Stage) -> None:
    write_trace(stage.world.folder / "p99.csv", [(NOW.replace(minute=at), at / 10) for at in (27, 28, 29)])
    stage.world.config["sources"] |= {"gateway": {"type": "csv", "path": "p99.csv"}}  # type: ignore[operator]  # what world.workload wrote
    stage.tiers["signals"]["p99"] = {"source": "gateway", "query": "value"}
    assert found(stage, "p99").sentence == "is 2.9 now"
    assert not [one for one in check_all(stage.world.path, NOW) if one.what == "source" and one.where == "gateway"]
    (stage.world.folder / "p99.csv").unlink()
    assert found(stage, "p99").state is State.FAILED


def test_admission_is_told_by_its_pool_and_who_knows_its_ready_replicas(stage: Stage) -> None:
    one = {"workload": "chat", "pool": "gpu", "slo": "10s", "service": "4s", "breaker": "breaker"}
    stage.tiers["rules"].pop()
    stage.tiers["admission"] = [one]
    assert found(stage, "chat/gpu").sentence == "2 ready replicas, as kubernetes-hpa:serving/chat tells"
    stage.world.api.delete_hpa("serving", "chat")
    told = found(stage, "chat/gpu")
    assert (told.state, "ready replicas are unknown, so its limits would stay as they are" in told.sentence) == (State.FAILED, True)
    stage.tiers["admission"] = [one | {"workload": "chta"}]
    of_api = {"cluster": {"server": stage.world.api.url, "timeout_s": 1}}
    target = {"type": "kubernetes-hpa", "namespace": "{namespace}", "name": "{name}", **of_api}
    pools = [{"name": "gpu", "capacity": {"rpm": 60}, "targets": [target]}]
    body = {"name": "{name}", "source": "trace-chat", "signals": {"rpm": {"query": "value", "unit": "count"}}, "pools": pools}
    each = {"type": "kubernetes-hpa", "label_selector": "forecaster=on", **of_api}
    stage.world.config["templates"] = [{"for_each": each, "workload": body}]  # one of theirs is not written down
    assert found(stage, "chta/gpu").sentence == "there is no workload chta: correct admission.workload"


def test_what_mode_auto_left_behind_is_told(stage: Stage) -> None:
    both = {"name": "deep", "when": {"signal": "queue", "above": 10, "lasting": None}, "set": {"cache": True, "batch": 8}}
    stage.tiers["rules"] = [both]
    stage.engine.waiting = 50
    with stage.process() as process:
        process.tick(0)
    stage.tiers["levers"].pop("batch")
    stage.tiers |= {"mode": "observe", "rules": [both | {"set": {"cache": True}}]}
    stage.world.config["tiers"] = stage.tiers
    levers = [one for one in check_all(stage.world.path, NOW) if one.what == "lever"]
    told = {one.where: one.sentence for one in levers if "and is to go back to" in one.sentence}
    assert told["batch"].endswith("it is no longer in the configuration: put it back there until it has been restored")
    assert told["cache"].endswith("mode observe moves nothing: run `forecaster levers --release`")
