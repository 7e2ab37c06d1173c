"""Every kind of target is chosen by its type, costs nothing to configure, and shares what it reaches."""

import subprocess
import sys

import pytest
from pydantic import TypeAdapter, ValidationError

from connectors.targets.registry import TargetConfig, open_target, open_targets, target_name
from forecaster.errors import TargetError
from tests.connectors.targets.subjects import NOW
from tests.kube_api import KubeApi

CONFIGS: TypeAdapter[TargetConfig] = TypeAdapter(TargetConfig)
EVERY_KIND = [
    ({"type": "recording", "name": "demo"}, "recording:demo"),
    ({"type": "kubernetes-hpa", "namespace": "inference", "name": "llm"}, "kubernetes-hpa:inference/llm"),
    ({"type": "keda-scaledobject", "namespace": "inference", "name": "llm"}, "keda-scaledobject:inference/llm"),
    ({"type": "kserve", "namespace": "inference", "name": "llm"}, "kserve:inference/llm"),
    ({"type": "knative", "namespace": "inference", "name": "llm"}, "knative:inference/llm"),
    ({"type": "aibrix", "namespace": "inference", "name": "llm"}, "aibrix:inference/llm"),
    ({"type": "dynamo", "namespace": "inference", "name": "llm-decode"}, "dynamo:inference/llm-decode"),
    ({"type": "dynamo", "namespace": "inference", "name": "llm", "service": "decode"}, "dynamo:inference/llm/decode"),
    ({"type": "capacity-buffer", "namespace": "inference", "name": "llm"}, "capacity-buffer:inference/llm"),
    (
        {"type": "kubernetes-field", "namespace": "x", "name": "llm", "api_version": "a.b/v1", "kind": "Scaling", "field": "spec.min"},
        "kubernetes-field:x/scalings.a.b/llm/spec.min",
    ),
    (
        {"type": "kubernetes-field", "name": "gpu", "api_version": "a.b/v1", "kind": "Capacity", "field": "spec.min"},
        "kubernetes-field:capacities.a.b/gpu/spec.min",
    ),
    ({"type": "eks-nodegroup", "cluster": "prod", "nodegroup": "gpu", "region": "eu-west-1"}, "eks-nodegroup:prod/gpu@eu-west-1"),
    ({"type": "asg", "group": "gpu", "region": "eu-west-1"}, "asg:gpu@eu-west-1"),
    ({"type": "sagemaker", "endpoint": "llm", "region": "eu-west-1"}, "sagemaker:llm/AllTraffic@eu-west-1"),
    ({"type": "sagemaker", "inference_component": "llm", "region": "eu-west-1"}, "sagemaker:llm@eu-west-1"),
    ({"type": "ecs", "cluster": "prod", "service": "llm", "region": "eu-west-1"}, "ecs:prod/llm@eu-west-1"),
    (
        {"type": "gke-nodepool", "project": "acme", "location": "europe-west4", "cluster": "prod", "nodepool": "gpu"},
        "gke-nodepool:acme/europe-west4/prod/gpu",
    ),
    (
        {
            "type": "aks-agentpool",
            "subscription": "11111111-2222-3333-4444-555555555555",
            "resource_group": "serving",
            "cluster": "prod",
            "agentpool": "gpu",
        },
        "aks-agentpool:11111111-2222-3333-4444-555555555555/serving/prod/gpu",
    ),
    ({"type": "webhook", "name": "llm", "url": "https://scaler.example.com/floors", "secret": "0123456789abcdef"}, "webhook:llm"),
]


@pytest.mark.parametrize(("document", "name"), EVERY_KIND)
def test_the_type_chooses_the_kind_and_the_name_is_unique_to_the_object(document: dict[str, str], name: str) -> None:
    config = CONFIGS.validate_python(document)
    assert target_name(config) == name == open_target(config).name


@pytest.mark.parametrize(("document", "name"), EVERY_KIND)
def test_an_unknown_key_is_refused_by_name(document: dict[str, str], name: str) -> None:
    with pytest.raises(ValidationError, match="minReplica"):
        CONFIGS.validate_python(document | {"minReplica": 3, "comment": name})


def test_every_setting_says_what_it_means() -> None:
    schema = CONFIGS.json_schema()
    for kind in schema["$defs"].values():
        for name, setting in kind["properties"].items():
            assert setting.get("description"), f"{kind['title']}.{name}"


def test_configuring_targets_imports_no_client() -> None:
    heavy = ("kubernetes", "boto3", "botocore", "stamina", "httpx2", "google.auth", "azure.identity")
    code = f"import sys, connectors.targets.registry; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  # our own interpreter
    assert done.stdout.strip() == "[]"


def test_a_target_that_cannot_be_reached_opens_all_the_same_and_stops_no_other() -> None:
    with KubeApi() as api:
        api.add_hpa("inference", "llm")
        broken = {"type": "kubernetes-hpa", "namespace": "inference", "name": "lost", "cluster": {"kubeconfig": "/nowhere"}}
        sound = {"type": "kubernetes-hpa", "namespace": "inference", "name": "llm", "cluster": {"server": api.url}}
        targets = open_targets([CONFIGS.validate_python(document) for document in (broken, sound)])
        with pytest.raises(TargetError, match="/nowhere"):
            targets["kubernetes-hpa:inference/lost"].observe(NOW)
        assert targets["kubernetes-hpa:inference/llm"].observe(NOW).floor == 1
