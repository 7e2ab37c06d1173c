"""Forecaster's service account with the roles of deploy/, as a platform team grants them."""

from pathlib import Path

import yaml

from tests.cluster.control_plane import ControlPlane

RBAC = Path(__file__).parents[2] / "deploy" / "kubernetes-rbac.yaml"


def token_granted(cluster: ControlPlane, namespace: str) -> str:
    """The token of Forecaster's service account, bound in the namespace to what deploy/ grants."""
    cluster.apply(yaml.safe_dump_all([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "forecaster"}}]))
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "forecaster", "namespace": "forecaster"}}
    cluster.apply(yaml.safe_dump(account))
    cluster.apply(RBAC.read_text().replace("namespace: inference", f"namespace: {namespace}"))
    return cluster.token_for("forecaster", "forecaster")
