"""The only HTTP client of the connectors: addresses, credentials, TLS, time limits and retries in one place."""

import base64
import ssl
import weakref
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Lock

import httpx2
import stamina

from connectors.http.endpoint import Answer, Call, Endpoint, Method, Unreachable, Unusable
from connectors.login import LoginFailed

_CONNECT_S = 5  # a machine that is there takes a connection at once, however long it thinks about the answer
_ECHO_CHARS = 8  # a header value this long is worth hiding where a server echoes it; a tenant named "1" is not
_TOKEN_CHARS = 20  # tokens and signatures are longer than that, dates of signatures are not

_NOT_CARRIED = "a header or the bearer token holds characters that HTTP cannot carry; write it in plain ASCII, on one line"


class _Transient(Exception):
    """An answer worth another try; carries it for the case that it was the last."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"HTTP {answer.status}")
        self.answer = answer


class Api:
    """A client of one endpoint, safe to call from several threads. Raises Unusable when the endpoint's files cannot be read.

    While nobody takes connections there, one request at a time finds out whether that is still so, and all others are told at once:
    thousands of them must not wait in turn for a server that is gone.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = _client(endpoint)
        # whoever forgets `close` leaves no connection open: targets and levers live as long as what names them
        weakref.finalize(self, self._client.close)
        self._closed = False
        self._down: str | None = None
        self._proof: tuple[str, ...] = ()  # what signer or login gave last: a secret as well
        self._scout = Lock()
        self._retry = stamina.RetryingCaller(
            attempts=endpoint.attempts,
            timeout=2 * endpoint.timeout_s,
            wait_initial=endpoint.retry_wait_s,
            wait_max=10 * endpoint.retry_wait_s,
            wait_jitter=endpoint.retry_wait_s,
        )

    def send(self, method: Method, path: str, form: Mapping[str, str]) -> Answer:
        """As `answer`, to a form."""
        query = form if method == "GET" else {}
        return self.answer(Call(method=method, path=path, query=query, form=None if method == "GET" else form))

    def answer(self, call: Call) -> Answer:
        """What the server says in the end: the last answer after transient failures, whatever its status. Redirects are not followed.

        Raises Unreachable when the last attempt brought no answer or a login no token, Unusable when the request cannot be sent or the
        login is refused, and what a signer raises.
        """
        once = partial(self._once, call)
        down = self._down
        if down is None:
            return self._final(partial(self._retry, self._backoff, once) if call.repeatable else once)
        if not self._scout.acquire(blocking=False):
            raise Unreachable(down)
        try:
            return self._final(once)
        finally:
            self._scout.release()

    def masked(self, text: str) -> str:
        """The text without any secret of this endpoint, for servers that echo what they were sent."""
        for secret in (*_secrets(self._endpoint), *self._proof):
            text = text.replace(secret, "***")
        return text

    def close(self) -> None:
        """Let go of connections. What is on its way to one meanwhile lets go of it at its end."""
        self._closed = True
        self._client.close()

    def _final(self, ask: Callable[[], Answer]) -> Answer:
        """What comes of a request in the end; remembers whether anybody takes connections."""
        down = None
        try:
            return ask()
        except _Transient as failure:
            return failure.answer
        except LoginFailed as failed:
            raise (Unusable if failed.lasting else Unreachable)(self.masked(str(failed))) from failed
        except httpx2.LocalProtocolError:
            raise Unusable(_NOT_CARRIED) from None  # the library quotes the header
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise Unusable(self.masked(f"the address cannot be asked: {error}")) from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            down = "nobody takes the connection" if isinstance(error, httpx2.ConnectTimeout) else self.masked(_cause(error))
            raise Unreachable(down) from error
        except httpx2.TimeoutException as error:
            msg = f"no answer within {self._endpoint.timeout_s:g} s"
            raise Unreachable(msg) from error
        except httpx2.HTTPError as error:
            raise Unreachable(self.masked(_cause(error))) from error
        finally:
            self._down = down

    def _once(self, call: Call) -> Answer:
        response = self._sent(call)
        if response.status_code == HTTPStatus.UNAUTHORIZED and self._endpoint.login is not None:
            self._endpoint.login.forget()  # a token may be revoked before its end
            response = self._sent(call)
        answer = Answer(
            status=response.status_code,
            body=response.content,
            location=response.headers.get("location"),
            retry_after_s=_retry_after_s(response),
            at=_instant(response.headers.get("date", "")),
        )
        if answer.transient:
            raise _Transient(answer)
        return answer

    def _sent(self, call: Call) -> httpx2.Response:
        headers = {**call.headers, **self._authorization()}
        if call.body is not None:
            headers.setdefault("Content-Type", "application/json")
        request = self._client.build_request(
            call.method, call.path, params=call.query or None, data=call.form, content=call.body, headers=headers
        )
        self._prove(request)
        response = self._client.send(request)
        if self._closed:  # a connection that was made while others were let go stands in no pool any more
            response.extensions["network_stream"].close()
        return response

    def _prove(self, request: httpx2.Request) -> None:
        """Add the signature over the request as it is sent."""
        if self._endpoint.signer is None:
            return
        proof = self._endpoint.signer.headers(request.method, str(request.url), request.content)
        request.headers.update(proof)
        self._proof = tuple(word for value in proof.values() for word in value.split() if len(word) >= _TOKEN_CHARS)

    def _authorization(self) -> dict[str, str]:
        if self._endpoint.login is not None:
            token = self._endpoint.login.token()
            self._proof = (token,)
            return {"Authorization": f"Bearer {token}"}
        if self._endpoint.bearer_file is None:
            return {}
        return {"Authorization": f"Bearer {_text_of(self._endpoint.bearer_file, 'bearer_token_file')}"}

    def _backoff(self, error: Exception) -> bool | float:
        """Whether to try again, or after how many seconds when the server says so: its wish is kept up to our longest wait."""
        if isinstance(error, _Transient):
            wished = error.answer.retry_after_s
            return True if wished is None else min(wished, 10 * self._endpoint.retry_wait_s)
        return isinstance(error, httpx2.TransportError) and not isinstance(error, (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol))


