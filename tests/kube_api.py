"""A stateful loopback double of the Kubernetes API server, spoken to by the official client over HTTP.

    with KubeApi() as api:
        api.add_hpa("inference", "llm", min_replicas=2, max_replicas=20)
        ...                                  # a target with `cluster: {server: api.url}` reads and writes it
        assert api.min_replicas("inference", "llm") == 8
        assert len(api.writes) == 1

It keeps HPAs (autoscaling/v2), Deployments, StatefulSets, pods and nodes (`put`) and what else is `define`d, lists them by label in pages,
takes JSON merge patches only, rehearses them (dryRun=All), enforces resourceVersion, refuses what the real server refuses (minReplicas
below 1 or above maxReplicas: 422), keeps managedFields by the fieldManager parameter, answers SelfSubjectAccessReviews, and answers errors
as Status objects, and tells what it serves. `fail_next` injects faults, `forbid` takes away an RBAC verb, also on what is not served, as
rights are looked at first; `show_namespaces` lets everybody read them; `edit` writes as somebody else.
"""

import json
import threading
from dataclasses import replace
from http import HTTPStatus
from typing import Self

from tests.kube_objects import HPAS, KINDS, Denial, Json, Key, Objects, Refusal
from tests.kube_wire import Answer, Fault, Request, Server, handler, spoilt, status_of

MERGE_PATCH = "application/merge-patch+json"

_HANG_S = 30.0


