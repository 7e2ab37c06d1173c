"""The autoscaler's minimum of a GKE node pool: GPU nodes that are up before the replicas that need them."""

import json
import time
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from connectors.http.endpoint import Call
from connectors.http.rest import Json, RestApi, RestFailed
from connectors.targets.gke_pool import Group, Pool
from connectors.targets.labels import OUR_LABELS, labels_of, texts_of
from connectors.targets.marks import Marks, floor_mark, read_marks, written_marks
from connectors.targets.per_node import ReplicasPerNode, whole_nodes_taken
from connectors.targets.taken import is_ours, original_taken
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable

_CEILING = "the maximum of the node pool"
_POLLS = 20
_UNKNOWN_WRITER = "an unknown writer"
_REMEDY = (
    "leave the autoscaler's minimum out of what it manages: in Terraform, "
    "lifecycle { ignore_changes = [autoscaling, node_config[0].resource_labels] }"
)

_DENIED = (
    TargetForbidden,
    "grant our service account container.clusters.get, container.clusters.update and container.operations.get in the project",
)
_UNDER_WAY = TargetUnavailable, "an operation is under way there: try again when it has ended"
_REFUSED = TargetRefused, "GKE will not take this request as it is"
_MEANINGS: dict[int, tuple[type[TargetError], str]] = {
    400: _REFUSED,
    401: (TargetForbidden, "Google does not take our token: check the service account and the clock"),
    403: _DENIED,
    404: (TargetMissing, "correct project, location, cluster and nodepool in the configuration"),
    409: (TargetConflict, "it changed since it was observed: observe it again"),
    412: _UNDER_WAY,
}


