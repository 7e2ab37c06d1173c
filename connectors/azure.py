"""Azure's login: the identity of the environment, pod or machine, found and asked by azure-identity at first use."""

import re
import threading
from typing import TYPE_CHECKING

from connectors.login import LoginFailed, Silence

if TYPE_CHECKING:
    from azure.identity import DefaultAzureCredential

MANAGEMENT = "https://management.azure.com/.default"
MONITOR = "https://prometheus.monitor.azure.com/.default"

_INSTALL = "Azure's login needs a library that is not installed: pip install 'forecaster[azure]'"
_NOT_ON_SERVERS = {
    "exclude_shared_token_cache_credential": True,
    "exclude_visual_studio_code_credential": True,
    "exclude_powershell_credential": True,
    "exclude_developer_cli_credential": True,
    "exclude_broker_credential": True,
}
_SAID_CHARS = 600
_BOILERPLATE = re.compile(
    r"\w+Credential authentication unavailable\. (?=\S)| ?See the troubleshooting guide [^:]*: \S+| ?Visit https://\S+[^;]*"
)


class AzureLogin:
    """A `Login` by DefaultAzureCredential, for one scope.

    azure-identity looks at AZURE_CLIENT_ID and its kin, then at the workload identity of the pod, the managed identity of the machine,
    and the login of `az`. It renews tokens 5 minutes before they end.
    """

    def __init__(self, scope: str = MANAGEMENT) -> None:
        self._scope = scope
        self._lock = threading.Lock()
        self._silence = Silence()
        self._has_worked = False  # the library does not tell an identity that is refused from one whose server is away: this does
        self._credential: DefaultAzureCredential | None = None

    def token(self) -> str:
        """See `Login`."""
        try:
            from azure.core.exceptions import AzureError, ClientAuthenticationError  # noqa: PLC0415  # takes 0.1 s
            from azure.identity import DefaultAzureCredential  # noqa: PLC0415
        except ImportError as error:
            raise LoginFailed(_INSTALL, lasting=True) from error
        with self._lock:
            self._silence.check()
            try:
                if self._credential is None:
                    self._credential = DefaultAzureCredential(**_NOT_ON_SERVERS)
                token = self._credential.get_token(self._scope).token
            except ClientAuthenticationError as error:
                msg = f"no usable Azure identity: {_line(error)}; set AZURE_CLIENT_ID and its kin, or give the pod a workload identity"
                raise self._silence.begin(LoginFailed(msg, lasting=not self._has_worked)) from error
            except (AzureError, ValueError) as error:  # ValueError: settings of the environment that cannot be
                failed = LoginFailed(f"Azure gives us no token: {_line(error)}", lasting=isinstance(error, ValueError))
                raise self._silence.begin(failed) from error
            self._has_worked = True
            return token

    def forget(self) -> None:
        """See `Login`. The library keeps tokens within the credential, so that goes as well."""
        with self._lock:
            self._credential = None
            self._silence.end()


def _line(error: Exception) -> str:
    """What each place said, without links: the library's message has a line for each, led by a tab."""
    places = [line.strip() for line in str(error).splitlines() if line.startswith("\t")]
    line = _BOILERPLATE.sub("", "; ".join(place.rstrip(".") for place in places) or " ".join(str(error).split())).rstrip(". ")
    return line if len(line) <= _SAID_CHARS else f"{line[:_SAID_CHARS]}..."
