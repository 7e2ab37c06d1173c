"""Which loop scales an object already, and what to make the target instead."""

from typing import Any

import pytest

from connectors.kube.cluster import Cluster, KubeFailed
from connectors.kube.connection import KubeConnection
from connectors.targets.reactive import Scaled, scaler_of
from tests.kube_api import KubeApi

LLM = Scaled(group="apps", kind="Deployment", namespace="inference", name="llm")


def asked(api: KubeApi, scaled: Scaled = LLM) -> str | None:
    scaler = scaler_of(scaled, Cluster(KubeConnection(server=api.url)))
    return None if scaler is None else scaler.refusal(scaled)


def scaled_object(api: KubeApi, ref: dict[str, Any], *, namespace: str = "inference") -> None:
    api.put("scaledobjects", namespace, "llm-so", metadata={}, spec={"scaleTargetRef": ref, "triggers": []})


def test_an_object_that_nothing_names_is_free(api: KubeApi) -> None:
    api.add_hpa("inference", "other", scales="Deployment/other")
    api.add_hpa("elsewhere", "llm", scales="Deployment/llm")
    api.add_hpa("inference", "of-another-kind", scales="StatefulSet/llm")
    assert asked(api) is None


def test_the_hpa_that_scales_it_is_named_with_what_to_use_instead(api: KubeApi) -> None:
    api.add_hpa("inference", "llm-hpa", scales="Deployment/llm")
    assert asked(api) == (
        "the HPA inference/llm-hpa scales the Deployment inference/llm and would write its own number back: "
        "make that HPA the target (type kubernetes-hpa)"
    )


@pytest.mark.parametrize("ref", [{"name": "llm"}, {"apiVersion": "apps/v1", "kind": "Deployment", "name": "llm"}])
def test_a_scaled_object_means_a_deployment_where_it_names_no_kind(api: KubeApi, ref: dict[str, Any]) -> None:
    scaled_object(api, ref)
    said = asked(api)
    assert said is not None
    assert "KEDA ScaledObject inference/llm-so" in said
    assert "type keda-scaledobject" in said


def test_keda_is_named_and_not_the_hpa_that_it_made(api: KubeApi) -> None:
    api.add_hpa("inference", "keda-hpa-llm", scales="Deployment/llm", owner=("ScaledObject", "llm-so"))
    said = asked(api)
    assert said is not None
    assert said.startswith("the KEDA ScaledObject inference/llm-so scales")


def test_a_scaled_object_of_another_kind_is_no_loop_of_ours(api: KubeApi) -> None:
    scaled_object(api, {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "llm"})
    assert asked(api) is None
    rollout = Scaled(group="argoproj.io", kind="Rollout", namespace="inference", name="llm")
    assert asked(api, rollout) is not None


def test_a_cluster_without_keda_has_no_scaled_objects(api: KubeApi) -> None:
    api.fail_next(404, verb="list", plural="scaledobjects", message="the server could not find the requested resource")
    assert asked(api) is None


@pytest.mark.parametrize("plural", ["horizontalpodautoscalers", "scaledobjects"])
def test_an_object_of_which_nobody_can_tell_is_not_free(api: KubeApi, plural: str) -> None:
    api.forbid("list", plural)
    with pytest.raises(KubeFailed, match=plural):
        asked(api)


def test_loops_of_serving_projects_count_where_we_may_list_them(api: KubeApi) -> None:
    api.fail_next(403, verb="list", plural="podautoscalers", times=2, message="forbidden")
    assert asked(api) is None
