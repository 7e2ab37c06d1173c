"""A GKE node pool and the instance groups behind it, as far as their APIs' answers are used."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from connectors.targets.labels import marked

_SHORT_OF = frozenset({"GCE_STOCKOUT", "GCE_QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"})


class _Part(BaseModel):
    """A part of an answer; what we do not read is ignored. Google leaves out what is zero, false or empty."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class Limits(_Part):
    """The autoscaler's minimum and maximum of nodes: of the whole pool where `total...` is set, else of each of its zones."""

    min_node_count: int = Field(default=0, ge=0)
    max_node_count: int = Field(default=0, ge=0)
    total_min_node_count: int = Field(default=0, ge=0)
    total_max_node_count: int = Field(default=0, ge=0)

    @property
    def by_zone(self) -> bool:
        """Whether the numbers are those of one zone."""
        return not self.total_max_node_count

    @property
    def field(self) -> str:
        """What the API calls the minimum."""
        return "minNodeCount" if self.by_zone else "totalMinNodeCount"

    @property
    def minimum(self) -> int:
        """The minimum in the API's own unit."""
        return self.min_node_count if self.by_zone else self.total_min_node_count

    @property
    def maximum(self) -> int:
        """The maximum in the API's own unit."""
        return self.max_node_count if self.by_zone else self.total_max_node_count


class _NodeConfig(_Part):
    resource_labels: dict[str, str] = Field(default_factory=dict)


class _Condition(_Part):
    code: str = ""
    canonical_code: str = ""
    message: str = ""


class Pool(_Part):
    """A node pool. `autoscaling` is kept as it came, since a write sends all of it back."""

    etag: str
    locations: tuple[str, ...] = Field(min_length=1)
    config: _NodeConfig = _NodeConfig()
    autoscaling: dict[str, Any] = Field(default_factory=dict)
    instance_group_urls: tuple[str, ...] = ()
    conditions: tuple[_Condition, ...] = ()

    @property
    def limits(self) -> Limits:
        """The numbers of `autoscaling`."""
        return Limits.model_validate(self.autoscaling)

    @property
    def nodes_a_step(self) -> int:
        """Nodes that one more in the minimum means: one, or one in every zone."""
        return len(self.locations) if self.limits.by_zone else 1

    @property
    def shortage(self) -> str | None:
        """Why nodes do not come, in Google's words."""
        for condition in self.conditions:
            if {condition.code, condition.canonical_code} & _SHORT_OF:
                return condition.message or condition.code or condition.canonical_code
        return None

    @property
    def version(self) -> str:
        """All that a write rests on. Not the etag, which moves with what does not concern us."""
        limits = self.limits
        return json.dumps([limits.field, limits.minimum, limits.maximum, self.nodes_a_step, marked(self.config.resource_labels)])


class _Actions(_Part):
    none: int = 0


class Group(_Part):
    """A managed instance group: the nodes of one zone. Those that nothing is being done to are in service."""

    target_size: int = Field(default=0, ge=0)
    current_actions: _Actions = _Actions()

    @property
    def ready(self) -> int:
        """Nodes in service."""
        return min(self.current_actions.none, self.target_size)

    @property
    def pending(self) -> int:
        """Nodes asked for that are not in service."""
        return self.target_size - self.ready
