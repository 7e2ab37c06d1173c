"""Signatures of AWS over queries, made by botocore: for Prometheus as a service of AWS."""

import threading
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from connectors.login import LoginFailed

if TYPE_CHECKING:
    from botocore.credentials import Credentials

_SESSION = "forecaster"
_TRANSIENT = frozenset({"Throttling", "ThrottlingException", "ServiceUnavailable", "InternalFailure", "RequestLimitExceeded"})


class SigV4Signer:
    """Signs requests (Signature Version 4) with what boto3's own chain of credentials finds, or with a role assumed with that.

    Credentials are found at the first request and renewed by botocore before they end. Safe to call from several threads.
    Raises LoginFailed.
    """

    def __init__(self, *, region: str, service: str, profile: str | None, role: str | None) -> None:
        self._region = region
        self._service = service
        self._profile = profile
        self._role = role
        self._lock = threading.Lock()
        self._credentials: Credentials | None = None

    def headers(self, method: str, url: str, body: bytes) -> Mapping[str, str]:
        """See `Signer`. The date, the signature over request and body, and the token of a session where there is one."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415  # takes 0.1 s to import
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        request = AWSRequest(method=method, url=url, data=body)
        try:
            SigV4Auth(self._known().get_frozen_credentials(), self._service, self._region).add_auth(request)
        except ClientError as error:
            told = error.response["Error"]
            sentence = f"the role {self._role} cannot be assumed: {told.get('Message') or told['Code']}; see its trust policy"
            raise LoginFailed(sentence, lasting=told["Code"] not in _TRANSIENT) from error
        except BotoCoreError as error:
            raise LoginFailed(f"AWS credentials cannot be had: {_line(error)}", lasting=_is_lasting(error)) from error
        return dict(request.headers.items())

    def _known(self) -> "Credentials":
        """The credentials, looked for once: what is missing now is looked for again at the next request."""
        with self._lock:
            if self._credentials is None:
                self._credentials = _found(self._profile, self._region, self._role)
            return self._credentials


def _found(profile: str | None, region: str, role: str | None) -> "Credentials":
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials  # noqa: PLC0415
    from botocore.session import Session  # noqa: PLC0415

    session = Session(profile=profile)
    own = session.get_credentials()
    if own is None:
        sentence = "no AWS credentials are found; give the pod or machine a role, set profile, or AWS_ACCESS_KEY_ID and its kin"
        raise LoginFailed(sentence, lasting=True)
    if role is None:
        return own
    sts: Any = partial(session.create_client, region_name=region)  # the client's own arguments follow
    fetcher = AssumeRoleCredentialFetcher(sts, own, role, extra_args={"RoleSessionName": _SESSION})
    return DeferredRefreshableCredentials(refresh_using=fetcher.fetch_credentials, method="assume-role")


def _is_lasting(error: Exception) -> bool:
    """Whether asking again changes nothing. A token server that is away or slow is asked in the next cycle."""
    from botocore.exceptions import ConnectionError as Unconnected  # noqa: PLC0415
    from botocore.exceptions import HTTPClientError, MetadataRetrievalError  # noqa: PLC0415

    return not isinstance(error, (Unconnected, HTTPClientError, MetadataRetrievalError))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