class GkeNodepoolConfig(BaseModel):
    """One node pool whose autoscaling minimum is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["gke-nodepool"] = Field(
        description="This kind of target: autoscaling.totalMinNodeCount of a GKE node pool, or minNodeCount where it counts by zone."
    )
    project: str = Field(pattern=r"^[a-z0-9.:-]+$", description="ID of the Google Cloud project. No default.")
    location: str = Field(
        pattern=r"^[a-z0-9-]+$", description="Region or zone of the cluster, such as europe-west4 or europe-west4-a. No default."
    )
    cluster: str = Field(pattern=r"^[a-z0-9-]+$", description="Name of the GKE cluster. No default.")
    nodepool: str = Field(pattern=r"^[a-z0-9-]+$", description="Name of the node pool. No default.")
    replicas_per_node: ReplicasPerNode = 1
    operation_wait_s: float = Field(
        default=30,
        ge=0,
        le=120,
        description="Seconds to wait for an operation of GKE before the next cycle goes on with it. Default 30: labels and limits "
        "take some seconds.",
    )
    endpoint_url: str = Field(
        default="https://container.googleapis.com",
        pattern=r"^https?://[^/]+$",
        description="Address of the GKE API. Default https://container.googleapis.com; another one for Private Service Connect.",
    )
    compute_url: str = Field(
        default="https://compute.googleapis.com",
        pattern=r"^https?://[^/]+$",
        description="Address of the Compute Engine API, which tells how many nodes there are. Default https://compute.googleapis.com.",
    )

    @property
    def target(self) -> str:
        """`gke-nodepool:PROJECT/LOCATION/CLUSTER/NODEPOOL`."""
        return f"{self.type}:{self.project}/{self.location}/{self.cluster}/{self.nodepool}"


class GkeNodepoolTarget:
    """A ScaleTarget over one node pool, in replicas: nodes over all zones times `replicas_per_node`.

    Marks are resource labels of the node pool. They are written first, by its etag, so that a change in between is noticed and a crash
    loses nothing; the minimum follows in an operation of its own, which has no etag, and is read back. Nodes are asked for
    together with the minimum where that takes none away; lowering moves the minimum alone. `ready` and `pending` come from the instance
    groups behind the pool and are None where those cannot be read.
    """

    def __init__(self, config: GkeNodepoolConfig, gke: RestApi, compute: RestApi) -> None:
        self.name = config.target
        self._config = config
        self._gke = gke
        self._compute = compute
        self._location = f"v1/projects/{config.project}/locations/{config.location}"
        self._pool = f"{self._location}/clusters/{config.cluster}/nodePools/{config.nodepool}"

    def observe(self, now: datetime) -> Seen:
        """The node pool as it stands, its limits included: people change them while we run."""
        pool = self._describe()
        marks = self._marks(pool, now)
        unit = self._unit(pool)
        fleet = self._fleet(pool)
        writer = _second_writer(pool, marks)
        return Seen(
            target=self.name,
            at=now,
            floor=pool.limits.minimum * unit,
            ceiling=pool.limits.maximum * unit,
            original=_original(pool, marks) * unit,
            ready=None if fleet is None else sum(group.ready for group in fleet) * self._config.replicas_per_node,
            pending=None if fleet is None else sum(group.pending for group in fleet) * self._config.replicas_per_node,
            version=pool.version,
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=writer,
            remedy=None if writer is None else _REMEDY,
            shortage=pool.shortage,
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole nodes, the same in every zone where the pool counts by zone, at most its maximum."""
        unit = json.loads(seen.version)[3] * self._config.replicas_per_node
        return whole_nodes_taken(decision, seen, per_node=unit, ceiling=_CEILING)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling=_CEILING)

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes our labels, then the minimum, then asks for the nodes. Cut short in between, the next run finds the original."""
        applied = self.would_set(decision, seen)
        if applied.written:
            pool = self._unchanged(seen)
            minimum, before = applied.after // self._unit(pool), pool.limits.minimum
            floors = (before, minimum) if is_ours(applied, seen) else ()
            original = _original(pool, self._marks(pool, seen.at))
            self._label(pool, labels_of(written_marks(original=original, floors=floors, valid_until=decision.valid_until)))
            if minimum != before:
                self._limited(minimum, seen)
                self._settle(minimum)
                self._ask_for(minimum, before)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original minimum, then removes our labels. Cut short in between, the next release goes on."""
        applied = self.would_release(seen)
        if applied.written:
            pool = self._unchanged(seen)
            minimum, before = applied.after // self._unit(pool), pool.limits.minimum
            if minimum != before:
                self._label(pool, labels_of(floor_mark(before, minimum)))
                self._limited(minimum, seen)
            self._label(self._describe(), {}, without=OUR_LABELS)
        return applied

    def _label(self, pool: Pool, labels: dict[str, str], *, without: tuple[str, ...] = ()) -> None:
        """Write labels beside those of others. Google's own, which begin with goog-, are not ours to send."""
        standing = {key: text for key, text in pool.config.resource_labels.items() if not key.startswith("goog-")}
        wanted = {key: text for key, text in (standing | labels).items() if key not in without}
        if wanted != standing:
            self._written("PUT", self._pool, {"resourceLabels": {"labels": wanted}, "etag": pool.etag})

    def _limited(self, minimum: int, seen: Seen) -> None:
        """Write the minimum into the autoscaling settings as they stand now."""
        pool = self._describe()
        if json.loads(pool.version)[:4] != json.loads(seen.version)[:4]:
            raise TargetConflict(f"the limits of {self.name} changed while we wrote it: observe it again")
        settings = pool.autoscaling | {pool.limits.field: minimum}
        self._written("POST", f"{self._pool}:setAutoscaling", {"autoscaling": settings})
        after = self._describe().limits.minimum
        if after != minimum:
            raise TargetConflict(f"the minimum of {self.name} became {after} while we wrote {minimum}: observe it again")

    def _settle(self, minimum: int) -> None:
        """Say that our write is over. Where GKE is busy again the earlier mark, which names both values, may stay."""
        try:
            self._label(self._describe(), labels_of(floor_mark(minimum)))
        except TargetUnavailable:
            return

    def _ask_for(self, minimum: int, before: int) -> None:
        """Ask for the nodes of a raised minimum at once, where no zone has more already: a pool's size is one number for all its zones."""
        pool = self._describe()
        fleet = self._fleet(pool)
        size = minimum if pool.limits.by_zone else minimum // len(pool.locations)
        if minimum <= before or not fleet or any(group.target_size > size for group in fleet):
            return
        if any(group.target_size < size for group in fleet):
            self._sent("POST", f"{self._pool}:setSize", {"nodeCount": size})

    def _written(self, method: Literal["PUT", "POST"], path: str, body: Json) -> None:
        """Send a write and wait for its operation. Raises TargetUnavailable while it goes on for longer than we wait."""
        operation = self._sent(method, path, body)
        for _ in range(_POLLS if self._config.operation_wait_s else 0):
            if operation.get("status") == "DONE":
                break
            time.sleep(self._config.operation_wait_s / _POLLS)
            operation = self._asked(f"{self._location}/operations/{operation.get('name', '')}")
        if operation.get("status") != "DONE":
            raise TargetUnavailable(f"{self.name}: GKE is still at work on what we wrote; the next cycle goes on with it")
        if (error := operation.get("error")) is not None:
            raise TargetUnavailable(f"{self.name}: GKE could not carry out what we wrote: {error.get('message', error)}; try again later")

    def _unchanged(self, seen: Seen) -> Pool:
        pool = self._describe()
        if pool.version != seen.version:
            raise TargetConflict(f"{self.name} changed since it was observed: observe it again")
        return pool

    def _describe(self) -> Pool:
        answer = self._asked(self._pool)
        try:
            pool = Pool.model_validate(answer)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self.name} was described without a usable {place}: is endpoint_url the address of the GKE API?"
            raise TargetRefused(msg) from error
        if not pool.autoscaling.get("enabled"):
            command = f"gcloud container node-pools update {self._config.nodepool} --enable-autoscaling"
            raise TargetRefused(f"{self.name} has no autoscaling, so nothing would add nodes above a floor: turn it on with {command}")
        return pool

    def _fleet(self, pool: Pool) -> tuple[Group, ...] | None:
        """The instance groups behind the pool, one a zone; None where we may not or cannot see them: a floor does not need them."""
        try:
            return tuple(self._group(urlsplit(url).path.lstrip("/")) for url in pool.instance_group_urls)
        except (RestFailed, ValidationError):
            return None

    def _group(self, path: str) -> Group:
        return Group.model_validate(self._compute.answer(Call(method="GET", path=path)))

    def _unit(self, pool: Pool) -> int:
        return self._config.replicas_per_node * pool.nodes_a_step

    def _marks(self, pool: Pool, now: datetime) -> Marks:
        return read_marks(texts_of(pool.config.resource_labels), where=f"node pool {self._config.cluster}/{self._config.nodepool}", now=now)

    def _asked(self, path: str) -> Json:
        try:
            return self._gke.answer(Call(method="GET", path=path))
        except RestFailed as failed:
            raise self._error(failed) from failed

    def _sent(self, method: Literal["PUT", "POST"], path: str, body: Json) -> Json:
        try:
            return self._gke.answer(Call(method=method, path=path, body=json.dumps(body).encode(), repeatable=False))
        except RestFailed as failed:
            raise self._error(failed) from failed

    def _error(self, failed: RestFailed) -> TargetError:
        """The target's error for a failed call, with the remedy."""
        if failed.status is None and failed.lasting:
            return TargetForbidden(f"{self.name}: {failed}")  # the login says what to do
        otherwise = _REFUSED if failed.lasting else (TargetUnavailable, "try again later")
        kind, remedy = _MEANINGS.get(failed.status or 0, otherwise)
        if failed.code == "FAILED_PRECONDITION":
            kind, remedy = _UNDER_WAY
        return kind(f"{self.name}: {failed}; {remedy}")


def _original(pool: Pool, marks: Marks) -> int:
    return pool.limits.minimum if marks.original is None else marks.original


def _second_writer(pool: Pool, marks: Marks) -> str | None:
    """Somebody, where the minimum is neither what we last wrote nor what stood before. Google's audit log knows who it was."""
    return _UNKNOWN_WRITER if marks.floors and pool.limits.minimum not in marks.floors else None
