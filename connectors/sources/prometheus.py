"""Load from any server that speaks Prometheus' HTTP API: itself, Thanos, Mimir, Cortex, VictoriaMetrics, those of AWS, Google, Azure."""

import math
from concurrent.futures import CancelledError, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from connectors.http.endpoint import Endpoint
from connectors.sources.logins import AzureIdentity, BasicAuth, GoogleIdentity, SigV4, credentials_apart
from connectors.sources.probing import hour_told
from connectors.sources.promql import OWN_PARAMETERS, Labels, RangeApi, Samples, Span
from connectors.sources.promql_ranges import over_a_second, rated
from connectors.sources.readings import Readings, factor, series_of
from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.marks import Mark
from forecaster.ports import Query, Unit
from forecaster.seconds import FINE_S, Seconds
from forecaster.series import Floats, Series, Window
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, epoch_s, floor_to, iso

_REMEDY = "pick one with a label matcher, or join them, with sum(...) where they are parts and max(...) where they are copies"
_SHOWN = 3
_STRETCH_S = 300  # a whole number of scrapes at every usual interval
_LOGINS = ("bearer_token", "bearer_token_file", "basic_auth", "sigv4", "google", "azure")


class PrometheusConfig(BaseModel):
    """A server with Prometheus' HTTP API. The query's expression is PromQL that gives one series."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["prometheus"] = Field(description="This kind of source: any server with the HTTP API of Prometheus.")
    url: str = Field(
        description="Address with the base path and without /api/v1, such as https://mimir.example.com/prometheus. No default. "
        "User and password in it are taken out and used as basic_auth."
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="Headers sent with every query, such as X-Scope-OrgID for a tenant. Default none: a plain Prometheus needs none.",
    )
    bearer_token: SecretStr | None = Field(
        default=None,
        min_length=1,
        description="Token for `Authorization: Bearer`; write ${NAME} to take it from the environment. Default none.",
    )
    bearer_token_file: Path | None = Field(
        default=None,
        description="File with the bearer token, read at every query since mounted tokens rotate. Default none.",
    )
    basic_auth: BasicAuth | None = Field(default=None, description="User and password for basic authentication. Default none.")
    sigv4: SigV4 | None = Field(
        default=None, description="An identity of AWS that signs every query, for Amazon Managed Service for Prometheus. Default none."
    )
    google: GoogleIdentity | None = Field(
        default=None, description="An identity of Google Cloud, for Managed Service for Prometheus; `{}` takes the usual one. Default none."
    )
    azure: AzureIdentity | None = Field(
        default=None, description="An identity of Azure, for Azure Monitor's Prometheus; `{}` takes the usual one. Default none."
    )
    parameters: dict[str, str] = Field(
        default_factory=dict,
        description="Further parameters of every query, such as `partial_response` of Thanos or `extra_label` of VictoriaMetrics. "
        "Default none.",
    )
    accept_partial: bool = Field(
        default=False,
        description="Whether an answer counts of which the server warns that parts may be missing. Default false: half of the load would "
        "lower floors.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="PEM file of the certificate authority that signed the server's certificate. Default none: the system's authorities.",
    )
    client_cert_file: Path | None = Field(
        default=None, description="PEM file of our own certificate, for servers that ask for one. Default none."
    )
    client_key_file: Path | None = Field(
        default=None, description="PEM file of the key of client_cert_file. Default none: the key stands in the certificate's file."
    )
    verify_tls: bool = Field(
        default=True,
        description="Whether the server's certificate is checked. Default true: without it anybody in between can invent load.",
    )
    timeout_s: float = Field(
        default=30,
        gt=0,
        description="Seconds to wait for more of an answer; the server is told to give up after as long, and a connection must be taken "
        "within 5 s of it. Default 30: a week of minutes over many series takes several seconds on a busy server.",
    )
    attempts: int = Field(
        default=4,
        ge=1,
        description="Most tries of one query, counting the first; none begins later than 2 x timeout_s after it. Default 4: enough for a "
        "restart behind a load balancer.",
    )
    retry_wait_s: float = Field(
        default=0.5,
        ge=0,
        description="Seconds before the second try, doubled with jitter at each, at most tenfold. Default 0.5: short, since a cycle waits.",
    )
    concurrent_queries: int = Field(
        default=4,
        ge=1,
        description="Most queries in flight at once, over all workloads. Default 4: a fifth of what Prometheus itself allows (20), so that "
        "dashboards stay quick.",
    )
    max_points: int = Field(
        default=11_000,
        ge=1,
        le=11_000,
        description="Most points a query asks for; longer windows are cut. Default 11,000, the limit of Prometheus; lower it where a "
        "server allows less.",
    )

    @model_validator(mode="before")
    @classmethod
    def _credentials_leave_the_url(cls, data: Any) -> Any:  # noqa: ANN401  # pydantic gives whatever was written
        return credentials_apart(data)

    @field_validator("url")
    @classmethod
    def _is_a_base_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise ValueError("url must start with http:// or https:// and a host")
        if parts.query or parts.fragment:
            raise ValueError("url must not hold ? or #: put what stands there into headers")
        if "/api/v1" in parts.path:
            raise ValueError("url must end before /api/v1: the rest of the path is added")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if sum(getattr(self, way) is not None for way in _LOGINS) > 1:
            raise ValueError(f"only one of {', '.join(_LOGINS[:-1])} and {_LOGINS[-1]} can be sent; remove the others")
        taken = sorted(OWN_PARAMETERS & self.parameters.keys())
        if taken:
            raise ValueError(f"parameters must not hold {taken[0]}, which every query sets itself")
        if self.client_key_file is not None and self.client_cert_file is None:
            raise ValueError("client_key_file needs client_cert_file")
        return self

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        basic = self.basic_auth
        identity = self.google or self.azure
        return Endpoint(
            base_url=self.url,
            headers={name: value.get_secret_value() for name, value in self.headers.items()},
            bearer=None if self.bearer_token is None else self.bearer_token.get_secret_value().strip(),
            bearer_file=self.bearer_token_file,
            basic=None if basic is None else (basic.username, basic.password.get_secret_value()),
            login=None if identity is None else identity.login(),
            signer=None if self.sigv4 is None else self.sigv4.signer(),
            ca_file=self.ca_file,
            cert_file=self.client_cert_file,
            key_file=self.client_key_file,
            verify_tls=self.verify_tls,
            timeout_s=self.timeout_s,
            connections=self.concurrent_queries,
            attempts=self.attempts,
            retry_wait_s=self.retry_wait_s,
        )


class PrometheusSource:
    """Range queries on minute ends: the sample at t speaks of the minute [t - 60 s, t)."""

    def __init__(self, config: PrometheusConfig) -> None:
        self._config = config
        # Google's API takes no POST, and no parameter that it does not know
        self._api = RangeApi(config.endpoint(), config.parameters, partial=config.accept_partial, plain=config.google is not None)
        self._pool = ThreadPoolExecutor(config.concurrent_queries, thread_name_prefix="prometheus")

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """See `MetricSource`. Minutes are the finest grain; a query that matches nothing in the window answers NaN throughout."""
        factor(query, MINUTE_S)  # a mixed-up unit shows before the server is asked
        start, end = floor_to(window.start, MINUTE_S), floor_to(window.end, MINUTE_S)
        numbers = self._minutes(query.expression, start, end)
        readings = Readings(start=start, step_s=MINUTE_S, numbers=np.empty(0) if numbers is None else numbers)
        return series_of(query, readings, window, step_s)

    def newest(self, expression: str, now: datetime) -> float:
        """See `InstantSource`: a range of one instant, which every server answers as it answers an instant query.

        The server takes each series' last sample of the 5 minutes before, none of one whose scrape failed.
        """
        samples = self._samples(expression, Span(first=epoch_s(now), last=epoch_s(now), step_s=1))
        number = math.nan if samples is None else float(samples[-1, 1])
        return number if math.isfinite(number) else math.nan

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002  there is nothing to look at
        """See `MetricSource`. None: the server keeps one sample an instant, and rate() sees by itself where a counter began again."""
        return ()

    def seconds(self, query: Query, window: Window) -> Seconds:
        """See `SecondSource`. Of queries that take the rate() of counters; what a recorded gauge says of a second nobody can tell."""
        counters = () if query.unit is Unit.COUNT else rated(query.expression)
        grains = [grain_s for counter in counters if (grain_s := self._scraped_every_s(counter, window)) is not None]
        if not grains:
            return Seconds()
        grain_s = max(grains)
        if grain_s > FINE_S:
            return Seconds(grain_s=grain_s)
        numbers = self._numbers(over_a_second(query.expression, grain_s), window.start, window.end, 1)
        readings = Readings(start=window.start, step_s=1, numbers=np.empty(0) if numbers is None else numbers)
        return Seconds(grain_s=grain_s, series=series_of(query, readings, window, 1))

    def probe(self, query: Query, now: datetime) -> str:
        """One sentence on what the query answers for the hour before `now`, in the signal's unit.

        Raises SourceUnavailable, or SourceRejected when it cannot be answered or has matched nothing for 7 days.
        """
        factor(query, MINUTE_S)
        end = floor_to(now, MINUTE_S)
        numbers = self._minutes(query.expression, end - timedelta(seconds=HOUR_S), end)
        if numbers is None:
            return self._silence(query, end)
        return hour_told(query, numbers, end)

    def close(self) -> None:
        """Let go of connections and drop waiting queries. Who still asks, or asks later, is told SourceUnavailable."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._api.close()

    def _silence(self, query: Query, end: datetime) -> str:
        """What to say of a query that matched nothing for an hour: it did this week, or never."""
        week = Span(first=epoch_s(end) - 7 * DAY_S, last=epoch_s(end), step_s=HOUR_S)
        if self._samples(query.expression, week) is None:
            msg = (
                f"Prometheus at {self._config.url} has no series that matches {query.expression!r} in the 7 days before {iso(end)}; "
                "check the metric's name and its labels"
            )
            raise SourceRejected(msg)
        return f"{query.expression!r} matches nothing in the last hour, though it did in the last 7 days; its load is unknown now"

    def _scraped_every_s(self, counter: str, window: Window) -> float | None:
        """Seconds between the raw samples of the series that is scraped least often; None where nothing matches.

        Of several stretches the one with most samples tells: in the others a series began or ended.
        """
        counted = f"min(count_over_time({counter}[{_STRETCH_S * 1_000 - 1}ms]))"  # a sample on both ends is one too many
        first, last = epoch_s(window.start) + _STRETCH_S, epoch_s(window.end)
        samples = self._samples(counted, Span(first=min(first, last), last=last, step_s=_STRETCH_S))
        return None if samples is None else float(_STRETCH_S / np.max(samples[:, 1]))

    def _minutes(self, expression: str, start: datetime, end: datetime) -> Floats | None:
        """One number a minute of [start, end), NaN where there is none; None when no series matches at all."""
        return self._numbers(expression, start, end, MINUTE_S)

    def _numbers(self, expression: str, start: datetime, end: datetime, step_s: int) -> Floats | None:
        """The same by steps of any length."""
        first, last = epoch_s(start) + step_s, epoch_s(end)
        if first > last:
            return None
        samples = self._samples(expression, Span(first=first, last=last, step_s=step_s))
        if samples is None:
            return None
        numbers = np.full((last - first) // step_s + 1, np.nan)
        index, rest = np.divmod(samples[:, 0] - first, step_s)
        asked = (rest == 0) & (index >= 0) & (index < numbers.size)
        numbers[index[asked].astype(np.intp)] = samples[asked, 1]
        return numbers

    def _samples(self, expression: str, span: Span) -> Floats | None:
        """Times and values of the one series that matches, shape (k, 2); None when none does, SourceRejected when several do."""
        found: dict[Labels, Samples] = {}
        try:
            for lines in self._pool.map(partial(self._api.read, expression), span.cut(self._config.max_points)):
                for line in lines:
                    found.setdefault(line.labels, []).extend(line.values)
        except (RuntimeError, CancelledError) as error:  # what pool and client raise after close, as when the configuration is reloaded
            msg = f"Prometheus at {self._config.url} was closed while it was asked; it is asked again next time"
            raise SourceUnavailable(msg) from error
        if len(found) > 1:
            msg = f"Prometheus at {self._config.url} has {_difference(tuple(found))} for {expression!r}: {_REMEDY}"
            raise SourceRejected(msg)
        if not found:
            return None
        (samples,) = found.values()
        if not samples:
            msg = f"Prometheus at {self._config.url} answers {expression!r} with histograms; make numbers of them with histogram_count(...)"
            raise SourceRejected(msg)
        return np.asarray(samples, dtype=np.float64)


def _difference(series: tuple[Labels, ...]) -> str:
    """`2 series that differ in cluster ("a", "b")`: which labels tell the series apart, with some of their values."""
    names = sorted({name for labels in series for name, _ in labels})
    values = {name: sorted({dict(labels).get(name, "") for labels in series}) for name in names}
    telling = "; ".join(
        f"{name} ({', '.join(map(repr, given[:_SHOWN]))}{', ...' if len(given) > _SHOWN else ''})"
        for name, given in values.items()
        if len(given) > 1
    )
    return f"{len(series)} series that differ in {telling}"
