"""What it takes to speak to an HTTP API, and what comes of it; without a client, so that configuration can name it cheaply."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from connectors.login import Login

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH"]

_TRANSIENT = frozenset({429, *range(500, 600)})


class Unreachable(Exception):
    """No answer came within all attempts. The message says why, without the address."""


class Unusable(Exception):
    """The endpoint's own settings cannot work: a file is missing, a header cannot be sent."""


class Signer(Protocol):
    """What proves who asks by a signature over what is sent, made anew at every try."""

    def headers(self, method: str, url: str, body: bytes) -> Mapping[str, str]:
        """The headers to add to this request. What it raises reaches whoever sends, as it is; safe to call from several threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An HTTP API and how to speak to it.

    base_url: without credentials; paths are appended to it. bearer_file is read at every request, since mounted tokens
    rotate. login: gives the bearer token, a new one where the server answers 401. signer: signs every request. basic: user and
    password. ca_file: the only authority trusted, None = the system's. timeout_s: longest wait for the next bytes of an answer;
    a connection must be taken within 5 s of it. connections: most requests in flight at once. attempts: most tries of one request;
    none begins later than 2 x timeout_s after the first. retry_wait_s: wait before the second try, doubled at each, at most tenfold.
    """

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    bearer: str | None = field(default=None, repr=False)
    bearer_file: Path | None = None
    login: Login | None = field(default=None, repr=False)
    signer: Signer | None = field(default=None, repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    verify_tls: bool = True
    timeout_s: float = 30
    connections: int = 4
    attempts: int = 4
    retry_wait_s: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request.

    body: JSON, sent as it is. form: fields in its place. repeatable: sent again after a transient failure, for what does no harm if the
    server carried it out the first time.
    """

    method: Method
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeatable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server said in the end, whatever its status.

    retry_after_s: how long it wants to be left alone; at: its clock when it answered; None = it did not say.
    """

    status: int
    body: bytes = field(repr=False)
    location: str | None = None
    retry_after_s: float | None = None
    at: datetime | None = None

    @property
    def text(self) -> str:
        """The body as text; bytes that are not UTF-8 are replaced."""
        return self.body.decode(errors="replace")

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later: too many requests, or the server's own failure."""
        return self.status in _TRANSIENT

    @property
    def is_page(self) -> bool:
        """Whether this is a web page, hence not from an API."""
        return self.body.lstrip()[:1] == b"<"
