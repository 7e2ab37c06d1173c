"""JSON over HTTP for what stands behind a web API: one connection pool an API, and every failure of one type."""

import json
from typing import Any, TypeAlias

from connectors.http.endpoint import Answer, Call, Endpoint, Unreachable, Unusable
from connectors.http.lazy import LazyApi
from forecaster.errors import ForecasterError

Json: TypeAlias = dict[str, Any]

_SAID_CHARS = 300
_REDIRECT = 300


class RestFailed(ForecasterError):
    """A call that was not served. status: None = no answer came. code: the API's own word for it. lasting: it will not be served later."""

    def __init__(self, *, status: int | None, code: str, said: str, lasting: bool) -> None:
        super().__init__(said)
        self.status = status
        self.code = code
        self.said = said
        self.lasting = lasting


class RestApi:
    """The client of one API, shared by threads and targets. Connects at the first call."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._api = LazyApi(endpoint)

    def answer(self, call: Call) -> Json:
        """The document that answers a call, tried again after transient failures where the call may be repeated. Raises RestFailed."""
        try:
            api = self._api.opened()
            answer = api.answer(call)
        except Unreachable as error:
            said = f"{self._endpoint.base_url} cannot be reached: {error}"
            raise RestFailed(status=None, code="", said=said, lasting=False) from error
        except Unusable as error:
            raise RestFailed(status=None, code="", said=str(error), lasting=True) from error
        document = _document(answer)
        if answer.status >= _REDIRECT:
            code, said = _refusal(answer, document)
            raise RestFailed(status=answer.status, code=code, said=api.masked(said), lasting=not answer.transient)
        if document is None:
            said = f"{self._endpoint.base_url} answers with something that is no JSON object: is it the address of the API?"
            raise RestFailed(status=answer.status, code="", said=said, lasting=True)
        return document


def _document(answer: Answer) -> Json | None:
    try:
        document = json.loads(answer.body or b"{}")
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _refusal(answer: Answer, document: Json | None) -> tuple[str, str]:
    """The API's word for a failure and its sentence: Google and Azure both put them under `error`."""
    error = (document or {}).get("error")
    if isinstance(error, dict):
        return str(error.get("status") or error.get("code") or ""), _line(str(error.get("message") or f"HTTP {answer.status}"))
    if isinstance(error, str):
        return "", _line(error)
    return "", f"HTTP {answer.status}" if answer.is_page else _line(f"HTTP {answer.status} {answer.text}")


def _line(text: str) -> str:
    return " ".join(text.split())[:_SAID_CHARS].rstrip(".")
