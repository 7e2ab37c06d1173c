"""A web client that is opened when it is first needed: configuration must not pay for one, and most commands need none."""

from threading import Lock
from typing import TYPE_CHECKING

from connectors.http.endpoint import Endpoint

if TYPE_CHECKING:
    from connectors.http.api import Api


class LazyApi:
    """The client of one endpoint, the same for all threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = Lock()
        self._api: Api | None = None

    def opened(self) -> "Api":
        """The client. Raises Unusable when the endpoint's files cannot be read; then the next one who asks tries again."""
        from connectors.http.api import Api  # noqa: PLC0415  # 60 ms of HTTP client: not for the command line's start

        with self._lock:
            if self._api is None:
                self._api = Api(self._endpoint)
            return self._api

    def close(self) -> None:
        """Let go of connections, where there are any. Whoever asks after that is refused by the client."""
        with self._lock:
            if self._api is not None:
                self._api.close()
