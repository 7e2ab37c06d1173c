"""external.metrics.k8s.io on loopback behind the API server, so that the real HPA controller reads what a test sets."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any, TypeAlias

import yaml

from forecaster.units import iso
from jobs.clock import SystemClock
from tests.cluster.control_plane import ControlPlane, eventually
from tests.connectors.http.certificates import Authority

Json: TypeAlias = dict[str, Any]

_GROUP, _VERSION = "external.metrics.k8s.io", "v1beta1"
_ROOT = f"/apis/{_GROUP}/{_VERSION}"


class ExternalMetrics:
    """Values by namespace and metric. What is not in `values` is not measured: the HPA is told so and keeps its replicas."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], float] = {}

    def answer(self, path: str) -> Json | None:
        """The answer to a GET, None for what is not served."""
        match path.removeprefix(_ROOT).strip("/").split("/"):
            case [""] if path.startswith(_ROOT):
                resource = {"name": "any", "namespaced": True, "kind": "ExternalMetricValueList", "verbs": ["get"], "singularName": ""}
                return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{_GROUP}/{_VERSION}", "resources": [resource]}
            case ["namespaces", namespace, metric]:
                value = self.values.get((namespace, metric))
                return {
                    "kind": "ExternalMetricValueList",
                    "apiVersion": f"{_GROUP}/{_VERSION}",
                    "metadata": {},
                    "items": [] if value is None else [_item(metric, value)],
                }
            case _:
                return None


@contextmanager
def external_metrics(plane: ControlPlane, folder: Path) -> Iterator[ExternalMetrics]:
    """The metrics, registered with the API server, for as long as the block lasts."""
    metrics = ExternalMetrics()
    certificate = Authority(folder, "metrics").sign("metrics-server")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(metrics))
    server.daemon_threads = True
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.cert_file, certificate.key_file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        plane.apply(yaml.safe_dump_all(_registration(server.server_address[1])))
        eventually(lambda: plane.read(_ROOT) is not None)
        yield metrics
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _registration(port: int) -> tuple[Json, Json]:
    """An API behind a Service that is only another name for this machine."""
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "external-metrics", "namespace": "kube-system"},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
    }
    api = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{_VERSION}.{_GROUP}"},
        "spec": {
            "group": _GROUP,
            "version": _VERSION,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"name": "external-metrics", "namespace": "kube-system", "port": port},
        },
    }
    return service, api


def _item(metric: str, value: float) -> Json:
    return {"metricName": metric, "metricLabels": {}, "timestamp": iso(SystemClock().now()), "value": f"{round(value * 1000)}m"}


def _handler(metrics: ExternalMetrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = metrics.answer(self.path.partition("?")[0])
            body = json.dumps(answer or {}).encode()
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is http.server's
            """Keep quiet."""

    return Handler
