"""The Revision behind a Knative Service or a serverless InferenceService: where a floor moves without a new Revision.

A min-scale on the template of a service makes a new Revision, which loads the model onto every GPU anew. From Knative 1.21 on the
PodAutoscaler follows the annotation on the Revision itself (serving#16186), and annotations of that prefix reach no pod; others do and
would restart them, so our marks begin with it too.
"""

import re
from collections.abc import Iterable

from connectors.kube.cluster import Cluster, Json, ObjectRef
from connectors.targets.kube_object import KubeObject
from connectors.targets.object_fields import CountField
from connectors.targets.scaled_workload import deployment
from forecaster.errors import TargetRefused

_PREFIX = "autoscaling.knative.dev/"
MIN_SCALE = CountField(path=("metadata", "annotations", f"{_PREFIX}min-scale"), absent=0)
MAX_SCALE = CountField(path=("metadata", "annotations", f"{_PREFIX}max-scale"))
MARK_PREFIX = f"{_PREFIX}forecaster-"

_OLD_NAME = f"{_PREFIX}minScale"
_FOLLOWED_SINCE = (1, 21)
_CRD = ObjectRef(
    group="apiextensions.k8s.io", version="v1", plural="customresourcedefinitions", namespace="", name="revisions.serving.knative.dev"
)
_VERSION = "app.kubernetes.io/version"


def revision_object(*, target: str, namespace: str, name: str) -> KubeObject:
    """The min-scale of a Revision. Refused where this Knative would not follow it, or where nobody can tell which Knative this is."""
    ref = ObjectRef(group="serving.knative.dev", version="v1", plural="revisions", namespace=namespace, name=name)
    return KubeObject(
        target=target,
        ref=ref,
        floor=MIN_SCALE,
        ceiling=MAX_SCALE,
        scaled=lambda _value, _cluster: deployment(namespace, f"{name}-deployment"),
        check=lambda value, cluster: _check(value, ref, cluster),
        mark_prefix=MARK_PREFIX,
    )


def serving_revision(traffic: Iterable[Json], latest: str | None, where: str) -> str:
    """The Revision that most of the traffic goes to, else the latest that is ready. Raises TargetRefused where there is none."""
    shares: dict[str, int] = {}
    for part in traffic:
        name = part.get("revisionName")
        if name:
            shares[name] = shares.get(name, 0) + int(part.get("percent") or 0)
    chosen = max(shares, key=lambda name: shares[name], default=None) or latest
    if chosen is None:
        msg = f"{where} has no Revision that is ready: wait for its first one, or see why it does not come up"
        raise TargetRefused(msg)
    return chosen


def _check(value: Json, ref: ObjectRef, cluster: Cluster) -> None:
    if _OLD_NAME in ((value.get("metadata") or {}).get("annotations") or {}):
        msg = f"{ref} carries its minimum under the old name {_OLD_NAME}: rename it to {MIN_SCALE.name} in the template of the service"
        raise TargetRefused(msg)
    version = _version(cluster.read_lately(_CRD))
    if version is None or version < _FOLLOWED_SINCE:
        told = "does not say its version" if version is None else f"is {'.'.join(map(str, version))}"
        msg = (
            f"{ref} cannot hold a floor: Knative {told}, and only from {'.'.join(map(str, _FOLLOWED_SINCE))} on does a Revision take one "
            f"without restarting its pods: update Knative, or let an HPA or KEDA scale the model and make that the target"
        )
        raise TargetRefused(msg)


def _version(crd: Json) -> tuple[int, int] | None:
    """The release of Knative, as its manifests label what they install."""
    text = ((crd.get("metadata") or {}).get("labels") or {}).get(_VERSION) or ""
    found = re.match(r"v?(\d+)\.(\d+)", text)
    return None if found is None else (int(found[1]), int(found[2]))
