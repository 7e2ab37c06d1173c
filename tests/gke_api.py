"""A loopback double of the GKE API (container v1) and of the instance groups of Compute Engine, by their public schemas.

    with GkeApi() as gke:
        gke.add_pool("gpu", total=(1, 20), zones=("europe-west4-a",), nodes=3)
        ...                                   # a target of project acme, location europe-west4, cluster prod
        assert gke.autoscaling("gpu")["totalMinNodeCount"] == 8
        assert gke.writes == ["labels", "setAutoscaling", "labels", "setSize"]

Like Google it leaves out what is zero, refuses a write with an old etag (ABORTED) or while an operation runs (FAILED_PRECONDITION), lets
nobody in without a token, and takes labels of a-z, 0-9, _ and - only.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self

from tests.json_server import Asked, Json, JsonServer
from tests.tokens import tokens_to_ask

PROJECT, LOCATION, CLUSTER = "acme", "europe-west4", "prod"

_POOLS = f"/v1/projects/{PROJECT}/locations/{LOCATION}/clusters/{CLUSTER}/nodePools/"
_OPERATIONS = f"/v1/projects/{PROJECT}/locations/{LOCATION}/operations/"
_GROUPS = f"/compute/v1/projects/{PROJECT}/zones/"
_LABEL = re.compile(r"[a-z0-9_-]{0,63}")


@dataclass(slots=True, kw_only=True)
class _Pool:
    zones: tuple[str, ...]
    autoscaling: Json
    labels: dict[str, str]
    sizes: dict[str, int]
    ready: dict[str, int]
    conditions: list[Json] = field(default_factory=list)
    changes: int = 0

    @property
    def etag(self) -> str:
        return f"etag-{self.changes}"


class GkeApi:
    """The server. `writes` are those carried out.

    Operations of `slow` writes run until `finish`, or until somebody asks for them where
    `finish_when_asked`, and block every write meanwhile; those of `failing` ones end in what stands there. `denied` names what may
    not be done. `token_prefix`: what a token has to begin with.
    """

    def __init__(self) -> None:
        self.writes: list[str] = []
        self.pools: dict[str, _Pool] = {}
        self.slow: set[str] = set()
        self.finish_when_asked = False
        self.denied: set[str] = set()
        self.failing: dict[str, Json] = {}
        self.token_prefix = "google-"
        self._operations: dict[str, Json] = {}
        self._faults: list[tuple[int, str, str]] = []
        self._afterwards: list[tuple[str, Callable[[], object]]] = []
        self._server = JsonServer(self._answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    @property
    def url(self) -> str:
        """Where both APIs listen."""
        return self._server.url

    @property
    def asked(self) -> list[Asked]:
        """Every request so far."""
        return self._server.asked

    def add_pool(
        self,
        name: str,
        *,
        total: tuple[int, int] | None = None,
        by_zone: tuple[int, int] | None = None,
        zones: tuple[str, ...] = ("europe-west4-a",),
        nodes: int = 0,
    ) -> None:
        """A node pool with (minimum, maximum) of the whole or of each zone, whose nodes stand in turn in its zones and are in service."""
        low, high = total or by_zone or (0, 0)
        names = ("totalMinNodeCount", "totalMaxNodeCount") if total else ("minNodeCount", "maxNodeCount")
        limits = dict(zip(names, (low, high), strict=True)) if total or by_zone else {}
        sizes = {zone: len(range(index, nodes, len(zones))) for index, zone in enumerate(zones)}
        settings: Json = {"enabled": bool(limits), "locationPolicy": "ANY" if total else "BALANCED", **limits}
        self.pools[name] = _Pool(zones=zones, autoscaling=settings, labels={}, sizes=sizes, ready=dict(sizes))

    def autoscaling(self, name: str) -> Json:
        """The settings as they stand."""
        return dict(self.pools[name].autoscaling)

    def edit(self, name: str, *, labels: dict[str, str] | None = None, **settings: int | bool) -> None:
        """Change labels or settings as somebody else does."""
        pool = self.pools[name]
        pool.labels.update(labels or {})
        pool.autoscaling.update(settings)
        pool.changes += 1

    def finish(self) -> None:
        """Every operation ends."""
        for operation in self._operations.values():
            operation["status"] = "DONE"

    def fail_next(self, status: int, word: str, message: str = "injected", *, times: int = 1) -> None:
        """Answer the next requests to the GKE API by an error."""
        self._faults += [(status, word, message)] * times

    def after_next(self, write: str, act: Callable[[], object]) -> None:
        """Run `act` once the next such write was carried out, before its answer leaves."""
        self._afterwards.append((write, act))

    def _answer(self, asked: Asked) -> tuple[int, Json | str]:
        if not asked.headers.get("Authorization", "").startswith(f"Bearer {self.token_prefix}"):
            return _error(HTTPStatus.UNAUTHORIZED, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        if asked.path.startswith(_GROUPS):
            return self._group(asked)
        return _error(*self._faults.pop(0)) if self._faults else self._cluster(asked)

    def _cluster(self, asked: Asked) -> tuple[int, Json | str]:
        if asked.path.startswith(_OPERATIONS):
            name = asked.path.removeprefix(_OPERATIONS)
            if self.finish_when_asked:
                self.finish()
            return HTTPStatus.OK, {"name": name, **self._operations[name]}
        if not asked.path.startswith(_POOLS):
            return _error(HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", f"Required permission for {asked.path.strip('/')}.")
        name, _, verb = asked.path.removeprefix(_POOLS).partition(":")
        if name not in self.pools:
            return _error(HTTPStatus.NOT_FOUND, "NOT_FOUND", f"Not found: {asked.path.strip('/')}.")
        return self._shown(name) if asked.method == "GET" else self._write(name, verb, asked.json)

    def _shown(self, name: str) -> tuple[int, Json]:
        pool = self.pools[name]
        groups = [f"https://www.googleapis.com{_GROUPS}{zone}/instanceGroupManagers/gke-{name}" for zone in pool.zones]
        shown = {
            "name": name,
            "etag": pool.etag,
            "status": "RUNNING",
            "locations": list(pool.zones),
            "config": {"machineType": "a3-highgpu-8g", **_given(resourceLabels=dict(pool.labels))},
            "autoscaling": _given(**pool.autoscaling),
            "instanceGroupUrls": groups,
            "conditions": pool.conditions,
        }
        return HTTPStatus.OK, _given(**shown)

    def _write(self, name: str, verb: str, body: Json) -> tuple[int, Json]:
        write = verb or "labels"
        pool = self.pools[name]
        if write in self.denied:
            return _error(HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", 'Required "container.clusters.update" permission(s).')
        if any(operation["status"] != "DONE" for operation in self._operations.values()):
            return _error(HTTPStatus.BAD_REQUEST, "FAILED_PRECONDITION", "Cluster is running incompatible operation operation-0.")
        if refused := {"labels": self._label, "setAutoscaling": self._limit, "setSize": self._resize}[write](pool, body):
            return refused
        pool.changes += 1
        self.writes.append(write)
        for waiting in [waiting for waiting in self._afterwards if waiting[0] == write][:1]:
            self._afterwards.remove(waiting)
            waiting[1]()
        operation = {"status": "RUNNING" if write in self.slow else "DONE", **self.failing.get(write, {})}
        self._operations[f"operation-{len(self._operations)}"] = operation
        return HTTPStatus.OK, {"name": f"operation-{len(self._operations) - 1}", **operation}

    def _label(self, pool: _Pool, body: Json) -> tuple[int, Json] | None:
        labels = body["resourceLabels"]["labels"]
        if body.get("etag", pool.etag) != pool.etag:
            return _error(HTTPStatus.CONFLICT, "ABORTED", "The etag does not match.")
        if not all(_LABEL.fullmatch(word) for pair in labels.items() for word in pair):
            return _error(HTTPStatus.BAD_REQUEST, "INVALID_ARGUMENT", f"Invalid label among {labels}.")
        pool.labels = {**{key: text for key, text in pool.labels.items() if key.startswith("goog-")}, **labels}
        return None

    def _limit(self, pool: _Pool, body: Json) -> tuple[int, Json] | None:
        settings: Json = body["autoscaling"]
        for low, high in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
            if settings.get(low, 0) > settings.get(high, 0):
                return _error(HTTPStatus.BAD_REQUEST, "INVALID_ARGUMENT", f"{low} must not be above {high}.")
        pool.autoscaling = settings
        return None

    def _resize(self, pool: _Pool, body: Json) -> tuple[int, Json] | None:
        pool.sizes = {zone: int(body["nodeCount"]) for zone in pool.zones}
        return None

    def _group(self, asked: Asked) -> tuple[int, Json]:
        zone, _, group = asked.path.removeprefix(_GROUPS).split("/")
        pool = self.pools.get(group.removeprefix("gke-"))
        if pool is None or "instanceGroupManagers" in self.denied:
            return _error(HTTPStatus.FORBIDDEN, "PERMISSION_DENIED", "Required 'compute.instanceGroupManagers.get' permission.")
        size, ready = pool.sizes[zone], min(pool.ready[zone], pool.sizes[zone])
        return HTTPStatus.OK, {"name": group, "targetSize": size, "currentActions": {"none": ready, "creating": size - ready}}


@contextmanager
def gke_to_ask() -> Iterator[GkeApi]:
    """The double, and Google's credentials for it in the environment of this process meanwhile."""
    with tokens_to_ask(), GkeApi() as gke:
        yield gke


def _given(**fields: Any) -> Json:
    """What Google sends of them: nothing that is zero, false or empty."""
    return {name: value for name, value in fields.items() if value}


def _error(status: int, word: str, message: str) -> tuple[int, Json]:
    return status, {"error": {"code": int(status), "message": message, "status": word}}
