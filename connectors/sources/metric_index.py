"""What a Prometheus has: names of metrics and labels of series, for people who look for them. No load is read here."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ValidationError

from connectors.http.endpoint import Answer, Endpoint, Unreachable, Unusable
from connectors.http.lazy import LazyApi
from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.units import DAY_S

_OK = 200
_LOOK_BACK_S = DAY_S  # what was scaled to zero over night is still found
_SAID_CHARS = 300


class _Names(BaseModel):
    status: Literal["success"]
    data: list[str]


class _Found(BaseModel):
    status: Literal["success"]
    data: list[dict[str, str]]


class MetricIndex:
    """The metadata of one server as of the day before an instant. Raises as a source does. parameters: sent with every request."""

    def __init__(self, endpoint: Endpoint, parameters: Mapping[str, str]) -> None:
        self._parameters = parameters
        self._api = LazyApi(endpoint)
        self.where = f"Prometheus at {endpoint.base_url}"

    def names(self, pattern: str, now: datetime) -> tuple[str, ...]:
        """Metrics whose names fully match the regular expression, sorted."""
        answer = self._ask("api/v1/label/__name__/values", f'{{__name__=~"{pattern}"}}', now)
        try:
            return tuple(sorted(_Names.model_validate_json(answer.body).data))
        except ValidationError as error:
            raise self._strange(answer) from error

    def series(self, selector: str, now: datetime) -> tuple[dict[str, str], ...]:
        """The labels of every series that matches, its name under `__name__`."""
        answer = self._ask("api/v1/series", selector, now)
        try:
            return tuple(_Found.model_validate_json(answer.body).data)
        except ValidationError as error:
            raise self._strange(answer) from error

    def close(self) -> None:
        """Let go of connections."""
        self._api.close()

    def _ask(self, path: str, selector: str, now: datetime) -> Answer:
        since = now - timedelta(seconds=_LOOK_BACK_S)
        form = {**self._parameters, "match[]": selector, "start": f"{since.timestamp():.0f}", "end": f"{now.timestamp():.0f}"}
        try:
            answer = self._api.opened().send("GET", path, form)
        except Unreachable as error:
            msg = f"{self.where} cannot be reached: {error}; check that it runs and that url is right"
            raise SourceUnavailable(msg) from error
        except Unusable as error:
            msg = f"{self.where} cannot be asked: {error}"
            raise SourceRejected(msg) from error
        if answer.status == _OK:
            return answer
        said = " ".join(self._api.opened().masked(answer.text).split())[:_SAID_CHARS] or "no explanation"
        msg = f"{self.where} (HTTP {answer.status}) does not say which metrics it has: {said}"
        if answer.transient:
            raise SourceUnavailable(f"{msg}; try again")
        raise SourceRejected(f"{msg}; check url, its base path and what the credentials may read")

    def _strange(self, answer: Answer) -> SourceRejected:
        what = "a web page" if answer.is_page else "something else than names of metrics"
        return SourceRejected(f"{self.where} answers with {what}; check url, its base path and what stands in front of the server")
