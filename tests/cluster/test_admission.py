"""deploy/kustomize/admission on a real API server: whoever has our token changes our field and our marks, and nothing else."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from connectors.targets.registry import Target
from forecaster.errors import TargetRefused
from tests.cluster.control_plane import ControlPlane, Json, eventually
from tests.cluster.kustomized import KUSTOMIZE, overlay, rendered, standing
from tests.cluster.llm import apply, deployment, hpa, let_go, min_replicas, our_marks, stand, target_of

pytestmark = pytest.mark.usefixtures("policy")

MARKS = {"forecaster/original": "2", "forecaster/floor": "8", "forecaster/valid-until": "2026-03-02T08:00:00Z"}
US = "system:serviceaccount:forecaster:forecaster"
WATCHDOG = "system:serviceaccount:forecaster-watchdog:forecaster-watchdog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind that we write: an object, where its floor is, and what else of it our role would let us write."""

    resource: str
    body: Json
    ours: Json
    not_ours: Json
    subresource: str = ""


def custom(api_version: str, kind: str, spec: Json) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm"}, "spec": spec}


SCALED = {"scaleTargetRef": {"name": "llm"}}
KINDS = {
    "hpa": Kind(
        resource="horizontalpodautoscalers.autoscaling",
        body=hpa(min_replicas=2),
        ours={"spec": {"minReplicas": 8}},
        not_ours={"spec": {"maxReplicas": 999}},
    ),
    "scaledobject": Kind(
        resource="scaledobjects.keda.sh",
        body=custom("keda.sh/v1alpha1", "ScaledObject", SCALED | {"triggers": [{"type": "cron"}]}),
        ours={"spec": {"minReplicaCount": 8}},
        not_ours={"spec": {"triggers": []}},
    ),
    "aibrix": Kind(
        resource="podautoscalers.autoscaling.aibrix.ai",
        body=custom("autoscaling.aibrix.ai/v1alpha1", "PodAutoscaler", SCALED | {"maxReplicas": 9, "scalingStrategy": "APA"}),
        ours={"spec": {"minReplicas": 8}},
        not_ours={"spec": {"scalingStrategy": "KPA"}},
    ),
    "capacity-buffer": Kind(
        resource="capacitybuffers.autoscaling.x-k8s.io",
        body=custom(
            "autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", {"replicas": 1, "scalableRef": {"kind": "Deployment", "name": "llm"}}
        ),
        ours={"spec": {"replicas": 8}},
        not_ours={"spec": {"scalableRef": {"name": "other"}}},
    ),
    "dynamo": Kind(
        resource="dynamographdeploymentscalingadapters.nvidia.com",
        body=custom(
            "nvidia.com/v1alpha1",
            "DynamoGraphDeploymentScalingAdapter",
            {"replicas": 1, "dgdRef": {"name": "graph", "serviceName": "decode"}},
        ),
        ours={"spec": {"replicas": 8}},
        not_ours={"spec": {"dgdRef": {"serviceName": "prefill"}}},
    ),
    "dynamo-graph": Kind(
        resource="dynamographdeployments.nvidia.com",
        body=custom("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"decode": {"replicas": 1, "componentType": "worker"}}}),
        ours={"spec": {"services": {"decode": {"replicas": 8}}}},
        not_ours={"spec": {"services": {"decode": {"componentType": "planner"}}}},
    ),
    "kserve": Kind(
        resource="inferenceservices.serving.kserve.io",
        body=custom("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"minReplicas": 1, "model": {"storageUri": "a"}}}),
        ours={"spec": {"predictor": {"minReplicas": 8}}},
        not_ours={"spec": {"predictor": {"model": {"storageUri": "b"}}}},
    ),
    "revision": Kind(
        resource="revisions.serving.knative.dev",
        body=custom("serving.knative.dev/v1", "Revision", {"containers": [{"image": "a"}]}),
        ours={"metadata": {"annotations": {"autoscaling.knative.dev/min-scale": "8", "autoscaling.knative.dev/forecaster-original": "0"}}},
        not_ours={"metadata": {"annotations": {"autoscaling.knative.dev/max-scale": "99"}}},
    ),
    "deployment": Kind(
        resource="deployments.apps",
        body=deployment(replicas=0),
        ours={"metadata": {"annotations": {"forecaster/lowered-at": "2026-03-02T08:00:00Z"}}},
        not_ours={"spec": {"template": {"spec": {"hostNetwork": True}}}},
    ),
    "replicas": Kind(
        resource="deployments.apps", body=deployment(replicas=0), ours={"spec": {"replicas": 1}}, not_ours={}, subresource="scale"
    ),
    "rollout": Kind(
        resource="rollouts.argoproj.io",
        body=custom("argoproj.io/v1alpha1", "Rollout", {"replicas": 2}),
        ours={"spec": {"replicas": 8}},
        not_ours={},
        subresource="scale",
    ),
}
"""By kind; `not_ours` empty = its subresource has nothing else."""
OTHERS: dict[str, Json] = {
    "a label": {"metadata": {"labels": {"team": "us"}}},
    "an annotation of others": {"metadata": {"annotations": {"example.test/owner": "us"}}},
    "the pause, set": {"metadata": {"annotations": {"forecaster/paused": "hold"}}},
    "a finalizer": {"metadata": {"finalizers": ["example.test/stay"]}},
    "an owner": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}]}},
}


