"""Node pools of Google and Azure, and what a webhook moves, over their doubles. Found at 2 of at most 20 replicas."""

from dataclasses import dataclass, field
from uuid import uuid4

from pydantic import SecretStr

from connectors.targets.aks_agentpool import AksAgentpoolConfig
from connectors.targets.gke_nodepool import GkeNodepoolConfig
from connectors.targets.labels import texts_of
from connectors.targets.registry import Target, open_target
from connectors.targets.webhook import WebhookConfig
from tests import aks_api
from tests.aks_api import AksApi
from tests.connectors.targets.subjects import CEILING, FOUND
from tests.gke_api import CLUSTER, LOCATION, PROJECT, GkeApi
from tests.webhook_receiver import SECRET, WebhookReceiver


def label(text: str) -> str:
    """A text as a person can write it into a label, which takes no blanks, points, colons or capitals."""
    return text.lower().replace(" ", "-").replace(":", "-").replace(".", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class GkeSubject:
    """A node pool in one zone whose limits are those of the whole, in which 3 nodes are in service."""

    gke: GkeApi
    name: str = field(default_factory=lambda: f"gpu-{uuid4().hex[:8]}")
    operation_wait_s: float = 0
    replicas_per_node: int = 1

    def __post_init__(self) -> None:
        self.gke.add_pool(self.name, total=(FOUND, CEILING), nodes=3)

    def open(self) -> Target:
        return open_target(self.config())

    def config(self) -> GkeNodepoolConfig:
        """As it is configured."""
        return GkeNodepoolConfig(
            type="gke-nodepool",
            project=PROJECT,
            location=LOCATION,
            cluster=CLUSTER,
            nodepool=self.name,
            replicas_per_node=self.replicas_per_node,
            operation_wait_s=self.operation_wait_s,
            endpoint_url=self.gke.url,
            compute_url=self.gke.url,
        )

    def floor(self) -> int:
        return int(self.gke.autoscaling(self.name).get("totalMinNodeCount", 0)) * self.replicas_per_node

    def marks(self) -> dict[str, str]:
        return texts_of(self.gke.pools[self.name].labels)

    def writes(self) -> int:
        return len(self.gke.writes)

    def meddle(self, floor: int) -> None:
        self.gke.edit(self.name, totalMinNodeCount=floor)

    def limit(self, ceiling: int) -> None:
        self.gke.edit(self.name, totalMaxNodeCount=ceiling)

    def mark(self, key: str, text: str) -> None:
        self.gke.edit(self.name, labels={key.replace("/", "-"): label(text)})

    def remove(self) -> None:
        del self.gke.pools[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class AksSubject:
    """An agent pool of 3 nodes."""

    aks: AksApi
    name: str = field(default_factory=lambda: f"gpu{uuid4().hex[:8]}")
    replicas_per_node: int = 1

    def __post_init__(self) -> None:
        self.aks.add_pool(self.name, minimum=FOUND, maximum=CEILING, count=3)

    def open(self) -> Target:
        return open_target(self.config())

    def config(self) -> AksAgentpoolConfig:
        """As it is configured."""
        return AksAgentpoolConfig(
            type="aks-agentpool",
            subscription=aks_api.SUBSCRIPTION,
            resource_group=aks_api.GROUP,
            cluster=aks_api.CLUSTER,
            agentpool=self.name,
            replicas_per_node=self.replicas_per_node,
            endpoint_url=self.aks.url,
        )

    def floor(self) -> int:
        return int(self.aks.pools[self.name]["minCount"]) * self.replicas_per_node

    def marks(self) -> dict[str, str]:
        return texts_of(self.aks.pools[self.name]["tags"])

    def writes(self) -> int:
        return len(self.aks.puts)

    def meddle(self, floor: int) -> None:
        self.aks.edit(self.name, minCount=floor, count=max(floor, self.aks.pools[self.name]["count"]))

    def limit(self, ceiling: int) -> None:
        self.aks.edit(self.name, maxCount=ceiling, count=min(ceiling, self.aks.pools[self.name]["count"]))

    def mark(self, key: str, text: str) -> None:
        self.aks.edit(self.name, tags={key.replace("/", "-"): label(text)})

    def remove(self) -> None:
        del self.aks.pools[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSubject:
    """An object of the receiver that examples/webhook shows, with 3 replicas ready."""

    hook: WebhookReceiver
    name: str = field(default_factory=lambda: f"llm-{uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        self.hook.objects[self.name] = {"floor": FOUND, "ceiling": CEILING, "ready": 3, "pending": 0, "marks": {}, "version": "1"}

    def open(self) -> Target:
        return open_target(WebhookConfig(type="webhook", name=self.name, url=self.hook.url, secret=SecretStr(SECRET)))

    def floor(self) -> int:
        return int(self.hook.objects[self.name]["floor"])

    def marks(self) -> dict[str, str]:
        return dict(self.hook.objects[self.name]["marks"])

    def writes(self) -> int:
        return len(self.hook.carried_out)

    def meddle(self, floor: int) -> None:
        self.hook.edit(self.name, floor=floor)

    def limit(self, ceiling: int) -> None:
        self.hook.edit(self.name, ceiling=ceiling)

    def mark(self, key: str, text: str) -> None:
        self.hook.edit(self.name, marks={key: text})

    def remove(self) -> None:
        del self.hook.objects[self.name]
