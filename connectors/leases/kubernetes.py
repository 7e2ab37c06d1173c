"""A lease between the pods of one cluster: a coordination.k8s.io/v1 Lease, as controllers have it."""

import hashlib
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kube.cluster import Cluster, Json, KubeFailed, ObjectRef
from connectors.kube.connection import CLUSTER, KubeConnection
from forecaster.errors import StoreError

_SKEW_S = 5.0
"""Clocks of two nodes may be so far apart: a lease is taken over only as long after its end."""
_RENEWALS = 3  # of a lease's length, so that one renewal may fail


class KubernetesLeaseConfig(BaseModel):
    """Leases in the cluster that we run in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["kubernetes"] = Field(description="This kind of lease: a coordination.k8s.io/v1 Lease for each half of the line.")
    namespace: str = Field(min_length=1, description="Namespace of the Lease objects, usually our own. No default.")
    name: str = Field(
        default="forecaster",
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        description="What their names begin with. Default forecaster: two installations in one namespace need two names.",
    )
    ttl_s: float = Field(
        default=90,
        ge=15,
        description="Seconds after which the lease of a holder that fell silent is anybody's. Default 90: two ticks may fail in between.",
    )
    cluster: KubeConnection = Field(default_factory=KubeConnection, description=CLUSTER)


class KubernetesLease:
    """A `forecaster.ports.Lease` by one Lease object, taken and renewed by compare-and-set on its resourceVersion.

    While it is held a thread renews it, so that a run may take longer than `ttl_s`. lingers: letting go at the end of a run leaves it ours
    until it expires, so that the next run of this process finds it and other replicas stand by; `close` gives it up. identity: of the
    holder, unique among processes. now: aware UTC; holders' clocks may differ by 5 s. Raises StoreError when it cannot be read or written.
    """

    def __init__(
        self,
        config: KubernetesLeaseConfig,
        name: str,
        *,
        cluster: Cluster,
        identity: str,
        now: Callable[[], datetime],
        lingers: bool = False,
    ) -> None:
        self._config = config
        self._ref = ObjectRef(
            group="coordination.k8s.io", version="v1", plural="leases", namespace=config.namespace, name=_object_name(config.name, name)
        )
        self._cluster, self._identity, self._now, self._lingers = cluster, identity, now, lingers
        self._held = False
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._renewer: threading.Thread | None = None

    def try_acquire(self) -> bool:
        """Take the lease unless another holder's is still good; a holder takes it again."""
        if self._held and self.renew():
            return True
        try:
            found = self._read()
            self._held = self._create() if found is None else self._take(found)
        except KubeFailed as failed:
            raise self._refusal(failed) from failed
        if self._held:
            self._begin()
        return self._held

    def look(self) -> str:
        """How the lease stands, in words; nothing is taken. Raises StoreError."""
        try:
            found = self._read()
        except KubeFailed as failed:
            raise self._refusal(failed) from failed
        if found is None:
            return f"namespace {self._ref.namespace} answers and has no {self._ref.name} yet: the first run makes it"
        return f"held by {_holder(found)}" if _holder(found) and not self._is_over(found) else "held by nobody"

    def renew(self) -> bool:
        """Whether the lease is still ours, for another `ttl_s` from now on."""
        with self._turn:  # the renewing thread and a caller would take each other for another holder
            if not self._held:
                return False
            try:
                found = self._read()
                self._held = found is not None and _holder(found) == self._identity and self._take(found)
            except KubeFailed as failed:
                raise self._refusal(failed) from failed
            return self._held

    def release(self) -> None:
        """Let go at the end of a run; others may have it at once, or once it has expired where it lingers."""
        self._end()
        if self._held and not self._lingers:
            self._give_up()
        self._held = False

    def close(self) -> None:
        """Give it up, if it is ours, also where it lingers."""
        self._end()
        self._give_up()
        self._held = False

    def _begin(self) -> None:
        self._end()
        self._ended = threading.Event()
        self._renewer = threading.Thread(target=self._renewing, args=(self._ended,), name=f"lease {self._ref.name}", daemon=True)
        self._renewer.start()

    def _end(self) -> None:
        self._ended.set()
        if self._renewer is not None:
            self._renewer.join()
            self._renewer = None

    def _renewing(self, ended: threading.Event) -> None:
        while not ended.wait(self._config.ttl_s / _RENEWALS):
            try:
                if not self.renew():
                    return
            except StoreError:
                continue  # the next one may come through; if none does, the lease ends by itself

    def _give_up(self) -> None:
        """Best done, and not needed: what is left expires."""
        try:
            found = self._read()
            if found is not None and _holder(found) == self._identity:
                self._merge(found, {"holderIdentity": None, "renewTime": None})
        except KubeFailed:
            return

    def _read(self) -> Json | None:
        try:
            return self._cluster.read(self._ref)
        except KubeFailed as failed:
            if failed.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def _create(self) -> bool:
        spec = self._spec() | {"acquireTime": _micro(self._now()), "leaseTransitions": 0}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": self._ref.name}, "spec": spec}
        return _set(lambda: self._cluster.create(self._ref, body))

    def _take(self, found: Json) -> bool:
        """Renew ours, or take one that nobody holds or that has ended; False where another holder has it, or was faster."""
        holder, spec = _holder(found), self._spec()
        if holder != self._identity:
            if holder and not self._is_over(found):
                return False
            moved = int(found.get("spec", {}).get("leaseTransitions") or 0) + 1
            spec |= {"acquireTime": _micro(self._now()), "leaseTransitions": moved}
        return _set(lambda: self._merge(found, spec))

    def _merge(self, found: Json, spec: Json) -> Json:
        version = found.get("metadata", {}).get("resourceVersion")
        return self._cluster.merge(self._ref, {"metadata": {"resourceVersion": version}, "spec": spec})

    def _spec(self) -> Json:
        seconds = int(self._config.ttl_s)
        return {"holderIdentity": self._identity, "leaseDurationSeconds": seconds, "renewTime": _micro(self._now())}

    def _is_over(self, found: Json) -> bool:
        """Whether its holder fell silent for longer than it had said; one that says no time at all never renewed it."""
        spec = found.get("spec", {})
        renewed, length_s = _instant(spec.get("renewTime")), float(spec.get("leaseDurationSeconds") or self._config.ttl_s)
        return renewed is None or self._now() > renewed + timedelta(seconds=length_s + _SKEW_S)

    def _refusal(self, failed: KubeFailed) -> StoreError:
        match failed.status:
            case HTTPStatus.FORBIDDEN:
                rule = "{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, patch]}"
                remedy = f"allow our role {rule} in namespace {self._ref.namespace}"
            case HTTPStatus.UNAUTHORIZED:
                remedy = "renew the credentials of lease.cluster"
            case None:
                remedy = "see that lease.cluster says how its API server is reached, else try again later"
            case _:
                remedy = "try again later"
        return StoreError(f"the lease {self._ref.namespace}/{self._ref.name} cannot be taken: {failed}; {remedy}")


def _object_name(first: str, name: str) -> str:
    """What Kubernetes takes as a name; of a name that it would not, a digest."""
    fits = re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name) is not None
    return f"{first}-{name if fits else hashlib.blake2b(name.encode(), digest_size=8).hexdigest()}"


def _set(write: Callable[[], Json]) -> bool:
    """Whether a write went through; False where somebody wrote in between."""
    try:
        write()
    except KubeFailed as failed:
        if failed.status == HTTPStatus.CONFLICT:
            return False
        raise
    return True


def _holder(found: Json) -> str:
    return found.get("spec", {}).get("holderIdentity") or ""


def _micro(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _instant(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
