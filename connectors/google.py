"""Google Cloud's login: application default credentials, found and asked by google-auth at first use."""

import threading
from functools import partial
from typing import TYPE_CHECKING

from connectors.login import LoginFailed, Silence

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
MONITORING_READ = "https://www.googleapis.com/auth/monitoring.read"

_TIMEOUT_S = 10  # token servers answer in less than one second; a cycle waits
_INSTALL = "Google's login needs a library that is not installed: pip install 'forecaster[gcp]'"


class GoogleLogin:
    """A `Login` by application default credentials, for one scope.

    google-auth looks at GOOGLE_APPLICATION_CREDENTIALS, then at what `gcloud auth application-default login` left, then at the metadata
    server of the machine or pod. It renews tokens 3.75 minutes before they end.
    """

    def __init__(self, scope: str = CLOUD_PLATFORM) -> None:
        self._scope = scope
        self._lock = threading.Lock()
        self._silence = Silence()
        self._credentials: Credentials | None = None

    def token(self) -> str:
        """See `Login`."""
        try:
            from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError  # noqa: PLC0415  # takes 0.3 s with requests
        except ImportError as error:
            raise LoginFailed(_INSTALL, lasting=True) from error
        with self._lock:
            self._silence.check()
            try:
                return self._good()
            except DefaultCredentialsError as error:
                msg = f"no usable Google credentials: {_line(error)}; set GOOGLE_APPLICATION_CREDENTIALS, or give the pod a service account"
                raise self._silence.begin(LoginFailed(msg, lasting=True)) from error
            except GoogleAuthError as error:
                msg = f"Google gives us no token: {_line(error)}"
                raise self._silence.begin(LoginFailed(msg, lasting=_is_lasting(error))) from error

    def forget(self) -> None:
        """See `Login`. The credentials are read anew as well: a key file may have been replaced."""
        with self._lock:
            self._credentials = None
            self._silence.end()

    def _good(self) -> str:
        from google.auth import default  # noqa: PLC0415
        from google.auth.transport.requests import Request  # noqa: PLC0415

        if self._credentials is None:
            self._credentials, _ = default(scopes=[self._scope])
        if not self._credentials.valid:
            self._credentials.refresh(partial(Request(), timeout=_TIMEOUT_S))
        return str(self._credentials.token)


def _is_lasting(error: Exception) -> bool:
    """Whether the token server said no. One that is away or overloaded is asked again in the next cycle."""
    from google.auth.exceptions import RefreshError  # noqa: PLC0415

    return isinstance(error, RefreshError) and not error.retryable


def _line(error: Exception) -> str:
    """The first thing that the library says; the rest is the answer that it came from."""
    return " ".join(str(error.args[0] if error.args else error).split()).rstrip(".")
