"""minCount of an AKS agent pool: GPU nodes that are up before the replicas that need them."""

import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from connectors.http.endpoint import Call
from connectors.http.rest import Json, RestApi, RestFailed
from connectors.targets.labels import OUR_LABELS, labels_of, marked, texts_of
from connectors.targets.marks import Marks, read_marks, written_marks
from connectors.targets.per_node import ReplicasPerNode, whole_nodes_taken
from connectors.targets.taken import is_ours, original_taken
from forecaster.decision import Applied, Decision, Seen
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.reasons import Code, Reason

_VERSION = {"api-version": "2025-10-01"}
_CEILING = "maxCount"
_SETTLED = frozenset({"Succeeded", "Failed", "Canceled"})  # what ARM ends in; a failed pool is repaired by the next write
_UNKNOWN_WRITER = "an unknown writer"
_REMEDY = "leave min_count out of what it manages: in Terraform, lifecycle { ignore_changes = [min_count, node_count, tags] }"
_SHORT_OF = ("Allocation", "Quota", "SKUNotAvailable", "SkuNotAvailable")

_REFUSED = TargetRefused, "AKS will not take this request as it is"
_MEANINGS: dict[int, tuple[type[TargetError], str]] = {
    400: _REFUSED,
    401: (TargetForbidden, "Azure does not take our token: check the identity and the clock"),
    403: (TargetForbidden, "give our identity the actions Microsoft.ContainerService/managedClusters/agentPools/read and .../write on it"),
    404: (TargetMissing, "correct subscription, resource_group, cluster and agentpool in the configuration"),
    409: (TargetUnavailable, "another operation is under way there: try again when it has ended"),
    412: (TargetConflict, "it changed since it was observed: observe it again"),
}


