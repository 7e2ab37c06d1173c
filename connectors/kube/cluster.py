"""One API server behind the official client: opened at first use, reads retried, every failure of one type."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from connectors.kube.calls import list_objects, list_pods, method_of, read_config_map, read_node, scoped
from connectors.kube.connection import KubeConnection, fill
from connectors.kube.denied import Doubt, doubt_of
from connectors.recent import Recent
from forecaster.errors import ForecasterError

if TYPE_CHECKING:
    from kubernetes.client import CustomObjectsApi
    from kubernetes.client.exceptions import ApiException

Json: TypeAlias = dict[str, Any]

FIELD_MANAGER = "forecaster"
"""The name under which the API server records our writes in metadata.managedFields."""

_READ_ATTEMPTS = 3  # at 0.2 s and 0.4 s apart: bridges the restart of one of several API servers, no more
_BUSY = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_CONNECTIONS = 256  # as many as there may be workers; they are opened as they are needed
_PAGE = 500  # as kubectl pages: one answer stays at a few MB
_SENTENCE_CHARS = 300
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRef:
    """One object of the API: `autoscaling`, `v2`, `horizontalpodautoscalers`, namespace, name. The core group has the name "".

    Without a name: all of that kind in the namespace; without a namespace either: all in the cluster. subresource: `scale`, a part of the
    object with rights of its own, or "" for the object itself.
    """

    group: str
    version: str
    plural: str
    namespace: str
    name: str
    subresource: str = ""

    @property
    def resource(self) -> str:
        """The resource as kubectl names it."""
        whole = f"{self.plural}.{self.group}" if self.group else self.plural
        return f"{whole}/{self.subresource}" if self.subresource else whole

    @property
    def rule(self) -> str:
        """The resource as an RBAC rule names it within its API group."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural

    def __str__(self) -> str:
        if self.name:
            return f"{self.resource} {self.namespace}/{self.name}" if self.namespace else f"{self.resource} {self.name}"
        return f"{self.resource} in {f'namespace {self.namespace}' if self.namespace else 'all namespaces'}"


class KubeFailed(ForecasterError):
    """A request that the API server did not serve. `status` is the HTTP status, None when no answer of an API server came.

    doubt: what of a denied request may not be there at all, None = it is there, or was not looked for.
    """

    def __init__(self, *, verb: str, ref: ObjectRef, status: int | None, answer: str, doubt: Doubt | None = None) -> None:
        super().__init__(f"cannot {verb} {ref}: {answer}")
        self.doubt = doubt
        self.verb = verb
        self.ref = ref
        self.status = status
        self.answer = answer


