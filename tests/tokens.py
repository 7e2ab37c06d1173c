"""A loopback double of the token endpoints of Google (OAuth 2.0, RFC 7523) and Azure (managed identity of App Service).

    with tokens_to_ask() as tokens:
        GoogleLogin().token()   # "google-1"
        AzureLogin().token()    # "azure-1"

Environment and files of this process speak of the double meanwhile: a service account's key made for it, IDENTITY_ENDPOINT.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

Json: TypeAlias = dict[str, Any]

_LATER = "4102444800"  # the year 2100
_SECRET = "only-this-machine-knows"  # nobody else listens on it
_GONE = ("GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE")


class Tokens:
    """The server, listening between `__enter__` and `__exit__`. `asked` are the scopes asked for; tokens are numbered by cloud."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._refused: list[int] = []
        self._given = {"google": 0, "azure": 0}
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

    def start_again(self) -> None:
        """Number from 1 again, with nothing asked so far."""
        self.asked.clear()
        self._given = dict.fromkeys(self._given, 0)

    def refuse_next(self, status: int, *, times: int = 1) -> None:
        """Answer the next requests for a token by an error."""
        self._refused += [status] * times

    def answer(self, cloud: str, scope: str) -> tuple[int, Json]:
        """Status and body of the answer to a request for a token."""
        with self._lock:
            self.asked.append(scope)
            if self._refused:
                return self._refused.pop(0), {"error": "invalid_grant", "error_description": "account is disabled"}
            self._given[cloud] += 1
            token = {"access_token": f"{cloud}-{self._given[cloud]}", "token_type": "Bearer"}
        return HTTPStatus.OK, token | ({"expires_in": 3600} if cloud == "google" else {"expires_on": _LATER, "resource": scope})


@contextmanager
def tokens_to_ask() -> Iterator[Tokens]:
    """The double, and the environment that leads both clouds' libraries to it."""
    with pytest.MonkeyPatch.context() as environment, Tokens() as tokens, TemporaryDirectory() as folder:
        for name in _GONE:
            environment.delenv(name, raising=False)
        environment.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(_service_account(Path(folder), tokens.url)))
        environment.setenv("GOOGLE_CLOUD_PROJECT", "acme")
        environment.setenv("IDENTITY_ENDPOINT", f"{tokens.url}/msi/token")
        environment.setenv("IDENTITY_HEADER", _SECRET)
        yield tokens


def _service_account(folder: Path, url: str) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    account = {
        "type": "service_account",
        "project_id": "acme",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "forecaster@acme.iam.gserviceaccount.com",
        "token_uri": f"{url}/token",
    }
    file = folder / "account.json"
    file.write_text(json.dumps(account))
    return file


def _claims(assertion: str) -> Json:
    from google.auth.jwt import decode  # noqa: PLC0415

    claims: Json = decode(assertion, verify=False)
    return claims


def _handler(tokens: Tokens) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()))
            self._say(*tokens.answer("google", _claims(form["assertion"])["scope"]))

        def do_GET(self) -> None:
            if self.headers.get("X-IDENTITY-HEADER") != _SECRET:
                self._say(HTTPStatus.UNAUTHORIZED, {"message": "no X-IDENTITY-HEADER"})
                return
            self._say(*tokens.answer("azure", dict(parse_qsl(urlsplit(self.path).query))["resource"]))

        def _say(self, status: int, body: Json) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the library's
            pass

    return Handler