@pytest.fixture(scope="module")
def policy(cluster: ControlPlane) -> Iterator[None]:
    """The policy in force."""
    objects = rendered(cluster, KUSTOMIZE / "admission")
    with standing(cluster, objects):
        yield


@pytest.fixture
def space(cluster: ControlPlane, namespace: str) -> str:
    """A namespace in which our role would let us patch everything, and the policy is already obeyed."""
    resources = [kind.resource.partition(".") for kind in KINDS.values()]
    rules = [{"apiGroups": [group], "resources": [plural, f"{plural}/scale"], "verbs": ["get", "patch"]} for plural, _, group in resources]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "all"}, "rules": rules}
    users = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user} for user in (US, WATCHDOG, "somebody")]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"}
    binding = role | {"kind": "RoleBinding", "roleRef": reference, "subjects": users}
    del binding["rules"]
    probe = custom("argoproj.io/v1alpha1", "Rollout", {"replicas": 1}) | {"metadata": {"name": "probe"}}
    apply(cluster, namespace, role, binding, probe)
    counts = count(2)  # a number that was taken once changes nothing the next time, which no policy refuses

    def obeyed() -> bool:
        return refused(cluster, namespace, KINDS["rollout"], {"spec": {"replicas": next(counts)}}, name="probe", subresource="")

    eventually(obeyed)
    return namespace


def patched(
    cluster: ControlPlane, namespace: str, kind: Kind, patch: Json, *, user: str = US, name: str = "llm", subresource: str | None = None
) -> str:
    """What the server said of a merge patch; empty where it was taken."""
    part = kind.subresource if subresource is None else subresource
    words = (f"--subresource={part}",) if part else ()
    done = cluster.tried(
        "patch", kind.resource, name, *words, "--namespace", namespace, "--type=merge", "-p", json.dumps(patch), f"--as={user}"
    )
    return done.stderr if done.returncode else ""


def refused(
    cluster: ControlPlane, namespace: str, kind: Kind, patch: Json, *, user: str = US, name: str = "llm", subresource: str | None = None
) -> bool:
    """Whether the policy refused it. Nothing else may have."""
    said = patched(cluster, namespace, kind, patch, user=user, name=name, subresource=subresource)
    assert not said or "forecaster-our-field-only" in said or "not found" in said or "forbidden: User" in said, said
    return "forecaster-our-field-only" in said


@pytest.mark.parametrize("name", KINDS)
def test_our_field_and_our_marks_are_taken_and_the_rest_of_the_object_is_refused(cluster: ControlPlane, space: str, name: str) -> None:
    kind = KINDS[name]
    apply(cluster, space, kind.body)
    assert patched(cluster, space, kind, kind.ours) == ""
    marks = {"metadata": {"annotations": MARKS}}
    assert patched(cluster, space, kind, marks, subresource="") == ""
    assert patched(cluster, space, kind, {"metadata": {"annotations": dict.fromkeys(MARKS)}}, subresource="") == ""
    if kind.not_ours:
        assert refused(cluster, space, kind, kind.not_ours)
        assert refused(cluster, space, kind, kind.not_ours, user=WATCHDOG)


