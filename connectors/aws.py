"""One AWS service behind boto3: opened at first use, every failure of one type. Credentials come from boto3's own chain."""

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from forecaster.errors import ForecasterError

if TYPE_CHECKING:
    from botocore.client import BaseClient

Json: TypeAlias = dict[str, Any]

_TIMEOUT_S = 10  # control planes answer in less than one second; the apply job comes back in a minute
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsConnection:
    """Where AWS is asked, and as whom: None = boto3's own chain of credentials, AWS's own endpoint of the region."""

    region: str
    profile: str | None = None
    endpoint_url: str | None = None


class AwsFailed(ForecasterError):
    """A call that AWS did not serve. `code` is the service's error code, None when no answer came; `action` is the IAM action."""

    def __init__(self, *, action: str, code: str | None, answer: str) -> None:
        super().__init__(f"cannot {action}: {answer}")
        self.action = action
        self.code = code
        self.answer = answer


class AwsService:
    """The client of one service, shared by threads. Throttled and unanswered calls are tried 3 times by boto3's standard retry."""

    def __init__(self, service: str, connection: AwsConnection) -> None:
        self._service = service
        self._connection = connection
        self._lock = threading.Lock()
        self._client: BaseClient | None = None

    def call(self, operation: str, **parameters: object) -> Json:
        """The answer to an operation named as boto3 names its method. Raises AwsFailed."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  # boto3 takes 0.1 s to import

        action = f"{self._service}:{operation.title().replace('_', '')}"
        try:
            answer: Json = getattr(self._opened(), operation)(**parameters)
        except ClientError as error:
            told = error.response["Error"]
            raise AwsFailed(action=action, code=told["Code"], answer=told.get("Message") or told["Code"]) from error
        except BotoCoreError as error:
            raise AwsFailed(action=action, code=_local_code(error), answer=str(error)) from error
        return answer

    def _opened(self) -> "BaseClient":
        with self._lock:
            if self._client is None:
                self._client = _open(self._service, self._connection)
            return self._client


def _open(service: str, connection: AwsConnection) -> "BaseClient":
    from boto3.session import Session  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    session = Session(region_name=connection.region, profile_name=connection.profile)
    patience = Config(
        connect_timeout=_TIMEOUT_S,
        read_timeout=_TIMEOUT_S,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    client: BaseClient = session.client(service, endpoint_url=connection.endpoint_url, config=patience)  # type: ignore[call-overload]  # boto3-stubs knows literal names only
    return client


def _local_code(error: Exception) -> str | None:
    """A code for what boto3 refuses before it asks: credentials that are not there, parameters that cannot be."""
    from botocore.exceptions import (  # noqa: PLC0415
        NoCredentialsError,
        ParamValidationError,
        PartialCredentialsError,
        ProfileNotFound,
    )

    if isinstance(error, (NoCredentialsError, PartialCredentialsError, ProfileNotFound)):
        return "NoCredentials"
    return "ParamValidation" if isinstance(error, ParamValidationError) else None
