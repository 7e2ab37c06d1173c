"""examples/blueprint on a real API server: taken whole, both replicas up, and rights that reach the autoscaler beside it."""

import pytest
import yaml

from connectors.targets.registry import open_target
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kustomized import ROOT, put, rendered, standing
from tests.cluster.llm import eventually_ready, let_go, stand
from tests.connectors.targets.object_subjects import CONFIGS

SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "forecaster-store", "namespace": "forecaster"},
    "stringData": {"url": "postgresql://forecaster:x@postgresql/forecaster", "password": "x"},
}
BEFORE = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("envoy-gateway-system", "inference")]


@pytest.mark.parametrize("variant", ["hpa", "keda"])
def test_the_blueprint_is_taken_whole_and_its_floor_can_be_moved(cluster: ControlPlane, variant: str) -> None:
    objects = rendered(cluster, ROOT / "examples" / "blueprint" / variant)
    put(cluster, BEFORE)
    with standing(cluster, [*objects, SECRET]):
        eventually_ready(cluster, "forecaster", 2, "forecaster")
        eventually_ready(cluster, "forecaster", 1, "postgresql", kind="statefulset")
        written = next(each for each in objects if each["kind"] == "ConfigMap" and "forecaster.yaml" in each["data"])
        config = yaml.safe_load(written["data"]["forecaster.yaml"])
        (target,) = config["workloads"][0]["pools"][0]["targets"]
        token = cluster.token_for("forecaster", "forecaster")
        opened = open_target(CONFIGS.validate_python({**target, "cluster": cluster.connection(token)}))
        assert stand(opened, 9).after == 9
        if variant == "hpa":  # its controller is real, KEDA is not there
            eventually_ready(cluster, "inference", 9, "chat")
        assert let_go(opened).after == 2
