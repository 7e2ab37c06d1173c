"""What the configuration of every Kubernetes object says, and what the object is called in records and on the command line."""

from connectors.kube.connection import KubeConnection

NAMESPACE = "Namespace of the object. No default: the current namespace of a kubeconfig changes."


def object_name(kind: str, namespace: str, name: str, cluster: KubeConnection) -> str:
    """`KIND:NAMESPACE/NAME`, and `@CONTEXT` where a context is configured."""
    return f"{kind}:{namespace}/{name}" + (f"@{cluster.context}" if cluster.context is not None else "")