class AksAgentpoolConfig(BaseModel):
    """One agent pool whose minCount is ours to move."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["aks-agentpool"] = Field(description="This kind of target: minCount of an AKS agent pool.")
    subscription: str = Field(pattern=r"^[0-9a-fA-F-]{36}$", description="ID of the Azure subscription. No default.")
    resource_group: str = Field(pattern=r"^[\w.()-]+$", description="Resource group of the cluster. No default.")
    cluster: str = Field(pattern=r"^[\w-]+$", description="Name of the AKS cluster. No default.")
    agentpool: str = Field(pattern=r"^[a-z0-9]+$", description="Name of the agent pool. No default.")
    replicas_per_node: ReplicasPerNode = 1
    endpoint_url: str = Field(
        default="https://management.azure.com",
        pattern=r"^https?://[^/]+$",
        description="Address of Azure's resource manager. Default https://management.azure.com, the public cloud's.",
    )

    @property
    def target(self) -> str:
        """`aks-agentpool:SUBSCRIPTION/GROUP/CLUSTER/AGENTPOOL`."""
        return f"{self.type}:{self.subscription}/{self.resource_group}/{self.cluster}/{self.agentpool}"


class AksAgentpoolTarget:
    """A ScaleTarget over one agent pool, in replicas: nodes times `replicas_per_node`.

    A write is one PUT of the whole pool as it was read, with our minimum and our tags, under the etag that was read: all of it stands, or
    nothing. The count is raised together with the minimum and never lowered, since that would end nodes at work. `ready` is the
    pool's count while nothing is under way there, and None otherwise.
    """

    def __init__(self, config: AksAgentpoolConfig, arm: RestApi) -> None:
        self.name = config.target
        self._config = config
        self._arm = arm
        self._path = (
            f"subscriptions/{config.subscription}/resourceGroups/{config.resource_group}/providers/Microsoft.ContainerService"
            f"/managedClusters/{config.cluster}/agentPools/{config.agentpool}"
        )

    def observe(self, now: datetime) -> Seen:
        """The agent pool as it stands, its limits included: people change them while we run."""
        pool = self._described(self._read())
        marks = self._marks(pool, now)
        per_node = self._config.replicas_per_node
        writer = _second_writer(pool, marks)
        return Seen(
            target=self.name,
            at=now,
            floor=pool.min_count * per_node,
            ceiling=pool.max_count * per_node,
            original=_original(pool, marks) * per_node,
            ready=pool.count * per_node if pool.is_at_rest else None,
            pending=0 if pool.is_at_rest else None,
            version=pool.version,
            paused=marks.paused,
            valid_until=marks.valid_until,
            writer=writer,
            remedy=None if writer is None else _REMEDY,
            shortage=pool.shortage,
            least=_least(self.name, per_node) if pool.mode == "System" else None,
        )

    def would_set(self, decision: Decision, seen: Seen) -> Applied:
        """What `set_floor` would do: whole nodes, at most maxCount."""
        return whole_nodes_taken(decision, seen, per_node=self._config.replicas_per_node, ceiling=_CEILING)

    def would_release(self, seen: Seen) -> Applied:
        """What `release` would do."""
        return original_taken(seen, ceiling=_CEILING)

    def set_floor(self, decision: Decision, seen: Seen) -> Applied:
        """Writes minimum, count and tags at once."""
        applied = self.would_set(decision, seen)
        if applied.written:
            document = self._read()
            pool = self._unchanged(document, seen)
            minimum = applied.after // self._config.replicas_per_node
            floors = (minimum,) if is_ours(applied, seen) else ()
            original = _original(pool, self._marks(pool, seen.at))
            tags = labels_of(written_marks(original=original, floors=floors, valid_until=decision.valid_until))
            self._put(document, minCount=minimum, count=max(pool.count, minimum), tags=pool.tags | tags)
        return applied

    def release(self, seen: Seen) -> Applied:
        """Writes the original minCount and removes our tags at once."""
        applied = self.would_release(seen)
        if applied.written:
            document = self._read()
            pool = self._unchanged(document, seen)
            minimum = applied.after // self._config.replicas_per_node
            tags = {key: text for key, text in pool.tags.items() if key not in OUR_LABELS}
            self._put(document, minCount=minimum, count=max(pool.count, minimum), tags=tags)
        return applied

    def _put(self, document: Json, **ours: object) -> None:
        """Send the pool back as it came, but for what is ours."""
        properties = document["properties"]
        headers = {"If-Match": properties["eTag"]} if properties.get("eTag") else {}
        body = json.dumps({**document, "properties": {**properties, **ours}}).encode()
        call = Call(method="PUT", path=self._path, query=_VERSION, body=body, headers=headers, repeatable=False)
        try:
            self._arm.answer(call)
        except RestFailed as failed:
            raise self._error(failed) from failed

    def _unchanged(self, document: Json, seen: Seen) -> "_Pool":
        pool = self._described(document)
        if pool.version != seen.version:
            raise TargetConflict(f"{self.name} changed since it was observed: observe it again")
        if pool.provisioning_state not in _SETTLED:
            raise TargetUnavailable(f"{self.name} is {pool.provisioning_state}: try again when that has ended")
        return pool

    def _read(self) -> Json:
        try:
            return self._arm.answer(Call(method="GET", path=self._path, query=_VERSION))
        except RestFailed as failed:
            raise self._error(failed) from failed

    def _described(self, document: Json) -> "_Pool":
        try:
            pool = _Pool.model_validate({name: value for name, value in document.get("properties", {}).items() if value is not None})
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            msg = f"{self.name} was described without a usable {place or 'properties'}: is endpoint_url Azure's resource manager?"
            raise TargetRefused(msg) from error
        if not pool.enable_auto_scaling:
            command = f"az aks nodepool update --name {self._config.agentpool} --enable-cluster-autoscaler --min-count 1 --max-count 10"
            raise TargetRefused(f"{self.name} has no autoscaler, so nothing would add nodes above a floor: turn it on with {command}")
        return pool

    def _marks(self, pool: "_Pool", now: datetime) -> Marks:
        return read_marks(texts_of(pool.tags), where=f"agent pool {self._config.cluster}/{self._config.agentpool}", now=now)

    def _error(self, failed: RestFailed) -> TargetError:
        """The target's error for a failed call, with the remedy."""
        if failed.status is None and failed.lasting:
            return TargetForbidden(f"{self.name}: {failed}")  # the login says what to do
        otherwise = _REFUSED if failed.lasting else (TargetUnavailable, "try again later")
        kind, remedy = _MEANINGS.get(failed.status or 0, otherwise)
        return kind(f"{self.name}: {failed}; {remedy}")


def _original(pool: "_Pool", marks: Marks) -> int:
    return pool.min_count if marks.original is None else marks.original


def _second_writer(pool: "_Pool", marks: Marks) -> str | None:
    """Somebody, where minCount is not what we last wrote. Azure's activity log knows who it was."""
    return _UNKNOWN_WRITER if marks.floors and pool.min_count not in marks.floors else None


def _least(name: str, per_node: int) -> Reason:
    detail = f"{name} is a System pool, which keeps one node: write floors of 0 into a User pool"
    return Reason(code=Code.ZERO_NOT_TAKEN, detail=detail, before=0, after=per_node)


class _Pool(BaseModel):
    """The properties of an agent pool, as far as we read them; the rest is sent back as it came."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)

    count: int = Field(default=0, ge=0)
    min_count: int = Field(default=0, ge=0)
    max_count: int = Field(default=0, ge=0)
    enable_auto_scaling: bool = False
    provisioning_state: str
    mode: str = "User"
    tags: dict[str, str] = Field(default_factory=dict)
    status: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_at_rest(self) -> bool:
        """Whether the count says what is there."""
        return self.provisioning_state == "Succeeded"

    @property
    def shortage(self) -> str | None:
        """Why nodes do not come, in Azure's words."""
        error = self.status.get("provisioningError") or {}
        short = any(word in str(error.get("code")) for word in _SHORT_OF)
        return str(error.get("message") or error["code"]) if short else None

    @property
    def version(self) -> str:
        """All that a write rests on. Not the count: the autoscaler moves it at any time."""
        return json.dumps([self.min_count, self.max_count, marked(self.tags)])
