"""The calls of the official client that a Cluster makes, each with the path, what is wanted and how long it may take."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from kubernetes.client import CustomObjectsApi

Json: TypeAlias = dict[str, Any]


def method_of(api: "CustomObjectsApi", verb: str, *, group: str, namespace: str, subresource: str = "") -> Callable[..., Any]:
    """The client's method for an object, or for its subresource; one without a namespace is of the cluster.

    Of the core group, which the client serves a kind at a time, ConfigMaps alone.
    """
    if not group:
        return partial(_config_map, api, verb)
    scope = "namespaced_custom_object" if namespace else "cluster_custom_object"
    method: Callable[..., Any] = getattr(api, "_".join(filter(None, (verb, scope, subresource))))
    return method


def _config_map(api: "CustomObjectsApi", verb: str, *, namespace: str, name: str, **asked: Any) -> Any:  # noqa: ANN401  # no types
    from kubernetes.client import CoreV1Api  # noqa: PLC0415

    core = CoreV1Api(api.api_client)
    asked = {key: value for key, value in asked.items() if key not in {"group", "version", "plural"}}
    method: Callable[..., Any] = getattr(core, {"get": "read_namespaced_config_map", "patch": "patch_namespaced_config_map"}[verb])
    return method(name, namespace, **asked)


def scoped(path: Json) -> Json:
    """The path as the method takes it: without a namespace where it is of the cluster."""
    return path if path["namespace"] else {name: part for name, part in path.items() if name != "namespace"}


def list_objects(wanted: Json, api: "CustomObjectsApi", path: Json, timeout_s: float) -> Any:  # noqa: ANN401  # the client has no types
    """One page of the objects of a kind; of the core group ConfigMaps alone, as `method_of`."""
    if not path["group"]:
        return _list_config_maps(wanted, api, path["namespace"], timeout_s)
    kind = {name: path[name] for name in ("group", "version", "plural")}
    if path["namespace"]:
        return api.list_namespaced_custom_object(
            **kind, namespace=path["namespace"], **wanted, _preload_content=False, _request_timeout=timeout_s
        )
    return api.list_cluster_custom_object(**kind, **wanted, _preload_content=False, _request_timeout=timeout_s)


def _list_config_maps(wanted: Json, api: "CustomObjectsApi", namespace: str, timeout_s: float) -> Any:  # noqa: ANN401  # no types
    from kubernetes.client import CoreV1Api  # noqa: PLC0415

    core, asked = CoreV1Api(api.api_client), wanted | {"_preload_content": False, "_request_timeout": timeout_s}
    return core.list_namespaced_config_map(namespace, **asked) if namespace else core.list_config_map_for_all_namespaces(**asked)


def list_pods(wanted: Json, api: "CustomObjectsApi", path: Json, timeout_s: float) -> Any:  # noqa: ANN401  # the client has no types
    """One page of the pods of a namespace."""
    from kubernetes.client import CoreV1Api  # noqa: PLC0415

    core = CoreV1Api(api.api_client)
    return core.list_namespaced_pod(path["namespace"], **wanted, _preload_content=False, _request_timeout=timeout_s)


def read_node(api: "CustomObjectsApi", path: Json, timeout_s: float) -> Any:  # noqa: ANN401  # the client has no types
    """The node of that name."""
    from kubernetes.client import CoreV1Api  # noqa: PLC0415

    return CoreV1Api(api.api_client).read_node(path["name"], _preload_content=False, _request_timeout=timeout_s)


def read_config_map(api: "CustomObjectsApi", path: Json, timeout_s: float) -> Any:  # noqa: ANN401  # the client has no types
    """The ConfigMap of that name."""
    from kubernetes.client import CoreV1Api  # noqa: PLC0415

    core = CoreV1Api(api.api_client)
    return core.read_namespaced_config_map(path["name"], path["namespace"], _preload_content=False, _request_timeout=timeout_s)
