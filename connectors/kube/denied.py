"""What may be wrong with a request that was denied beside our rights: an API server denies what it has not, since it looks at rights first.

Which kinds there are is told to everybody who is logged in; which namespaces, only to those who may read them.
"""

import json
from enum import Enum, auto
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubernetes.client import CustomObjectsApi


class Doubt(Enum):
    """The kind is not served, the namespace is not there, or nobody tells us whether it is."""

    KIND = auto()
    NAMESPACE = auto()
    SPELLING = auto()


def doubt_of(api: "CustomObjectsApi", path: dict[str, Any], rule: str, timeout_s: float) -> Doubt | None:
    """What a denied request gives to doubt; None where its kind and its namespace are there. rule: the resource within its API group."""
    served = _served(api, path, timeout_s)
    if served is not None and rule not in served:
        return Doubt.KIND
    return _namespace_doubt(api, path["namespace"], timeout_s) if path["namespace"] else None


def _served(api: "CustomObjectsApi", path: dict[str, Any], timeout_s: float) -> frozenset[str] | None:
    """The resources of the API group in that version, with their subresources; None where nobody tells."""
    from kubernetes.client import CoreV1Api  # noqa: PLC0415
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    answer: Any
    try:
        if path["group"]:
            answer = api.get_api_resources(path["group"], path["version"], _preload_content=False, _request_timeout=timeout_s)
        else:
            answer = CoreV1Api(api.api_client).get_api_resources(_preload_content=False, _request_timeout=timeout_s)
        return frozenset(resource["name"] for resource in json.loads(answer.data)["resources"])
    except ApiException as error:
        return frozenset() if error.status == HTTPStatus.NOT_FOUND else None
    except (HTTPError, ValueError, KeyError, TypeError):  # no answer, or that of something else than an API server
        return None


def _namespace_doubt(api: "CustomObjectsApi", namespace: str, timeout_s: float) -> Doubt | None:
    from kubernetes.client import CoreV1Api  # noqa: PLC0415
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    try:
        CoreV1Api(api.api_client).read_namespace(namespace, _preload_content=False, _request_timeout=timeout_s)
    except ApiException as error:
        return Doubt.NAMESPACE if error.status == HTTPStatus.NOT_FOUND else Doubt.SPELLING
    except HTTPError:
        return Doubt.SPELLING
    return None
