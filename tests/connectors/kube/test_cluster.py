"""How the API server is found, what is sent to it, and what is not sent twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr, ValidationError

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from tests.kube_api import KubeApi

TOKEN = "secret"
HPA = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace="inference", name="llm")


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi(token=TOKEN) as server:
        server.add_hpa("inference", "llm")
        yield server


def write_kubeconfig(path: Path, *, token: str = TOKEN, **servers: str) -> None:
    """One context a server, named like it; the first is current."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": next(iter(servers)),
        "clusters": [{"name": name, "cluster": {"server": url}} for name, url in servers.items()],
        "users": [{"name": "forecaster", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "forecaster"}} for name in servers],
    }
    path.write_text(yaml.safe_dump(document))


def test_a_server_and_its_token_need_no_kubeconfig(api: KubeApi) -> None:
    cluster = Cluster(KubeConnection(server=f"{api.url}/", token=SecretStr(TOKEN)))
    assert cluster.read(HPA)["metadata"]["name"] == "llm"
    assert api.requests[0].authorization == f"Bearer {TOKEN}"


def test_a_token_is_not_shown_where_the_connection_is_printed() -> None:
    assert TOKEN not in repr(KubeConnection(server="https://api", token=SecretStr(TOKEN)))


def test_the_context_chooses_the_cluster(api: KubeApi, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, nowhere="http://127.0.0.1:1", prod=api.url)
    assert Cluster(KubeConnection(kubeconfig=path, context="prod")).read(HPA)["kind"] == "HorizontalPodAutoscaler"


def test_without_a_word_the_current_context_of_kubeconfig_is_taken(api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, prod=api.url, nowhere="http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert Cluster(KubeConnection()).read(HPA)["kind"] == "HorizontalPodAutoscaler"


@pytest.mark.parametrize("content", [None, "", "{", "apiVersion: v1\nkind: Config\n"])
def test_a_kubeconfig_that_cannot_be_used_fails_at_once_and_names_its_place(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)
    with pytest.raises(KubeFailed, match="kubeconfig") as failed:
        Cluster(KubeConnection(kubeconfig=path)).read(HPA)
    assert "\n" not in str(failed.value)


def test_where_there_is_neither_kubeconfig_nor_pod_the_failure_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(KubeFailed, match="no way into the cluster"):
        Cluster(KubeConnection()).read(HPA)


def test_credentials_that_were_renewed_on_disk_are_taken_after_one_refusal(api: KubeApi, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, token="expired", prod=api.url)
    cluster = Cluster(KubeConnection(kubeconfig=path))
    with pytest.raises(KubeFailed, match="Unauthorized"):
        cluster.read(HPA)
    write_kubeconfig(path, token=TOKEN, prod=api.url)
    assert cluster.read(HPA)["kind"] == "HorizontalPodAutoscaler"


def test_threads_share_one_client(api: KubeApi) -> None:
    cluster = Cluster(KubeConnection(server=api.url, token=SecretStr(TOKEN)))
    with ThreadPoolExecutor(8) as pool:
        kinds = list(pool.map(lambda _: cluster.read(HPA)["kind"], range(40)))
    assert kinds == ["HorizontalPodAutoscaler"] * 40


def test_a_redirect_to_a_login_page_is_not_followed(api: KubeApi) -> None:
    api.fail_next(302)
    with pytest.raises(KubeFailed, match="302"):
        Cluster(KubeConnection(server=api.url, token=SecretStr(TOKEN))).read(HPA)
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"server": "https://api", "context": "prod"}, "two clusters"),
        ({"server": "https://api", "kubeconfig": "/etc/kubeconfig"}, "two clusters"),
        ({"token": "secret"}, "name the server"),
        ({"ca_file": "/etc/ca.pem"}, "name the server"),
        ({"server": "api.example.com"}, "server"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"contxt": "prod"}, "contxt"),
    ],
)
def test_a_connection_that_contradicts_itself_is_refused(fields: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        KubeConnection.model_validate(fields)
