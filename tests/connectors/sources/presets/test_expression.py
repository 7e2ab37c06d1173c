"""How a preset's PromQL comes about: labels, escapes, renamed names, copies."""

from collections.abc import Mapping
from typing import get_args

import pytest

from connectors.sources.presets.catalogue import PRESETS, PresetName
from connectors.sources.presets.expression import Use, expression, metric_names, selectors
from connectors.sources.presets.quantity import Quantity
from forecaster.ports import Unit
from forecaster.series import Signal

OURS = {"model_name": "llama"}


def use(preset: str, match: Mapping[str, str] = OURS) -> Use:
    return Use(preset=PRESETS[preset], match=match)


def test_every_preset_has_a_literal_in_the_configuration() -> None:
    assert set(get_args(PresetName)) == set(PRESETS)


def test_every_load_and_pressure_signal_of_the_core_is_a_quantity() -> None:
    assert {q.signal for q in Quantity} - {None} == set(Signal) - {Signal.CONDITION, Signal.READY}


@pytest.mark.parametrize("value", ['a"b', "a\\b", "a\nb", 'x"} or vector(1) #'])
def test_a_value_stands_for_itself_whatever_characters_it_has(value: str) -> None:
    spelled = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    assert f'{{model_name="{spelled}"}}' in expression(use("sglang", {"model_name": value}), Quantity.QUEUE_DEPTH)


def test_a_value_that_begins_with_a_tilde_is_a_regular_expression() -> None:
    assert 'pod=~"llama-.*"' in expression(use("vllm", {"pod": "~llama-.*"}), Quantity.QUEUE_DEPTH)


def test_a_label_that_the_preset_does_not_know_is_refused_with_those_that_it_knows() -> None:
    with pytest.raises(ValueError, match=r"preset vllm has no label 'model'; it knows model_name, engine, namespace, pod, container"):
        use("vllm", {"model": "llama"})


def test_a_preset_without_labels_is_refused_since_it_would_add_up_everybodys_load() -> None:
    with pytest.raises(ValueError, match=r"preset vllm needs at least one label to match, or it adds up everybody's load"):
        use("vllm", {})


def test_an_empty_value_is_refused_since_it_matches_what_lacks_the_label() -> None:
    with pytest.raises(ValueError, match=r"preset vllm cannot match an empty namespace"):
        use("vllm", {**OURS, "namespace": ""})


def test_names_of_all_versions_are_alternatives_and_never_terms_of_a_sum() -> None:
    told = expression(use("vllm"), Quantity.KV_CACHE)
    assert told.index("vllm:kv_cache_usage_perc") < told.index("vllm:gpu_cache_usage_perc")
    assert "+" not in told
    assert told.count(" or on (namespace, pod, instance) ") == 3


def test_a_quantity_is_not_supplied_where_its_metric_lacks_a_matched_label() -> None:
    assert use("llm-d", {"inference_pool": "llama"}).supplies(Quantity.KV_CACHE)
    assert not use("llm-d").supplies(Quantity.KV_CACHE)


def test_arrivals_of_a_topic_are_told_whoever_consumes_it_and_only_where_the_topic_is_named() -> None:
    both = use("kafka-lag", {"consumergroup": "workers", "topic": "jobs"})
    assert "consumergroup" not in expression(both, Quantity.RPM)
    assert not use("kafka-lag", {"consumergroup": "workers"}).supplies(Quantity.RPM)


def test_a_queue_of_cloudwatch_is_asked_in_its_own_words_and_counts() -> None:
    queue = use("sqs-cloudwatch", {"QueueName": "the jobs"})
    assert expression(queue, Quantity.RPM) == "metric(AWS/SQS NumberOfMessagesSent Sum QueueName='the jobs')"
    assert queue.preset.unit(Quantity.RPM) is Unit.COUNT
    with pytest.raises(ValueError, match="CloudWatch knows no regular expressions"):
        use("sqs-cloudwatch", {"QueueName": "~jobs"})


def test_what_is_looked_up_in_an_index_is_a_selector_for_each_metric() -> None:
    assert selectors(use("sglang"), Quantity.CONCURRENCY) == (
        '{__name__=~"sglang:num_running_reqs|sglang_num_running_reqs", model_name="llama"}',
        '{__name__=~"sglang:num_queue_reqs|sglang_num_queue_reqs", model_name="llama"}',
    )
    assert metric_names(PRESETS["sglang"]) == ("sglang:num_running_reqs", "sglang_num_running_reqs")


def test_a_preset_never_supplies_load_by_utilisation_alone() -> None:
    assert not PRESETS["dcgm"].gives_load
    assert all(preset.gives_load for name, preset in PRESETS.items() if name != "dcgm")
