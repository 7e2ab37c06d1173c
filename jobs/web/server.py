"""Pages served from a thread of their own, beside the work."""

import socket
from threading import Thread

import uvicorn
from fastapi import FastAPI

from forecaster.errors import ConfigRejected

_STOP_S = 1


class PageServer:
    """An application on a socket that is bound when this is made, so that a taken port is told before any work begins.

    Raises ConfigRejected when the address cannot be bound.
    """

    def __init__(self, app: FastAPI, host: str, port: int) -> None:
        self._socket = bound(host, port, "daemon")
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=_STOP_S)
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name="pages", daemon=True)

    @property
    def url(self) -> str:
        """Where the pages are, with the port that was taken."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def start(self) -> None:
        """Serve from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what was asked already, for a second at most, and let the port go."""
        if self._thread.is_alive():
            self._server.should_exit = True
            self._thread.join(2 * _STOP_S)
        self._socket.close()


def bound(host: str, port: int, section: str) -> socket.socket:
    """A socket that listens there, port 0 = a free one. Raises ConfigRejected naming the section of the configuration."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        where = f"{section}.host and {section}.port"
        raise ConfigRejected(f"{where}: {host}:{port} cannot be listened on ({reason}); name another one") from error
