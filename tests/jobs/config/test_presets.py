"""`presets` of a workload: who supplies what, what is asked for, and what is refused."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.presets.quantity import Quantity
from forecaster.errors import ConfigRejected
from forecaster.ports import Unit
from forecaster.series import Signal
from jobs.config.reading import read_config
from jobs.config.workloads import WorkloadSection

ENVOY = {"name": "envoy", "match": {"envoy_cluster_name": "chat"}}
VLLM = {"name": "vllm", "match": {"model_name": "llama", "namespace": "inference"}}
DCGM = {"name": "dcgm", "match": {"namespace": "inference"}}
SQS = {"name": "sqs", "match": {"dimension_QueueName": "jobs"}}


def body(presets: object, *, capacity: Mapping[str, float] | None = None, **more: object) -> dict[str, Any]:
    pool = {"name": "gpu", "capacity": capacity or {"rpm": 100, "concurrency": 30}, "targets": [{"type": "recording", "name": "chat"}]}
    return {"name": "chat", "source": "prometheus", "presets": presets, "pools": [pool], **more}


def workload(*presets: Mapping[str, object], capacity: Mapping[str, float] | None = None, **more: object) -> WorkloadSection:
    return WorkloadSection.model_validate(body(list(presets), capacity=capacity, **more))


def suppliers(section: WorkloadSection) -> dict[str, str]:
    return {supply.quantity.value: supply.preset.name for supply in section.supplies()}


def test_a_gateway_in_front_tells_what_arrives_and_the_engine_what_it_has_in_hand() -> None:
    told = suppliers(workload(ENVOY, VLLM, DCGM))
    assert told["rpm"] == told["refused"] == "envoy"
    assert {told[q] for q in ("concurrency", "tokens", "queue_depth", "latency_p95", "error_rate", "kv_cache")} == {"vllm"}
    assert told["gpu"] == "dcgm"


def test_what_a_gateway_says_second_best_is_taken_where_no_engine_tells() -> None:
    assert suppliers(workload(ENVOY))["concurrency"] == "envoy"


def test_the_earlier_one_wins_of_two_that_tell_the_same() -> None:
    sglang = {"name": "sglang", "match": {"model_name": "llama"}}
    assert suppliers(workload(VLLM, sglang))["rpm"] == "vllm"
    assert suppliers(workload(sglang, VLLM))["rpm"] == "sglang"


def test_only_takes_some_quantities_and_leaves_the_others_to_those_behind() -> None:
    told = suppliers(workload({**ENVOY, "only": ["rpm", "concurrency"]}, VLLM))
    assert told["rpm"] == told["concurrency"] == "envoy"
    assert told["refused"] == "vllm"


def test_a_signal_that_is_written_out_outranks_every_preset() -> None:
    section = workload(ENVOY, VLLM, signals={"rpm": {"query": "sum(mine)", "unit": "per_minute"}})
    (rpm,) = [query for query in section.queries() if query.signal is Signal.RPM]
    assert (rpm.expression, rpm.unit) == ("sum(mine)", Unit.PER_MINUTE)
    assert "rpm" not in suppliers(section)


def test_a_single_preset_may_stand_alone() -> None:
    assert suppliers(WorkloadSection.model_validate(body(VLLM)))["rpm"] == "vllm"


def test_load_without_a_capacity_is_not_asked_for_and_what_people_look_at_is_no_signal() -> None:
    asked = {query.signal for query in workload(VLLM, capacity={"concurrency": 30}).queries()}
    pressure = {Signal.QUEUE_DEPTH, Signal.REFUSED, Signal.INPUT_LENGTH, Signal.OUTPUT_LENGTH, Signal.PREFIX_HITS}
    assert asked == {Signal.CONCURRENCY, *pressure}


def test_without_any_capacity_one_load_is_asked_for_so_that_there_is_a_forecast() -> None:
    section = WorkloadSection.model_validate({**body(VLLM), "pools": [{"name": "gpu", "targets": [{"type": "recording", "name": "chat"}]}]})
    assert next(query.signal for query in section.queries()) is Signal.RPM
    assert not {Signal.CONCURRENCY, Signal.TOKENS} & {query.signal for query in section.queries()}


def test_gpu_series_are_narrowed_to_the_pods_of_the_engine_beside_them() -> None:
    (gpu,) = [supply for supply in workload(VLLM, DCGM).supplies() if supply.quantity is Quantity.GPU]
    assert "and on (namespace, pod) (max by (namespace, pod) (max without (prometheus_replica) (vllm:num_requests_running" in gpu.expression


@pytest.mark.parametrize(
    ("presets", "sentence"),
    [
        (
            [DCGM],
            r"dcgm supplies GPU, GPU memory, which is no load: utilisation alone never lowers a floor; add a preset or a signal with rpm",
        ),
        ([{**VLLM, "only": ["kv_cache"]}], "which is no load"),
        ([{**VLLM, "only": []}], r"only\n  Tuple should have at least 1 item"),
        ([{**VLLM, "only": ["gpu"]}], "preset vllm does not supply gpu; it supplies rpm, concurrency"),
        ([{**VLLM, "match": {"model": "x"}}], "preset vllm has no label 'model'; it knows model_name"),
        ([], "signals needs at least one load signal: rpm, concurrency or tokens; or name a preset that supplies one"),
    ],
)
def test_a_preset_that_cannot_do_is_refused_with_what_it_can(presets: Sequence[Mapping[str, object]], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        workload(*presets)


def test_a_workload_with_nothing_but_utilisation_never_comes_to_move_a_floor(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    sources = {"prometheus": {"type": "prometheus", "url": "http://127.0.0.1:9"}}
    path.write_text(yaml.safe_dump({"sources": sources, "workloads": [body(DCGM)]}))
    with pytest.raises(
        ConfigRejected, match=r"workloads\[0\]: dcgm supplies GPU, GPU memory, which is no load: utilisation alone never lowers"
    ):
        read_config(path)


@pytest.mark.parametrize(
    ("source", "preset", "sentence"),
    [
        ({"type": "csv", "path": "x.csv"}, VLLM, "vllm is written for sources of type prometheus, and prometheus is of type csv"),
        (
            {"type": "prometheus", "url": "http://127.0.0.1:9"},
            {"name": "sqs-cloudwatch", "match": {"QueueName": "jobs"}},
            "sqs-cloudwatch is written for sources of type cloudwatch, and prometheus is of type prometheus",
        ),
    ],
)
def test_a_preset_in_another_language_than_its_source_is_refused(
    tmp_path: Path, source: dict[str, str], preset: dict[str, object], sentence: str
) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(yaml.safe_dump({"sources": {"prometheus": source}, "workloads": [body(preset)]}))
    with pytest.raises(ConfigRejected, match=rf"workloads\[0\]\.presets: {sentence}"):
        read_config(path)


def test_a_misspelt_preset_is_named_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    sources = {"prometheus": {"type": "prometheus", "url": "http://127.0.0.1:9"}}
    path.write_text(yaml.safe_dump({"sources": sources, "workloads": [body([{**VLLM, "name": "vlm"}])]}))
    with pytest.raises(ConfigRejected, match=r"workloads\[0\]\.presets\[0\]\.name: .*did you mean vllm\?"):
        read_config(path)


def test_a_label_of_a_template_fills_a_presets_match() -> None:
    section = workload({"name": "vllm", "match": {"model_name": "{label:model}"}})
    assert 'model_name="{label:model}"' in section.queries()[0].expression


def test_a_queue_tells_backlog_and_what_is_in_work() -> None:
    assert suppliers(workload(SQS)) == {"concurrency": "sqs", "queue_depth": "sqs"}


def counting(*presets: Mapping[str, object], **more: Any) -> set[Signal]:
    """The signals of whose numbers it is said that they count what waits."""
    return {query.signal for query in workload(*presets, **more).queries() if query.counts_waiting}


def test_where_one_preset_says_concurrency_and_queue_its_concurrency_is_said_to_count_what_waits() -> None:
    assert counting(VLLM) == {Signal.CONCURRENCY}
    own_queue = {"queue_depth": {"query": "queue", "unit": "count"}}
    assert counting(VLLM, signals=own_queue) == set()  # another queue, which stands before it
    assert counting({**VLLM, "only": ["queue_depth"]}, {**ENVOY, "only": ["rpm", "concurrency"]}) == set()
    assert counting({**VLLM, "only": ["concurrency"]}, {**SQS, "only": ["queue_depth"]}) == set()


def test_the_presets_that_count_what_waits_are_those_whose_concurrency_has_their_queue_for_a_part() -> None:
    counting_it = {name for name, preset in PRESETS.items() if preset.counts_waiting}
    assert counting_it == {"vllm", "sglang", "tgi", "trtllm", "nim", "ray-serve", "llm-d", "envoy"}
    assert not PRESETS["triton"].counts_waiting  # the time of what has ended, which knows nothing of what waits now
    assert not PRESETS["sqs"].counts_waiting  # what is in flight, and beside it what is not yet