class KubeApi:
    """The server, listening between `__enter__` and `__exit__`. Methods may be called while it serves."""

    def __init__(self, *, token: str | None = None, scale_to_zero: bool = False) -> None:
        self.requests: list[Request] = []
        self._token = token
        self._objects = Objects(least=0 if scale_to_zero else 1)
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._forbidden: set[tuple[str, str]] = set()
        self._namespaces_are_shown = False
        self._closing = threading.Event()
        self._server = Server(("127.0.0.1", 0), handler(self.serve))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def writes(self) -> tuple[Request, ...]:
        """The patches that were carried out, rehearsals left out."""
        return tuple(r for r in self.requests if r.verb == "patch" and r.status == HTTPStatus.OK and "dryRun" not in r.query)

    def define(self, plural: str, *, kind: str, api_version: str, denied: Denial | None = None) -> None:
        """Serve another kind, as its CustomResourceDefinition and its admission webhook would."""
        with self._lock:
            self._objects.api_versions[plural], self._objects.kinds[plural] = api_version, kind
            if denied is not None:
                self._objects.denials[plural] = denied

    def add_hpa(
        self,
        namespace: str,
        name: str,
        *,
        min_replicas: int | None = 1,
        max_replicas: int = 10,
        scales: str = "Deployment/llm",
        annotations: dict[str, str] | None = None,
        labels: dict[str, str] | None = None,
        owner: tuple[str, str] | None = None,
    ) -> None:
        """A HPA. `scales`: kind and name of its workload; `owner`: kind and name of an owner reference."""
        kind, _, workload = scales.partition("/")
        scaled = {"apiVersion": "apps/v1", "kind": kind, "name": workload}
        owners = owner and [{"apiVersion": "keda.sh/v1alpha1", "kind": owner[0], "name": owner[1], "controller": True}]
        metadata = {"annotations": annotations, "labels": labels, "ownerReferences": owners}
        with self._lock:
            self._objects.add(
                (HPAS, namespace, name),
                metadata=_present(metadata),
                spec=_present({"minReplicas": min_replicas, "maxReplicas": max_replicas, "scaleTargetRef": scaled}),
                status={"currentReplicas": min_replicas or 1, "desiredReplicas": min_replicas or 1},
            )

    def add_workload(self, namespace: str, name: str, *, kind: str = "Deployment", replicas: int | None, ready: int | None) -> None:
        """A Deployment or StatefulSet; `ready` may exceed `replicas` while a rolling update runs, None leaves the field out."""
        plural = next(plural for plural, known in KINDS.items() if known == kind)
        with self._lock:
            self._objects.add(
                (plural, namespace, name), metadata={}, spec=_present({"replicas": replicas}), status=_present({"readyReplicas": ready})
            )

    def put(
        self, plural: str, namespace: str, name: str, *, metadata: Json, spec: Json | None = None, status: Json | None = None, **parts: Json
    ) -> None:
        """Any object as it is to stand from now on: a pod, a node (namespace ""), a workload with a selector. parts: what else it has."""
        with self._lock:
            self._objects.add((plural, namespace, name), metadata=metadata, spec=spec or {}, status=status or {}, **parts)

    def remove(self, plural: str, namespace: str, name: str) -> None:
        """Delete an object."""
        with self._lock:
            self._objects.delete((plural, namespace, name))

    def hpa(self, namespace: str, name: str) -> Json:
        """A copy of the HPA as a GET answers it."""
        with self._lock:
            copy: Json = json.loads(json.dumps(self._objects.shown((HPAS, namespace, name))))
            return copy

    def min_replicas(self, namespace: str, name: str) -> int:
        """spec.minReplicas as it stands."""
        value: int = self.hpa(namespace, name)["spec"].get("minReplicas", 1)
        return value

    def annotations(self, namespace: str, name: str) -> dict[str, str]:
        """The annotations as they stand."""
        return dict(self.hpa(namespace, name)["metadata"].get("annotations", {}))

    def edit(
        self, namespace: str, name: str, *, manager: str = "kubectl-edit", annotations: dict[str, str | None] | None = None, **spec: int
    ) -> None:
        """Write fields of the HPA's spec (minReplicas=3) and annotations (None deletes) as another field manager."""
        with self._lock:
            self._objects.merge((HPAS, namespace, name), {"spec": spec, "metadata": {"annotations": annotations or {}}}, manager)

    def look(self, plural: str, namespace: str, name: str) -> Json:
        """A copy of any object as a GET answers it."""
        with self._lock:
            copy: Json = json.loads(json.dumps(self._objects.shown((plural, namespace, name))))
            return copy

    def change(self, plural: str, namespace: str, name: str, patch: Json, *, manager: str = "kubectl-edit") -> None:
        """A merge patch of any object by another field manager."""
        with self._lock:
            self._objects.merge((plural, namespace, name), patch, manager)

    def touch(self, namespace: str, name: str) -> None:
        """A write of status, as the HPA controller makes it at any time: only the resourceVersion changes."""
        with self._lock:
            self._objects.touch((HPAS, namespace, name))

    def delete_hpa(self, namespace: str, name: str) -> None:
        """Delete the HPA."""
        with self._lock:
            self._objects.delete((HPAS, namespace, name))

    def forbid(self, verb: str, plural: str = HPAS) -> None:
        """Take the RBAC verb (`get`, `list`, `patch`) on a resource away from everybody."""
        with self._lock:
            self._forbidden.add((verb, plural))

    def show_namespaces(self) -> None:
        """Let everybody read namespaces: there are those in which an object is."""
        with self._lock:
            self._namespaces_are_shown = True

    def fail_next(
        self, what: int | str, *, times: int = 1, verb: str = "", plural: str = "", message: str = "injected", taken: bool = False
    ) -> None:
        """Answer the next `times` matching requests by a fault; see Fault. An empty verb or plural matches every one."""
        with self._lock:
            self._faults.extend([Fault(what=what, verb=verb, plural=plural, message=message, taken=taken)] * times)

    def serve(self, request: Request) -> Answer:
        """The answer to a request, remembered in `requests`. The HTTP handler calls it."""
        with self._lock:
            fault = self._fault_for(request)
            status, value = self._carried_out(request) if fault is None or fault.taken else (0, {})
            self.requests.append(replace(request, status=status))
        if fault is None:
            return status, "application/json", json.dumps(value).encode()
        if fault.what == "hang":
            self._closing.wait(_HANG_S)
        return spoilt(fault)

    def _fault_for(self, request: Request) -> Fault | None:
        for fault in self._faults:
            if fault.verb in {"", request.verb} and (not fault.plural or f"/{fault.plural}/" in f"{request.path}/"):
                self._faults.remove(fault)
                return fault
        return None

    def _carried_out(self, request: Request) -> tuple[int, Json]:
        try:
            self._admit(request)
            match request.verb:
                case "create":
                    return HTTPStatus.CREATED, self._created(request)
                case "list":
                    return HTTPStatus.OK, self._listed(request)
            told = self._told(request)
            if told is not None:
                return HTTPStatus.OK, told
            key = self._key(request)
            show = self._objects.scale if request.path.endswith("/scale") else self._objects.shown
            shown = show(key)
            if request.verb == "patch":
                rehearsed = request.query.get("dryRun") == "All"
                after = self._objects.merge(key, request.body, request.manager or "unknown", rehearsed=rehearsed)
                shown = after if rehearsed else show(key)
        except Refusal as refusal:
            return refusal.status, status_of(refusal.status, refusal.reason, str(refusal))
        return HTTPStatus.OK, shown

    def _admit(self, request: Request) -> None:
        if self._token is not None and request.authorization != f"Bearer {self._token}":
            raise Refusal(401, "Unauthorized", "Unauthorized")
        if request.verb == "patch" and request.content_type != MERGE_PATCH:
            raise Refusal(415, "UnsupportedMediaType", f"the body of the request was not in {MERGE_PATCH}")

    def _told(self, request: Request) -> Json | None:
        """What is served of an API group, or a namespace; None where neither is asked for."""
        match request.path.strip("/").split("/"):
            case ["apis", group, version]:
                return self._resources(f"{group}/{version}")
            case ["api", version]:
                return self._resources(version)
            case ["api", "v1", "namespaces", name]:
                if not self._namespaces_are_shown:
                    raise Refusal(403, "Forbidden", f'namespaces "{name}" is forbidden: our role may not get it')
                if not self._objects.has_namespace(name):
                    raise Refusal(404, "NotFound", f'namespaces "{name}" not found')
                return {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
            case _:
                return None

    def _resources(self, served: str) -> Json:
        plurals = [plural for plural, version in self._objects.api_versions.items() if version == served]
        if not plurals:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        names = (name for plural in plurals for name in (plural, f"{plural}/scale"))
        return {"kind": "APIResourceList", "groupVersion": served, "resources": [{"name": name} for name in names]}

    def _key(self, request: Request) -> Key:
        match request.path.strip("/").split("/"):
            case ["api", "v1", "nodes", name]:
                if ("get", "nodes") in self._forbidden:
                    raise Refusal(403, "Forbidden", f'nodes "{name}" is forbidden: our role may not get it')
                return "nodes", "", name
            case ["api", "v1", "namespaces", namespace, "configmaps", name]:
                if (request.verb, "configmaps") in self._forbidden:
                    raise Refusal(403, "Forbidden", f'configmaps "{name}" is forbidden: our role may not {request.verb} it')
                return "configmaps", namespace, name
            case ["apis", group, version, "namespaces", namespace, plural, name, *part] if (
                self._serves(plural, group, version) or (request.verb, plural) in self._forbidden
            ) and part in ([], ["scale"]):
                rule = "/".join([plural, *part])
                if (request.verb, rule) in self._forbidden:
                    who = 'User "system:serviceaccount:forecaster:forecaster"'
                    what = f'cannot {request.verb} resource "{rule}" in API group "{group}" in the namespace "{namespace}"'
                    raise Refusal(403, "Forbidden", f'{plural}.{group} "{name}" is forbidden: {who} {what}')
                return plural, namespace, name
            case ["apis", group, version, plural, name] if self._serves(plural, group, version):
                if (request.verb, plural) in self._forbidden:
                    raise Refusal(403, "Forbidden", f'{plural}.{group} "{name}" is forbidden: our role may not {request.verb} it')
                return plural, "", name
            case _:
                raise Refusal(404, "NotFound", "the server could not find the requested resource")

    def _serves(self, plural: str, group: str, version: str) -> bool:
        return self._objects.api_versions.get(plural) == f"{group}/{version}"

    def _created(self, request: Request) -> Json:
        """A review of access, or a new object of a namespace."""
        match request.path.strip("/").split("/"):
            case ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"]:
                return self._reviewed(request)
            case ["apis", group, version, "namespaces", namespace, plural] if self._serves(plural, group, version):
                if ("create", plural) in self._forbidden:
                    raise Refusal(403, "Forbidden", f"{plural}.{group} is forbidden: our role may not create it")
                key = plural, namespace, request.body["metadata"]["name"]
                if self._objects.has(key):
                    raise Refusal(409, "AlreadyExists", f'{plural}.{group} "{key[2]}" already exists')
                self._objects.add(key, metadata={}, spec=request.body["spec"], status={})
                return self._objects.shown(key)
            case _:
                raise Refusal(404, "NotFound", "the server could not find the requested resource")

    def _reviewed(self, request: Request) -> Json:
        asked = request.body["spec"]["resourceAttributes"]
        rule = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        return request.body | {"status": {"allowed": (asked["verb"], rule) not in self._forbidden}}

    def _listed(self, request: Request) -> Json:
        root, *parts, plural = request.path.strip("/").split("/")
        group, first = ("", 1) if root == "api" else (parts[0], 2)
        served, space = "/".join(parts[:first]), parts[first:]
        where = f'in the namespace "{space[1]}"' if space else "at the cluster scope"
        if ("list", plural) in self._forbidden:
            who = 'User "system:serviceaccount:forecaster:forecaster"'
            what = f'cannot list resource "{plural}" in API group "{group}" {where}'
            raise Refusal(403, "Forbidden", f"{plural}{group and f'.{group}'} is forbidden: {who} {what}")
        if self._objects.api_versions.get(plural) != served:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        items = self._objects.listed(plural, space[1] if space else None, request.query.get("labelSelector", ""))
        first, most = int(request.query.get("continue", "0")), int(request.query.get("limit", len(items)))
        metadata = {"continue": str(first + most)} if first + most < len(items) else {}
        return {
            "kind": f"{self._objects.kinds[plural]}List",
            "apiVersion": served,
            "metadata": metadata,
            "items": items[first : first + most],
        }


def _present(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
