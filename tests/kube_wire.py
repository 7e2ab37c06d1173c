"""Requests and answers of the double of the Kubernetes API server, as they go over the wire."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from tests.kube_objects import Json

Answer: TypeAlias = tuple[int, str, bytes]
"""Status (0: drop the connection), content type, body."""

_HTML = b"<!DOCTYPE html><html><body>Sign in</body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it arrived, and the status of what was done; 0: nothing was."""

    verb: str
    path: str
    manager: str
    content_type: str
    authorization: str
    body: Json = field(repr=False)
    query: Json = field(default_factory=dict)
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a matching request gets instead of its answer: a status, `html` (status 200), `hang` or `drop`.

    taken: the request is carried out all the same, and only its answer is lost.
    """

    what: int | str
    verb: str
    plural: str
    message: str
    taken: bool


class Server(ThreadingHTTPServer):
    """As many connections may wait as workers ask at once; the library's 5 are reset beyond."""

    daemon_threads = True
    request_queue_size = 256


def spoilt(fault: Fault) -> Answer:
    match fault.what:
        case int(status):
            return status, "application/json", json.dumps(status_of(status, HTTPStatus(status).phrase, fault.message)).encode()
        case "html":
            return HTTPStatus.OK, "text/html", _HTML
        case _:
            return 0, "", b""


def status_of(code: int, reason: str, message: str) -> Json:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code}


def _is_collection(target: str) -> bool:
    """/apis/GROUP/VERSION/PLURAL or /api/VERSION/PLURAL, or the same in a namespace."""
    parts = urlsplit(target).path.strip("/").split("/")
    first = {"api": 2, "apis": 3}.get(parts[0], len(parts))
    return len(parts) == first + 1 or (len(parts) == first + 3 and parts[first] == "namespaces")


def handler(serve: Callable[[Request], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond("list" if _is_collection(self.path) else "get")

        def do_POST(self) -> None:
            self._respond("create")

        def do_PATCH(self) -> None:
            self._respond("patch")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is http.server's
            """Keep quiet: `requests` remembers."""

        def _respond(self, verb: str) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = dict(parse_qsl(url.query))
            request = Request(
                verb=verb,
                path=url.path,
                query=query,
                manager=query.get("fieldManager", ""),
                content_type=self.headers.get("Content-Type", ""),
                authorization=self.headers.get("Authorization", ""),
                body=json.loads(body) if body else {},
            )
            status, kind, content = serve(request)
            if status:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

    return Handler
