"""The gRPC server of the external scaler, on a thread and an event loop of its own: a stream costs no thread."""

import asyncio
import ssl
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import grpc
from grpc import aio

from forecaster.errors import ConfigRejected
from jobs.hooks.desk import Desk
from jobs.hooks.scaler import Scaler, handlers
from jobs.web.server import bound

_STOP_S = 1.0
_START_S = 10.0
_ALONE = (("grpc.so_reuseport", 0),)
"""Linux would let two processes share a port, and each would get some of the questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM files of the server. client_ca: who signs the callers' certificates, None = any caller is answered."""

    cert: Path
    key: Path
    client_ca: Path | None = None


class ScalerServer:
    """The scaler at an address that is bound when this is made. Raises ConfigRejected when it cannot be, or when a PEM file is no use."""

    def __init__(self, desk: Desk, host: str, port: int, tls: Tls | None = None) -> None:
        bound(host, port, "serve.grpc").close()  # gRPC would tell of a taken port in a page of its own, and not why
        self._desk = desk
        self._host = f"[{host}]" if ":" in host else host
        self._asked_port = port
        self._credentials = None if tls is None else _credentials(tls)
        self._bound: Future[int] = Future()
        self._loop = asyncio.new_event_loop()
        self._go, self._end = asyncio.Event(), asyncio.Event()
        self._thread = Thread(target=self._run, name="scaler", daemon=True)
        self._thread.start()
        self._port = self._bound.result(_START_S)

    @property
    def address(self) -> str:
        """Where it is, with the port that was taken."""
        return f"{self._host}:{self._port}"

    def start(self) -> None:
        """Answer from now on."""
        self._loop.call_soon_threadsafe(self._go.set)

    def stop(self) -> None:
        """Answer what was asked already, for a second at most, end the streams and let the port go."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._leave)
            self._thread.join(3 * _STOP_S)

    def _leave(self) -> None:
        self._end.set()
        self._go.set()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        server = aio.server(options=_ALONE)
        server.add_generic_rpc_handlers((handlers(Scaler(self._desk)),))
        try:
            self._bound.set_result(self._bind(server))
        except ConfigRejected as error:
            self._bound.set_exception(error)
            return
        await self._go.wait()
        if not self._end.is_set():
            await server.start()
            await self._end.wait()
        await server.stop(_STOP_S)

    def _bind(self, server: aio.Server) -> int:
        address, secret = f"{self._host}:{self._asked_port}", self._credentials
        try:
            return server.add_insecure_port(address) if secret is None else server.add_secure_port(address, secret)
        except RuntimeError as error:
            raise ConfigRejected(f"serve.grpc.host and serve.grpc.port: {address} cannot be listened on; name another one") from error


def _credentials(tls: Tls) -> grpc.ServerCredentials:
    """The server's credentials, looked at before they are used: gRPC itself says nothing of what is wrong with a file."""
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.cert, tls.key, password="")  # without one OpenSSL would ask the terminal, and wait
        if tls.client_ca is not None:
            context.load_verify_locations(tls.client_ca)
        pair = (tls.key.read_bytes(), tls.cert.read_bytes())
        authority = None if tls.client_ca is None else tls.client_ca.read_bytes()
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(str(path) for path in (tls.cert, tls.key, tls.client_ca) if path is not None)
        raise ConfigRejected(
            f"serve.grpc.tls: {files} cannot be used ({error.strerror or error}); each is a PEM file, the key unencrypted"
        ) from error
    return grpc.ssl_server_credentials([pair], root_certificates=authority, require_client_auth=authority is not None)
