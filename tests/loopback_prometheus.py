"""A loopback double of Prometheus' HTTP API that misbehaves as it is told, and remembers what it was asked."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    form: Mapping[str, str]
    body: bytes = b""

    @property
    def stamps(self) -> range:
        """The sample times of a range query, in seconds since the epoch."""
        return range(int(self.form["start"]), int(self.form["end"]) + 1, int(self.form["step"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the double says; `never` keeps the client waiting until the double is closed."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    never: bool = False


Behaviour: TypeAlias = Callable[[Asked], Reply]


def matrix(*series: tuple[Mapping[str, str], list[tuple[float, float | str]]], warnings: list[str] | None = None) -> Reply:
    """A success with (labels, samples) series."""
    result = [{"metric": dict(labels), "values": [[at, str(value)] for at, value in samples]} for labels, samples in series]
    body: dict[str, Any] = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    if warnings is not None:
        body["warnings"] = warnings
    return Reply(body=json.dumps(body).encode())


def steady(value: float | str, **labels: str) -> Behaviour:
    """The same value at every stamp."""
    return lambda asked: matrix((labels, [(at, value) for at in asked.stamps]))


def failure(status: int, said: str, kind: str = "execution", **headers: str) -> Reply:
    """An error as Prometheus words it."""
    body = json.dumps({"status": "error", "errorType": kind, "error": said}).encode()
    return Reply(status=status, body=body, headers=headers)


def page(status: int = 200) -> Reply:
    """The web page of something that stands in front of the server."""
    return Reply(status=status, body=b"<!doctype html>\n<html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})


def in_turn(*behaviours: Behaviour | Reply) -> Behaviour:
    """One behaviour a request, in order of arrival; the last one stays."""
    left = list(behaviours)
    lock = threading.Lock()

    def answer(asked: Asked) -> Reply:
        with lock:
            here = left.pop(0) if len(left) > 1 else left[0]
        return here if isinstance(here, Reply) else here(asked)

    return answer


class LoopbackPrometheus:
    """The running double: `url`, what it was `asked`, and the `most_at_once` requests it held in flight."""

    def __init__(self, behaviour: Behaviour, tls: ssl.SSLContext | None, port: int) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self._behaviour = behaviour
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(self, asked: Asked) -> Reply:
        """The behaviour's reply, counted while it is in flight."""
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            reply = self._behaviour(asked)
            if reply.never:
                self._closing.wait()
            return reply
        finally:
            with self._lock:
                self._at_once -= 1

    def close(self) -> None:
        """Stop serving, and let go of the clients that were kept waiting."""
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def loopback_prometheus(behaviour: Behaviour | Reply, *, tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[LoopbackPrometheus]:
    """A double with that behaviour, over TLS if a context is given, on a free port unless one is, for as long as the block lasts."""
    double = LoopbackPrometheus(in_turn(behaviour), tls, port)
    try:
        yield double
    finally:
        double.close()


def _handler(double: LoopbackPrometheus) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve(urlsplit(self.path).query, b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._serve(body.decode(), body)

        def _serve(self, form: str, body: bytes) -> None:
            path, headers = urlsplit(self.path).path, dict(self.headers.items())
            asked = Asked(method=self.command, path=path, headers=headers, form=dict(parse_qsl(form)), body=body)
            reply = double.answer(asked)
            if reply.never:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the library's
            pass

    return Handler
