"""The range-query API of Prometheus over HTTP: what is asked, what is answered, and each refusal as a sentence."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from connectors.http.endpoint import Answer, Endpoint, Unreachable, Unusable
from connectors.http.lazy import LazyApi
from connectors.login import LoginFailed
from connectors.sources.logins import identity_fault
from forecaster.errors import SourceError, SourceRejected, SourceUnavailable

Labels: TypeAlias = tuple[tuple[str, str], ...]
Samples: TypeAlias = list[tuple[float, float]]

_log = logging.getLogger(__name__)

_PATH = "api/v1/query_range"
_OK = 200
_METHOD_NOT_ALLOWED = 405
_ON_IDENTITY = (400, 401, 403)
_HALVINGS = 2  # a chunk that the server finds too large is cut in two, and its halves once more
_MOST_SERIES = 10  # newer servers stop there: one is right, and ten are enough to say how they differ
_TOO_LARGE = ("too many samples", "exceeded maximum resolution", "too many points")
_SAID_CHARS = 300
_ON_THE_QUERY = ("PromQL ", "results truncated due to limit")
OWN_PARAMETERS = frozenset({"query", "start", "end", "step", "timeout", "limit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Sample times in seconds since the epoch, one a `step_s`, both ends included."""

    first: int
    last: int
    step_s: int

    def __len__(self) -> int:
        return (self.last - self.first) // self.step_s + 1

    def cut(self, points: int) -> tuple["Span", ...]:
        """The same times in chunks of at most so many."""
        width_s = points * self.step_s
        firsts = range(self.first, self.last + 1, width_s)
        return tuple(Span(first=at, last=min(at + width_s - self.step_s, self.last), step_s=self.step_s) for at in firsts)


class Line(BaseModel):
    """One series of an answer: its labels, and (time in seconds since the epoch, value) pairs. Native histograms have no pairs."""

    metric: dict[str, str]
    values: Samples = Field(default_factory=list)

    @property
    def labels(self) -> Labels:
        """The labels as a key."""
        return tuple(sorted(self.metric.items()))


class _Matrix(BaseModel):
    result_type: Literal["matrix"] = Field(alias="resultType")
    result: list[Line]


class _Success(BaseModel):
    """An answer as the API documents it, as far as it is used. NaN and the infinities come as strings, which pydantic takes."""

    status: Literal["success"]
    data: _Matrix
    warnings: list[str] = Field(default_factory=list)
    is_partial: bool = Field(default=False, alias="isPartial")

    def missing(self) -> str | None:
        """What may be missing from the numbers, in the server's words; None where nothing is.

        Prometheus and Thanos warn of stores that they could not read, VictoriaMetrics marks the whole answer. Warnings on the expression
        itself begin with PromQL, and one about our own limit on series is no loss: more than one is refused as it is.
        """
        of_data = (warning for warning in self.warnings if not warning.startswith(_ON_THE_QUERY))
        return next(of_data, "the answer is marked as partial" if self.is_partial else None)


class _Failure(BaseModel):
    """A refusal: Prometheus says `error`, gateways of clouds `message`."""

    error: str = Field(validation_alias=AliasChoices("error", "message", "Message"))