def _client(endpoint: Endpoint) -> httpx2.Client:
    headers = dict(endpoint.headers)
    if endpoint.bearer is not None:
        headers["Authorization"] = f"Bearer {endpoint.bearer}"
    try:
        return httpx2.Client(
            base_url=endpoint.base_url,
            headers=headers,
            auth=endpoint.basic,
            verify=_tls(endpoint),
            # no limit on the wait for a free connection: it is our own queue
            timeout=httpx2.Timeout(endpoint.timeout_s, connect=min(_CONNECT_S, endpoint.timeout_s), pool=None),
            limits=httpx2.Limits(max_connections=endpoint.connections),
        )
    except UnicodeEncodeError:
        raise Unusable(_NOT_CARRIED) from None


def _tls(endpoint: Endpoint) -> ssl.SSLContext | bool:
    if endpoint.ca_file is None and endpoint.cert_file is None:
        return endpoint.verify_tls
    try:
        context = ssl.create_default_context(cafile=endpoint.ca_file)
    except OSError as error:  # ssl.SSLError is one
        msg = f"ca_file {endpoint.ca_file} cannot be used: {_reason(error)}"
        raise Unusable(msg) from error
    if not endpoint.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if endpoint.cert_file is not None:
        try:
            context.load_cert_chain(endpoint.cert_file, endpoint.key_file, password="")  # else OpenSSL asks the terminal, and waits
        except OSError as error:
            msg = f"client_cert_file {endpoint.cert_file} cannot be used: {_reason(error)}; it is a PEM file, its key unencrypted"
            raise Unusable(msg) from error
    return context


def _secrets(endpoint: Endpoint) -> tuple[str, ...]:
    secrets = [value for value in endpoint.headers.values() if len(value) >= _ECHO_CHARS]
    if endpoint.bearer is not None:
        secrets.append(endpoint.bearer)
    if endpoint.bearer_file is not None:
        secrets.append(_text_of(endpoint.bearer_file, "bearer_token_file"))
    if endpoint.basic is not None:
        user, password = endpoint.basic
        secrets += [base64.b64encode(f"{user}:{password}".encode()).decode(), password]
    return tuple(secret for secret in secrets if secret)


def _text_of(path: Path, setting: str) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{setting} {path} cannot be read: {_reason(error)}"
        raise Unusable(msg) from error


def _retry_after_s(response: httpx2.Response) -> float | None:
    """The seconds that a Retry-After header asks for, or Datadog's own; the other form, a date, is rare and counts as absent."""
    value: str = response.headers.get("retry-after") or response.headers.get("x-ratelimit-reset") or ""
    return float(value) if value.isdecimal() else None


def _instant(header: str) -> datetime | None:
    """The instant of a Date header; None where a proxy has left it out or spoiled it."""
    try:
        found = parsedate_to_datetime(header)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error)


def _cause(error: httpx2.HTTPError) -> str:
    """A failure in words: what the system or the TLS library said."""
    text = str(error) or type(error).__name__
    return f"{text}; set ca_file to the authority of the server" if "CERTIFICATE_VERIFY_FAILED" in text else text
