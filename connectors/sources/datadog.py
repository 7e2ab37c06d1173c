"""Load from Datadog, by its API for time series: one query, at a minute's resolution."""

import re
import time
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from connectors.http.endpoint import Answer, Endpoint, Unreachable, Unusable
from connectors.http.lazy import LazyApi
from connectors.sources.probing import hour_told, unusable
from connectors.sources.readings import Readings, factor, series_of
from forecaster.errors import SourceError, SourceRejected, SourceUnavailable
from forecaster.marks import Mark
from forecaster.ports import Query
from forecaster.series import Floats, Series, Window
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, epoch_s, floor_to, iso

_PATH = "api/v1/query"
_OK = 200
_TOO_MANY = 429
_POINTS = 1_440  # of one answer: Datadog gives at most 1,500 and coarsens what is more
_SAID_CHARS = 300
_SHOWN = 3
_ROLLUP = re.compile(r"\.rollup\(\s*(?:\w+\s*,\s*)?(\d+)\s*\)")
_AN_HOUR_S = 3_600.0


class DatadogConfig(BaseModel):
    """An organisation at Datadog. The query's expression is a metric query with .rollup(..., 60) that gives one series."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["datadog"] = Field(description="This kind of source: Datadog.")
    api_key: SecretStr = Field(min_length=1, description="API key; write ${NAME} to take it from the environment. No default.")
    application_key: SecretStr = Field(
        min_length=1, description="Application key with the scope timeseries_query; write ${NAME} as well. No default."
    )
    site: str = Field(
        default="datadoghq.com",
        min_length=1,
        description="Site of the organisation, such as datadoghq.eu or us5.datadoghq.com. Default datadoghq.com.",
    )
    url: str | None = Field(default=None, description="Address of a proxy in front of the API. Default none: https://api. and the site.")
    timeout_s: float = Field(default=30, gt=0, description="Seconds to wait for more of an answer. Default 30.")
    attempts: int = Field(
        default=3,
        ge=1,
        description="Most tries of one query, counting the first. Default 3; a spent rate limit is waited out before the next query.",
    )
    retry_wait_s: float = Field(
        default=0.5, ge=0, description="Seconds before the second try, doubled at each, at most tenfold. Default 0.5."
    )
    delay_s: float = Field(
        default=60,
        ge=0,
        description="Seconds for which a point may still grow, by Datadog's clock: what ended less than that ago is not measured yet. "
        "Default 60, for metrics of agents; those that Datadog fetches from a cloud come 5 to 20 minutes late.",
    )

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        if url is not None and not re.match(r"https?://[^/]", url):
            raise ValueError("url must start with http:// or https:// and a host")
        return None if url is None else url.rstrip("/")

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        return Endpoint(
            base_url=self.url or f"https://api.{self.site}",
            headers={"DD-API-KEY": self.api_key.get_secret_value(), "DD-APPLICATION-KEY": self.application_key.get_secret_value()},
            timeout_s=self.timeout_s,
            attempts=self.attempts,
            retry_wait_s=self.retry_wait_s,
        )


class _Line(BaseModel):
    """One series: what tells it apart, how many seconds a point speaks of, and (milliseconds since the epoch, value or null) points."""

    scope: str = ""
    expression: str = ""
    interval: int
    pointlist: list[tuple[float, float | None]] = Field(default_factory=list)

    @property
    def name(self) -> str:
        """What it is called in a sentence."""
        return self.scope or self.expression


class _Success(BaseModel):
    """An answer as the API documents it, as far as it is used."""

    status: str
    error: str = ""
    series: list[_Line] = Field(default_factory=list)


class _Failure(BaseModel):
    errors: list[str]


class DatadogSource:
    """The points of one series: a point at t speaks of [t, t + interval)."""

    def __init__(self, config: DatadogConfig) -> None:
        self._config = config
        self._where = f"Datadog at {config.url or config.site}"
        self._api = LazyApi(config.endpoint())
        self._spent_until = 0.0  # on our monotonic clock: the end of a rate limit's period that is used up

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """See `MetricSource`. The grain is that of .rollup in the query; what Datadog has no point for, or null, is NaN."""
        grain_s = _grain_s(query.expression)
        factor(query, grain_s)  # a mixed-up unit shows before Datadog is asked
        start, numbers = self._points(query.expression, window.start, window.end, grain_s)
        return series_of(query, Readings(start=start, step_s=grain_s, numbers=numbers), window, step_s)

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002  there is nothing to look at
        """See `MetricSource`. None: Datadog keeps one value an instant, and no order."""
        return ()

    def probe(self, query: Query, now: datetime) -> str:
        """One sentence on what the query answers for the hour before `now`. Raises SourceRejected where a week has no point."""
        end = floor_to(now, MINUTE_S)
        before, grain_s = end - timedelta(seconds=HOUR_S), _grain_s(query.expression)
        hour = self.fetch(query, Window(start=before, end=end), MINUTE_S).mean
        if not np.isnan(hour).all():
            return hour_told(query, hour / factor(query, MINUTE_S), end)
        if not np.isnan(self._points(query.expression, before, end, grain_s)[1]).all():
            return unusable(query)
        _, week = self._points(query.expression, end - timedelta(seconds=7 * DAY_S), end, grain_s)
        if np.isnan(week).all():
            msg = (
                f"{self._where} has no point of {query.expression!r} in the 7 days before {iso(end)}; check the metric's name and its tags"
            )
            raise SourceRejected(msg)
        return f"{query.expression!r} has no point in the last hour, though it did in the last 7 days; its load is unknown now"

    def close(self) -> None:
        """Let go of connections."""
        self._api.close()

    def _points(self, expression: str, start: datetime, end: datetime, grain_s: int) -> tuple[datetime, Floats]:
        """The start of the first point's grain, and one number a grain that has ended by `end`."""
        first, last = floor_to(start, grain_s), floor_to(end, grain_s)
        numbers = np.full(max(0, (epoch_s(last) - epoch_s(first)) // grain_s), np.nan)
        names: set[str] = set()
        for begin in range(0, numbers.size, _POINTS):
            size = min(_POINTS, numbers.size - begin)
            since = first + timedelta(seconds=begin * grain_s)
            part, name = self._part(expression, since, size, grain_s)
            numbers[begin : begin + size] = part
            names |= name
        self._check_one(expression, names)
        return first, numbers

    def _part(self, expression: str, start: datetime, size: int, grain_s: int) -> tuple[Floats, set[str]]:
        """Points of one answer, NaN where there is none or it may still grow, and the names of the series that they are of."""
        numbers = np.full(size, np.nan)
        since_s = epoch_s(start)
        answer = self._asked(expression, since_s, since_s + size * grain_s)
        lines = self._lines(answer, expression)
        self._check_one(expression, {line.name for line in lines})
        for line in lines:
            if line.interval != grain_s and line.pointlist:
                msg = (
                    f"{self._where} answers {expression!r} every {line.interval} s in place of {grain_s}; let the whole query end in "
                    f".rollup(sum, {grain_s}), or .rollup(avg, {grain_s}) for what is in flight or waiting"
                )
                raise SourceRejected(msg)
            for at_ms, value in line.pointlist:
                index = int((at_ms / 1_000 - since_s) // grain_s)
                if 0 <= index < size and value is not None:
                    numbers[index] = value
        if answer.at is not None:
            settled_s = answer.at.timestamp() - self._config.delay_s
            numbers[max(0, int((settled_s - since_s) // grain_s)) :] = np.nan
        return numbers, {line.name for line in lines}

    def _check_one(self, expression: str, names: set[str]) -> None:
        if len(names) > 1:
            shown = ", ".join(map(repr, sorted(names)[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
            msg = f"{self._where} has {len(names)} series for {expression!r} ({shown}): leave out `by {{...}}`, or pick one with a tag"
            raise SourceRejected(msg)

    def _asked(self, expression: str, since_s: int, until_s: int) -> Answer:
        """The answer with status 200. Raises SourceUnavailable at once while the rate limit is spent."""
        wait_s = self._spent_until - time.monotonic()
        if wait_s > 0:
            raise SourceUnavailable(f"{self._where} takes no query for another {wait_s:.0f} s: {_SPENT}")
        form = {"from": str(since_s), "to": str(until_s), "query": expression}
        try:
            answer = self._api.opened().send("GET", _PATH, form)
        except Unreachable as error:
            msg = f"{self._where} cannot be reached: {error}; check site, and the way to it"
            raise SourceUnavailable(msg) from error
        except Unusable as error:
            raise SourceRejected(f"{self._where} cannot be asked: {error}") from error
        except RuntimeError as error:  # what the client raises after close, as when the configuration is reloaded
            raise SourceUnavailable(f"{self._where} was closed while it was asked; it is asked again next time") from error
        if answer.status != _OK:
            raise self._refusal(answer, expression)
        return answer

    def _lines(self, answer: Answer, expression: str) -> list[_Line]:
        try:
            success = _Success.model_validate_json(answer.body)
        except ValidationError as error:
            what = "a web page" if answer.is_page else "something else than time series"
            msg = f"{self._where} answers {expression!r} with {what}; check site, url and what stands in front of the API"
            raise SourceRejected(msg) from error
        if success.status != "ok":
            said = self._line(success.error) or "no explanation"
            raise SourceRejected(f"{self._where} refuses {expression!r}: {said}; correct the expression")
        return success.series

    def _refusal(self, answer: Answer, expression: str) -> SourceError:
        said = self._said(answer)
        here = f"{self._where} (HTTP {answer.status})"
        if answer.status == _TOO_MANY:
            wait_s = min(answer.retry_after_s or MINUTE_S, _AN_HOUR_S)
            self._spent_until = time.monotonic() + wait_s
            return SourceUnavailable(f"{here} takes no query for another {wait_s:.0f} s: {_SPENT}")
        if answer.transient:
            return SourceUnavailable(f"{here} fails: {said}; it is asked again next time")
        match answer.status:
            case 401 | 403:
                what = f"refuses the keys: {said}; check api_key, application_key with its scope timeseries_query, and site"
            case 404:
                what = f"has no {_PATH} there: {said}; check site and url"
            case _ if answer.location is not None:
                what = f"redirects to {self._api.opened().masked(answer.location)}; check site"
            case _:
                what = f"refuses {expression!r}: {said}; correct the expression"
        return SourceRejected(f"{here} {what}")

    def _said(self, answer: Answer) -> str:
        try:
            text = "; ".join(_Failure.model_validate_json(answer.body).errors)
        except ValidationError:
            text = "a web page" if answer.is_page else answer.text
        return self._line(text) or "no explanation"

    def _line(self, text: str) -> str:
        return " ".join(self._api.opened().masked(text).split())[:_SAID_CHARS]


_SPENT = "its rate limit is spent; ask less often, for fewer signals, or let Datadog raise the limit"


def _grain_s(expression: str) -> int:
    """The seconds of .rollup, which the query must hold: without it Datadog picks them by the length of the window."""
    found = {int(seconds) for seconds in _ROLLUP.findall(expression)}
    if len(found) != 1:
        what = "holds no .rollup" if not found else "holds rollups of different lengths"
        msg = (
            f"{expression!r} {what}; write .rollup(sum, 60) after every metric of a count, or .rollup(avg, 60) for what is in flight or "
            "waiting: without it Datadog picks the resolution by the length of the window"
        )
        raise SourceRejected(msg)
    (grain_s,) = found
    if grain_s < MINUTE_S or grain_s % MINUTE_S or DAY_S % grain_s:
        raise SourceRejected(f"{expression!r} rolls up to {grain_s} s; write whole minutes that divide a day, such as .rollup(sum, 60)")
    return grain_s