class Cluster:
    """The client of one API server, shared by threads. Nothing is opened before the first request.

    All methods raise KubeFailed. What only reads is retried while the server is busy or unreachable; `merge` is sent once, since a
    patch whose answer was lost may have been taken: observe before the next.
    """

    def __init__(self, connection: KubeConnection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._api: CustomObjectsApi | None = None
        self._recent: Recent[Any] = Recent()

    def read(self, ref: ObjectRef) -> Json:
        """The object as it stands."""
        return self._retried(self._read_once, ref)

    def find(self, ref: ObjectRef, selector: str) -> tuple[Json, ...]:
        """All objects of a reference without a name that the label selector takes."""
        return self._retried(self._find_once, ref, selector)

    def found_lately(self, ref: ObjectRef) -> tuple[Json, ...]:
        """All objects of a reference without a name, as they stood at most two seconds ago: of many who ask at once, one does."""
        found: tuple[Json, ...] = self._recent.of(("find", ref), lambda: self.find(ref, ""))
        return found

    def read_lately(self, ref: ObjectRef) -> Json:
        """The object as it stood at most two seconds ago, for what all objects of a kind rest on."""
        value: Json = self._recent.of(("read", ref), lambda: self.read(ref))
        return value

    def pods(self, namespace: str, selector: str) -> tuple[Json, ...]:
        """All pods of a namespace that the label selector takes."""
        ref = ObjectRef(group="", version="v1", plural="pods", namespace=namespace, name="")
        return self._retried(self._find_once, ref, selector, list_pods)

    def node(self, name: str) -> Json:
        """The node of that name."""
        ref = ObjectRef(group="", version="v1", plural="nodes", namespace="", name=name)
        return self._retried(self._call, "get", ref, read_node)

    def config_map(self, namespace: str, name: str) -> dict[str, str]:
        """The texts of a ConfigMap, as they stood at most two seconds ago: all objects of a kind rest on the same one."""
        ref = ObjectRef(group="", version="v1", plural="configmaps", namespace=namespace, name=name)
        value: Json = self._recent.of(("texts", ref), lambda: self._retried(self._call, "get", ref, read_config_map))
        texts: dict[str, str] = value.get("data") or {}
        return texts

    def may(self, verb: str, ref: ObjectRef) -> bool:
        """Whether our role allows the verb on the object, as the server's own SelfSubjectAccessReview says: nothing is kept of it."""
        return self._retried(self._may_once, verb, ref)

    def create(self, ref: ObjectRef, body: Json) -> Json:
        """The new object, as it stands then; sent once."""
        path: Json = {"group": ref.group, "version": ref.version, "plural": ref.plural, "namespace": ref.namespace, "body": body}
        return self._call(
            "create",
            ref,
            lambda api, _, timeout_s: api.create_namespaced_custom_object(
                **path, field_manager=FIELD_MANAGER, _preload_content=False, _request_timeout=timeout_s
            ),
        )

    def merge(self, ref: ObjectRef, patch: Json, *, rehearsed: bool = False) -> Json:
        """The object after one JSON merge patch (RFC 7386), written as field manager `forecaster`; rehearsed: as it would be, unwritten."""
        return self._call(
            "patch",
            ref,
            lambda api, path, timeout_s: method_of(api, "patch", group=ref.group, namespace=ref.namespace, subresource=ref.subresource)(
                **scoped(path),
                body=patch,
                field_manager=FIELD_MANAGER,
                **({"dry_run": "All"} if rehearsed else {}),
                _content_type="application/merge-patch+json",
                _preload_content=False,
                _request_timeout=timeout_s,
            ),
        )

    def _read_once(self, ref: ObjectRef) -> Json:
        return self._call(
            "get",
            ref,
            lambda api, path, timeout_s: method_of(api, "get", group=ref.group, namespace=ref.namespace, subresource=ref.subresource)(
                **scoped(path), _preload_content=False, _request_timeout=timeout_s
            ),
        )

    def _find_once(self, ref: ObjectRef, selector: str, page_of: Callable[..., Any] | None = None) -> tuple[Json, ...]:
        found: list[Json] = []
        token = None
        while True:
            page = self._call(
                "list", ref, partial(page_of or list_objects, {"label_selector": selector, "limit": _PAGE, "_continue": token})
            )
            found += page.get("items", ())
            token = page.get("metadata", {}).get("continue")
            if not token:
                return tuple(found)

    def _may_once(self, verb: str, ref: ObjectRef) -> bool:
        asked = {"verb": verb, "group": ref.group, "resource": ref.plural, "namespace": ref.namespace, "name": ref.name}
        asked |= {"subresource": ref.subresource} if ref.subresource else {}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": asked}}
        answer = self._call(
            "review our access to",
            ref,
            lambda api, _, timeout_s: api.create_cluster_custom_object(
                "authorization.k8s.io", "v1", "selfsubjectaccessreviews", review, _preload_content=False, _request_timeout=timeout_s
            ),
        )
        return answer.get("status", {}).get("allowed") is True

    def _retried(self, request: Callable[Given, Answer], *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        import stamina  # noqa: PLC0415  # 40 ms that the command line need not pay

        caller = stamina.RetryingCaller(
            attempts=_READ_ATTEMPTS, timeout=self._connection.timeout_s, wait_initial=0.2, wait_max=2.0, wait_jitter=0.1
        )
        return caller(_may_pass, request, *args, **kwargs)

    def _call(self, verb: str, ref: ObjectRef, send: Callable[["CustomObjectsApi", Json, float], Any]) -> Json:
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415  # the client takes 0.3 s to import
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        path: Json = {"group": ref.group, "version": ref.version, "plural": ref.plural, "namespace": ref.namespace, "name": ref.name}
        try:
            api = self._opened(verb, ref)
            return _object(verb, ref, send(api, path, self._connection.timeout_s).data, self._connection.label)
        except ApiException as error:
            if error.status == HTTPStatus.UNAUTHORIZED:
                self._api = None  # credentials may have been renewed on disk: read them again next time
            doubt = self._doubt(api, path, ref) if error.status == HTTPStatus.FORBIDDEN else None
            raise KubeFailed(verb=verb, ref=ref, status=error.status or None, answer=_answer(error), doubt=doubt) from error
        except HTTPError as error:
            answer = f"no answer from {self._connection.label} ({_first_line(str(error))})"
            raise KubeFailed(verb=verb, ref=ref, status=None, answer=answer) from error

    def _doubt(self, api: "CustomObjectsApi", path: Json, ref: ObjectRef) -> Doubt | None:
        """Asked once for all that is denied of a kind in a namespace at about the same time."""
        question = ("doubt", ref.group, ref.version, ref.rule, ref.namespace)
        found: Doubt | None = self._recent.of(question, lambda: doubt_of(api, path, ref.rule, self._connection.timeout_s))
        return found

    def _opened(self, verb: str, ref: ObjectRef) -> "CustomObjectsApi":
        with self._lock:
            if self._api is None:
                self._api = _open(self._connection, verb, ref)
            return self._api


def _may_pass(error: Exception) -> bool:
    if not isinstance(error, KubeFailed):
        return False
    grew_stale = error.verb == "list" and error.status == HTTPStatus.GONE  # between two pages
    return error.status is None or error.status in _BUSY or grew_stale


def _open(connection: KubeConnection, verb: str, ref: ObjectRef) -> "CustomObjectsApi":
    from kubernetes.client import ApiClient, Configuration, CustomObjectsApi  # noqa: PLC0415
    from kubernetes.config import ConfigException  # noqa: PLC0415
    from yaml import YAMLError  # noqa: PLC0415

    configuration = Configuration()
    try:
        fill(configuration, connection)
    except (ConfigException, OSError, YAMLError) as error:
        answer = f"no way into {connection.label} ({_first_line(str(error))})"
        raise KubeFailed(verb=verb, ref=ref, status=HTTPStatus.UNAUTHORIZED, answer=answer) from error
    configuration.connection_pool_maxsize = _CONNECTIONS
    configuration.retries = False  # urllib3 would retry on its own, and follow a redirect to a login page
    return CustomObjectsApi(ApiClient(configuration))


def _object(verb: str, ref: ObjectRef, body: bytes, server: str) -> Json:
    """The body as an object. A proxy's login page comes with status 200 and is no answer of an API server."""
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    answer = f"{server} answered something else than JSON ({_first_line(body.decode(errors='replace'))}); is it an API server?"
    raise KubeFailed(verb=verb, ref=ref, status=None, answer=answer)


def _answer(error: "ApiException") -> str:
    """The server's own message out of a Status object, else the first line of whatever came."""
    text = error.body.decode(errors="replace") if isinstance(error.body, bytes) else str(error.body or "")
    try:
        status = json.loads(text)
    except ValueError:
        status = None
    message = status.get("message") if isinstance(status, dict) else None
    return f"{message} (HTTP {error.status})" if message else _first_line(f"HTTP {error.status} {error.reason or ''} {text}")


def _first_line(text: str) -> str:
    return " ".join(text.split())[:_SENTENCE_CHARS]
