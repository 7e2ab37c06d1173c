"""A real API server and its controllers on loopback, with an empty cluster behind them."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from ssl import create_default_context
from typing import Any, TypeAlias

import httpx2
import pytest
import yaml
from pydantic import SecretStr

from connectors.kube.connection import KubeConnection
from tests.cluster.credentials import Credentials
from tests.services import free_port

Json: TypeAlias = dict[str, Any]

AUDIT_LOG = "audit.log"

_REFUSED = 300
_AUDITED = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "resources": [{"group": ""}]}, {"level": "Metadata", "verbs": ["patch"]}, {"level": "None"}],
}
"""Patches, but for those of pods, which our kubelet makes."""
_PATIENCE_S = 120.0
_POLL_S = 0.1
_CONTROLLERS = (
    "horizontal-pod-autoscaler-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """An API server that answers. `admin_token` may do everything."""

    server: str
    ca_file: Path
    kubeconfig: Path
    admin_token: str
    programs: Path
    folder: Path

    def connection(self, token: str | None = None) -> KubeConnection:
        """How Forecaster reaches the server: with a token of its own, else as the administrator."""
        return KubeConnection(server=self.server, token=SecretStr(token or self.admin_token), ca_file=self.ca_file)

    def http(self) -> httpx2.Client:
        """An administrator's plain client, for its own thread."""
        headers = {"Authorization": f"Bearer {self.admin_token}"}
        return httpx2.Client(base_url=self.server, verify=create_default_context(cafile=str(self.ca_file)), headers=headers, timeout=30)

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        """What kubectl prints as the administrator. A command that fails fails the test with what it said."""
        done = self.tried(*words, stdin=stdin)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def tried(self, *words: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """The same, where it may fail."""
        return subprocess.run(  # noqa: S603  # built by this suite
            [self.programs / "kubectl", "--kubeconfig", self.kubeconfig, "--cache-dir", self.folder / "kubectl-cache", *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
        )

    def apply(self, manifests: str, *, manager: str = "kubectl", namespace: str | None = None) -> None:
        """Objects as they are to stand, by server-side apply under a field manager's name; conflicts are taken over."""
        place = () if namespace is None else ("--namespace", namespace)
        self.kubectl("apply", "--server-side", "--force-conflicts", f"--field-manager={manager}", *place, "-f", "-", stdin=manifests)

    def read(self, path: str) -> Json | None:
        """What the server answers under a path, None where it does not."""
        with self.http() as http:
            answer = http.get(path)
            value: Json | None = answer.json() if answer.is_success else None
            return value

    def value(self, kind: str, namespace: str, name: str, path: str) -> str:
        """One value of an object by its JSONPath, `.spec.minReplicas`; empty where it is not there."""
        return self.kubectl("get", kind, name, "--namespace", namespace, "-o", f"jsonpath={{{path}}}")

    def patches(self, namespace: str, name: str, manager: str = "forecaster") -> int:
        """How many patches of an object the server has carried out for a field manager, by its own audit log."""
        entries = map(json.loads, (self.folder / AUDIT_LOG).read_text().splitlines())
        return sum(
            (entry["objectRef"].get("namespace"), entry["objectRef"].get("name")) == (namespace, name)
            and f"fieldManager={manager}" in entry["requestURI"]
            and entry["responseStatus"]["code"] < _REFUSED
            for entry in entries
        )

    def token_for(self, namespace: str, account: str) -> str:
        """A token of a service account, valid for an hour, as a pod would carry it."""
        return self.kubectl("create", "token", account, "--namespace", namespace).strip()


@contextmanager
def control_plane(programs: Path, kinds: Path) -> Iterator[ControlPlane]:
    """The control plane, for as long as the block lasts. Nothing listens beyond loopback and nothing is left on the disk.

    kinds: a folder of CustomResourceDefinitions. The server knows them before the controllers ask for its kinds, twice a minute.
    """
    with ExitStack() as stack:
        # a folder of its own, since the path of a socket is short
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forecaster-cluster-")))
        credentials = Credentials(folder)
        socket = folder / "kine.sock"
        stack.enter_context(_running(folder, "kine", _kine(programs, folder, socket)))
        _wait(socket.exists, folder, "kine")
        port = free_port()
        server = f"https://127.0.0.1:{port}"
        stack.enter_context(_running(folder, "kube-apiserver", _api_server(programs, credentials, socket, port)))
        _wait(lambda: _answers(f"{server}/readyz", credentials), folder, "kube-apiserver")
        kubeconfig = credentials.kubeconfig(server)
        plane = ControlPlane(
            server=server,
            ca_file=credentials.ca_file,
            kubeconfig=kubeconfig,
            admin_token=credentials.admin_token,
            programs=programs,
            folder=folder,
        )
        plane.kubectl("apply", "--server-side", "-f", str(kinds))
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        stack.enter_context(_running(folder, "kube-controller-manager", _controllers(programs, credentials, kubeconfig)))
        yield plane


def eventually(met: Callable[[], object], *, patience_s: float = 60.0) -> None:
    """Waits until a condition holds; the test fails where it never does."""
    deadline = time.monotonic() + patience_s
    while not met():
        assert time.monotonic() < deadline, f"not within {patience_s} s: {met}"
        time.sleep(_POLL_S)


def _kine(programs: Path, folder: Path, socket: Path) -> list[str]:
    # nothing has to survive the machine: SQLite does not wait for the disk
    database = f"sqlite://{folder}/state.db?_journal=WAL&cache=shared&_busy_timeout=30000&_txlock=immediate&_synchronous=OFF"
    return [f"{programs}/kine", f"--endpoint={database}", f"--listen-address=unix://{socket}", "--metrics-bind-address=0"]


def _api_server(programs: Path, credentials: Credentials, socket: Path, port: int) -> list[str]:
    return [
        f"{programs}/kube-apiserver",
        f"--etcd-servers=unix://{socket}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",  # it would publish loopback as the address of the API server, which is refused
        f"--secure-port={port}",
        f"--cert-dir={credentials.folder}",
        f"--tls-cert-file={credentials.serving.cert_file}",
        f"--tls-private-key-file={credentials.serving.key_file}",
        f"--client-ca-file={credentials.ca_file}",
        f"--token-auth-file={credentials.token_file}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={credentials.account_key_file}",
        f"--service-account-signing-key-file={credentials.account_key_file}",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--audit-policy-file={_audit_policy(credentials.folder)}",
        f"--audit-log-path={credentials.folder / AUDIT_LOG}",
        "--audit-log-mode=blocking-strict",  # what was answered has been written down
        "--profiling=false",
    ]


def _audit_policy(folder: Path) -> Path:
    path = folder / "audit-policy.yaml"
    path.write_text(yaml.safe_dump(_AUDITED))
    return path


def _controllers(programs: Path, credentials: Credentials, kubeconfig: Path) -> list[str]:
    return [
        f"{programs}/kube-controller-manager",
        f"--kubeconfig={kubeconfig}",
        f"--controllers={','.join(_CONTROLLERS)}",
        f"--cert-dir={credentials.folder}",
        "--secure-port=0",
        "--leader-elect=false",
        "--horizontal-pod-autoscaler-sync-period=250ms",
        "--horizontal-pod-autoscaler-downscale-stabilization=1s",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


@contextmanager
def _running(folder: Path, name: str, command: list[str]) -> Iterator[None]:
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603  # built by this suite
    try:
        yield
    finally:
        process.kill()  # there is nothing to save
        process.wait()


def _wait(met: Callable[[], bool], folder: Path, name: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not met():
        if time.monotonic() > deadline:
            pytest.fail(f"{name} does not start: {(folder / f'{name}.log').read_text(errors='replace')[-3000:]}")
        time.sleep(_POLL_S)


def _answers(url: str, credentials: Credentials) -> bool:
    trust = create_default_context(cafile=str(credentials.ca_file))
    try:
        return httpx2.get(url, verify=trust, headers={"Authorization": f"Bearer {credentials.admin_token}"}).is_success
    except httpx2.HTTPError:
        return False