class RangeApi:
    """Range queries to one server, safe to call from several threads. Connects at the first one.

    parameters: sent with every query. partial: whether answers count of which parts may be missing. plain: GET, and documented
    parameters only.
    """

    def __init__(self, endpoint: Endpoint, parameters: Mapping[str, str], *, partial: bool, plain: bool) -> None:
        self._endpoint = endpoint
        self._parameters = parameters if plain else {"limit": str(_MOST_SERIES), **parameters}
        self._partial = partial
        self._where = f"Prometheus at {endpoint.base_url}"
        self._api = LazyApi(endpoint)
        self._method: Literal["POST", "GET"] = "GET" if plain else "POST"

    def read(self, expression: str, span: Span, halvings: int = _HALVINGS) -> list[Line]:
        """The series that match, with their samples at the times of the span. A span too large for the server is halved.

        Raises SourceUnavailable when there is no answer or a transient failure, SourceRejected for any other refusal.
        """
        try:
            answer = self._ask(expression, span)
            if answer.status == _OK:
                return self._lines(answer, expression)
            if not (halvings and len(span) > 1 and _is_too_large(answer)):
                raise self._refusal(answer, expression)
        except Unreachable as error:
            remedy = (
                "it is asked again next time" if isinstance(error.__cause__, LoginFailed) else "check that it runs and that url is right"
            )
            msg = f"{self._where} cannot be reached: {error}; {remedy}"
            raise SourceUnavailable(msg) from error
        except Unusable as error:
            msg = f"{self._where} cannot be asked: {error}"
            raise SourceRejected(msg) from error
        return [line for half in span.cut(-(-len(span) // 2)) for line in self.read(expression, half, halvings - 1)]

    def close(self) -> None:
        """Let go of connections."""
        self._api.close()

    def _ask(self, expression: str, span: Span) -> Answer:
        """The answer by POST, since expressions outgrow URLs, or by GET from the first time that a server takes no POST."""
        form = {
            **self._parameters,
            "query": expression,
            "start": str(span.first),
            "end": str(span.last),
            "step": str(span.step_s),
            "timeout": f"{self._endpoint.timeout_s * 1000:.0f}ms",  # the server gives up when we do
        }
        answer = self._api.opened().send(self._method, _PATH, form)
        if answer.status == _METHOD_NOT_ALLOWED and self._method == "POST":
            self._method = "GET"
            answer = self._api.opened().send(self._method, _PATH, form)
        return answer

    def _lines(self, answer: Answer, expression: str) -> list[Line]:
        try:
            success = _Success.model_validate_json(answer.body)
        except ValidationError as error:
            what = "a web page" if answer.is_page else "something else than a matrix of numbers"
            msg = f"{self._where} answers {expression!r} with {what}; check url, its base path and what stands in front of the server"
            raise SourceRejected(msg) from error
        missing = success.missing()
        if missing is not None and not self._partial:
            msg = (
                f"{self._where} answers {expression!r} in part only: {self._line(missing)}; it is asked again next time, and "
                "accept_partial takes what there is"
            )
            raise SourceUnavailable(msg)
        for warning in success.warnings:
            _log.warning("fetch: %s warns about %r: %s", self._where, expression, self._line(warning))
        return success.data.result

    def _refusal(self, answer: Answer, expression: str) -> SourceError:
        """What a status other than 200 means, in the server's own words where it has any."""
        here, said = f"{self._where} (HTTP {answer.status})", self._said(answer)
        if answer.transient:
            return SourceUnavailable(f"{here} fails: {said}; it is asked again next time")
        fault = identity_fault(said) if answer.status in _ON_IDENTITY else None
        if fault is not None:
            return SourceRejected(f"{here} {fault}")
        match answer.status:
            case 401:
                what = f"wants other credentials: {said}; set bearer_token, bearer_token_file, basic_auth, sigv4, google or azure"
            case 403:
                what = f"forbids the query: {said}; check what the credentials and the tenant header may read"
            case 404 | 405:
                what = f"has no {_PATH} there: {said}; check url and its base path"
            case _ if answer.location is not None:
                what = f"redirects to {self._api.opened().masked(answer.location)}; set url to where the API is"
            case _ if _is_too_large(answer):
                what = f"finds {expression!r} too heavy: {said}; make it a recording rule or lower max_points"
            case _:
                what = f"refuses {expression!r}: {said}; correct the expression"
        return SourceRejected(f"{here} {what}")

    def _said(self, answer: Answer) -> str:
        """The server's own sentence: one line, no secrets, of bearable length."""
        try:
            text = _Failure.model_validate_json(answer.body).error
        except ValidationError:
            text = "a web page" if answer.is_page else answer.text
        return self._line(text) or "no explanation"

    def _line(self, text: str) -> str:
        return " ".join(self._api.opened().masked(text).split())[:_SAID_CHARS]


def _is_too_large(answer: Answer) -> bool:
    """Whether the server would answer fewer points: Prometheus says so with status 400 or 422 and in words only."""
    return any(words in answer.text for words in _TOO_LARGE)
