"""AWS behind boto3: opened at first use, every failure of one type. Credentials come from boto3's own chain."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from connectors.recent import Roll
from forecaster.errors import ForecasterError

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.client import BaseClient

Json: TypeAlias = dict[str, Any]

_TIMEOUT_S = 10  # control planes answer in less than one second; the apply job comes back in a minute
_ATTEMPTS = 3
_CONNECTIONS = 256  # as many as there may be workers; they are opened as they are needed
_OF_THE_REQUEST = frozenset({"ValidationError", "ValidationException", "ParamValidation"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsConnection:
    """Where AWS is asked, and as whom: None = boto3's own chain of credentials, AWS's own endpoint of the region."""

    region: str
    profile: str | None = None
    endpoint_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """An operation that describes many things by name in one request, and what its parts are called.

    names: the parameter that takes the names. page: the one that says how many a page may have, `most`. answer: where the things are;
    name: where each has its name. fixed: the parameters beside, by name.
    """

    service: str
    operation: str
    names: str
    page: str
    most: int
    answer: str
    name: str
    fixed: tuple[tuple[str, str], ...] = ()


class AwsFailed(ForecasterError):
    """A call that AWS did not serve. `code` is the service's error code, None when no answer came; `action` is the IAM action."""

    def __init__(self, *, action: str, code: str | None, answer: str) -> None:
        super().__init__(f"cannot {action}: {answer}")
        self.action = action
        self.code = code
        self.answer = answer


class AwsAccount:
    """The services of one account in one region, shared by threads. Throttled and unanswered calls are tried 3 times by boto3.

    That is safe for what we write: tags are set, not added to, and boto3 gives an update of a node group one token for all its tries.
    """

    def __init__(self, connection: AwsConnection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._clients: dict[str, BaseClient] = {}
        self._rolls: dict[Together, Roll[Json]] = {}

    def enrol(self, kind: "Together", name: str) -> None:
        """Describe it from now on whenever others of its kind are described: control planes throttle by account and region."""
        self._roll(kind).enrol(name)

    def described_lately(self, kind: "Together", name: str) -> Json | None:
        """What was described under a name at most two seconds ago, together with all of its kind, and never twice the same.

        None where there is nothing under it. Raises AwsFailed, and KeyError where the answer is not that of AWS.
        """
        try:
            return self._roll(kind).of(name, lambda names: self.described(kind, names))
        except AwsFailed as failed:
            if failed.code not in _OF_THE_REQUEST:
                raise
            return self.described(kind, (name,)).get(name)  # it may be the name of another that AWS does not take

    def described(self, kind: "Together", names: Sequence[str]) -> dict[str, Json]:
        """What there is under these names now, read page by page. Raises as `described_lately` does."""
        found: dict[str, Json] = {}
        page: dict[str, str] = {}
        while True:
            asked = {**dict(kind.fixed), kind.names: list(names), kind.page: kind.most}
            answer = self.call(kind.service, kind.operation, **asked, **page)
            found |= {each[kind.name]: each for each in answer[kind.answer]}
            if not answer.get("NextToken"):
                return found
            page = {"NextToken": answer["NextToken"]}

    def _roll(self, kind: "Together") -> Roll[Json]:
        with self._lock:
            return self._rolls.setdefault(kind, Roll(kind.most))

    def call(self, service: str, operation: str, **parameters: object) -> Json:
        """The answer of a service (`eks`) to an operation named as boto3 names its method. Raises AwsFailed."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  # boto3 takes 0.1 s to import
        from botocore.parsers import ResponseParserError  # noqa: PLC0415

        action = f"{service}:{operation.title().replace('_', '')}"
        try:
            answer: Json = getattr(self._opened(service), operation)(**parameters)
        except ClientError as error:
            told = error.response["Error"]
            raise AwsFailed(action=action, code=told["Code"], answer=told.get("Message") or told["Code"]) from error
        except (BotoCoreError, ResponseParserError, ValueError) as error:  # an endpoint that is no URL, or answers like a proxy
            raise AwsFailed(action=action, code=_local_code(error), answer=str(error)) from error
        return answer

    def _opened(self, service: str) -> "BaseClient":
        """The client of a service. Sessions are no matter for threads, and a second one would read 0.1 s of endpoints again."""
        from boto3.session import Session  # noqa: PLC0415

        with self._lock:
            if self._session is None:
                self._session = Session(region_name=self._connection.region, profile_name=self._connection.profile)
            if service not in self._clients:
                self._clients[service] = _client(self._session, service, self._connection.endpoint_url)
            return self._clients[service]


def _client(session: "Session", service: str, endpoint_url: str | None) -> "BaseClient":
    from botocore.config import Config  # noqa: PLC0415

    patience = Config(
        connect_timeout=_TIMEOUT_S,
        read_timeout=_TIMEOUT_S,
        max_pool_connections=_CONNECTIONS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    client: BaseClient = session.client(service, endpoint_url=endpoint_url, config=patience)  # type: ignore[call-overload]  # boto3-stubs knows literal names only
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