@pytest.mark.parametrize("other", OTHERS)
def test_nothing_else_of_metadata_is_ours(cluster: ControlPlane, space: str, other: str) -> None:
    apply(cluster, space, KINDS["hpa"].body)
    assert refused(cluster, space, KINDS["hpa"], OTHERS[other])
    assert refused(cluster, space, KINDS["hpa"], KINDS["hpa"].ours | OTHERS[other])


def test_a_pause_and_what_others_wrote_cannot_be_taken_away_by_us(cluster: ControlPlane, space: str) -> None:
    theirs = {"annotations": {"forecaster/paused": "hold", "example.test/owner": "them"}, "labels": {"team": "them"}}
    apply(cluster, space, hpa() | {"metadata": {"name": "llm", **theirs}})
    for part, key in (("annotations", "forecaster/paused"), ("annotations", "example.test/owner"), ("labels", "team")):
        assert refused(cluster, space, KINDS["hpa"], {"metadata": {part: {key: None}}})


def test_a_kind_that_nobody_listed_keeps_all_of_its_spec(cluster: ControlPlane, space: str) -> None:
    kind = KINDS["rollout"]
    apply(cluster, space, kind.body)
    assert refused(cluster, space, kind, {"spec": {"replicas": 3}}, subresource="")


def test_other_people_are_none_of_its_business(cluster: ControlPlane, space: str) -> None:
    apply(cluster, space, KINDS["hpa"].body)
    assert patched(cluster, space, KINDS["hpa"], {"spec": {"maxReplicas": 30}}, user="somebody") == ""


def test_a_target_raises_and_releases_under_it(cluster: ControlPlane, served: str, tmp_path: Path) -> None:
    rights = overlay(tmp_path / "rights", namespace=served, resources=[KUSTOMIZE / "rbac" / "kubernetes-hpa"])
    with standing(cluster, [*rendered(cluster, KUSTOMIZE / "base"), *rendered(cluster, rights)]):
        target = target_of(cluster, served, token=cluster.token_for("forecaster", "forecaster"))
        assert stand(target, 8).written
        assert our_marks(cluster, served)["forecaster/original"] == "2"
        assert let_go(target).written
        assert (min_replicas(cluster, served), our_marks(cluster, served)) == (2, {})


def test_what_the_policy_refuses_a_target_says_in_the_servers_words(cluster: ControlPlane, served: str, tmp_path: Path) -> None:
    """A policy that lacks our field, as one has whose team forgot a line for a kind of its own."""
    strict = rendered(cluster, KUSTOMIZE / "admission")
    variables = strict[0]["spec"]["variables"]
    next(each for each in variables if each["name"] == "fields")["expression"] = "{'none': 'none'}"
    for each in strict:
        each["metadata"]["name"] = "forecaster-strict"
    strict[1]["spec"]["policyName"] = "forecaster-strict"
    rights = overlay(tmp_path / "rights", namespace=served, resources=[KUSTOMIZE / "rbac" / "kubernetes-hpa"])
    with standing(cluster, [*rendered(cluster, KUSTOMIZE / "base"), *rendered(cluster, rights)]):
        target = target_of(cluster, served, token=cluster.token_for("forecaster", "forecaster"))
        with standing(cluster, strict):
            eventually(lambda: rehearsal(cluster, served) != "")  # the server obeys it after a moment, which a write must not meet
            assert "of spec forecaster may change its own field only" in refusal(target)
            assert min_replicas(cluster, served) == 2
        eventually(lambda: rehearsal(cluster, served) == "")  # and forgets it after another
        assert refusal(target) == ""


def rehearsal(cluster: ControlPlane, namespace: str) -> str:
    """What the server says of a floor that is only tried."""
    patch = ("patch", "hpa", "llm", "--namespace", namespace, "--type=merge", "-p", '{"spec": {"minReplicas": 8}}')
    done = cluster.tried(*patch, "--dry-run=server", f"--as={US}")
    return done.stderr if done.returncode else ""


def refusal(target: Target) -> str:
    """What a write is refused with; empty where it is taken."""
    try:
        stand(target, 8)
    except TargetRefused as error:
        return str(error)
    let_go(target)
    return ""
