"""The pages and roles of Google, Azure and the webhook against the code: what is asked is allowed and no more, what is shown is sent."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.aks_api import AksApi, aks_to_ask
from tests.connectors.targets.cloud_subjects import AksSubject, GkeSubject, WebhookSubject
from tests.connectors.targets.subjects import NOW, let_go, stand
from tests.gke_api import GkeApi, gke_to_ask
from tests.json_server import Asked
from tests.webhook_receiver import WebhookReceiver

ROOT = Path(__file__).parents[3]
PAGES = {
    kind: (ROOT / "docs" / "targets" / f"{kind}.md").read_text(encoding="utf-8") for kind in ("gke-nodepool", "aks-agentpool", "webhook")
}
GCP_ROLE = yaml.safe_load((ROOT / "deploy" / "iam" / "gcp-role.yaml").read_text(encoding="utf-8"))
AZURE_ROLE = json.loads((ROOT / "deploy" / "iam" / "azure-role.json").read_text(encoding="utf-8"))


@pytest.fixture
def gke() -> Iterator[GkeApi]:
    with gke_to_ask() as server:
        yield server


@pytest.fixture
def aks() -> Iterator[AksApi]:
    with aks_to_ask() as server:
        yield server


def fences(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], flags=re.DOTALL)


def permission(asked: Asked) -> str:
    """The IAM permission that Google's reference names for a method."""
    if asked.path.startswith("/compute/"):
        return "compute.instanceGroupManagers.get"
    if "/operations/" in asked.path:
        return "container.operations.get"
    return "container.clusters.get" if asked.method == "GET" else "container.clusters.update"


def test_the_role_of_google_allows_what_gke_is_asked_and_no_more(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke, operation_wait_s=1)
    gke.slow, gke.finish_when_asked = {"labels"}, True
    stand(subject.open(), 8)
    let_go(subject.open())
    assert {permission(asked) for asked in gke.asked} == set(GCP_ROLE["includedPermissions"])


def test_the_role_of_azure_allows_what_aks_is_asked_and_no_more(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    stand(subject.open(), 8)
    let_go(subject.open())
    actions = {
        f"Microsoft.ContainerService/managedClusters/agentPools/{'read' if asked.method == 'GET' else 'write'}" for asked in aks.asked
    }
    assert actions == set(AZURE_ROLE["Actions"])


def test_the_pages_show_the_roles() -> None:
    assert GCP_ROLE in [yaml.safe_load(fence) for fence in fences("gke-nodepool", "yaml")]
    assert [json.loads(fence) for fence in fences("aks-agentpool", "json")] == [AZURE_ROLE]


def test_the_page_of_gke_shows_the_labels_as_they_are_written(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    stand(subject.open(), 8)
    subject.mark("forecaster/paused", "hold")
    for name in gke.pools[subject.name].labels:
        assert f"| `{name}`: `" in PAGES["gke-nodepool"]
    assert f"`{gke.pools[subject.name].labels['forecaster-valid-until']}`" in PAGES["gke-nodepool"]


def test_the_page_of_the_webhook_shows_every_field_and_header_that_is_sent() -> None:
    with WebhookReceiver(NOW) as hook:
        stand(WebhookSubject(hook=hook).open(), 8)
        (said,) = hook.carried_out
    (shown,) = (json.loads(fence) for fence in fences("webhook", "json"))
    assert set(shown) == set(said)
    for header in ("Forecaster-Timestamp", "Forecaster-Signature", "Idempotency-Key"):
        assert f"| `{header}` |" in PAGES["webhook"]
