"""A loopback server that speaks JSON: what the doubles of web APIs stand on."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias
from urllib.parse import urlsplit

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived. `body` as it was sent."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        """The body as a document."""
        document: Json = json.loads(self.body or b"{}")
        return document


Answering: TypeAlias = Callable[[Asked], tuple[int, Json | str]]


class JsonServer:
    """The server, listening between `__enter__` and `__exit__`; one request at a time, as a control plane orders them."""

    def __init__(self, answering: Answering) -> None:
        self.asked: list[Asked] = []
        self._answering = answering
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, asked: Asked) -> tuple[int, Json | str]:
        """Status and body of the answer."""
        with self._lock:
            self.asked.append(asked)
            return self._answering(asked)


def _handler(server: JsonServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body leave together: two small packets cost 40 ms of delayed acknowledgement

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = Asked(method=self.command, path=parts.path, query=parts.query, headers=dict(self.headers.items()), body=body)
            status, said = server.answer(asked)
            raw = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(said, str) else "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the library's
            pass

    return Handler
