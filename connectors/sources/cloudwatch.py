"""Load from Amazon CloudWatch: metrics of load balancers, queues, SageMaker and Bedrock, by GetMetricData."""

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from connectors.aws import AwsAccount, AwsConnection, AwsFailed
from connectors.sources.logins import identity_fault
from connectors.sources.metric_data import Json, Stretch, entries, stretches
from connectors.sources.probing import hour_told
from connectors.sources.readings import Readings, factor, series_of
from forecaster.errors import SourceError, SourceRejected, SourceUnavailable
from forecaster.marks import Mark
from forecaster.ports import Query
from forecaster.series import Floats, Series, Window
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, epoch_s, floor_to, iso

_MOST_POINTS = 100_800  # of one answer, by the API; what is more comes on further pages
_MOST_PAGES = 1_000
_SHOWN = 3
_SERVERS_OWN = re.compile(r"5\d\d")  # what stands in the code's place where a proxy answers for AWS
_LATER = ("Throttl", "RequestLimit", "Internal", "ServiceUnavailable", "TooManyRequests", "LimitExceeded")


class CloudWatchConfig(BaseModel):
    """Metrics of one AWS account in one region. The query's expression is `metric(...)`, metric math, SEARCH or Metrics Insights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["cloudwatch"] = Field(description="This kind of source: Amazon CloudWatch.")
    region: str = Field(min_length=1, description="Region of the metrics, such as eu-west-1. No default: each has metrics of its own.")
    profile: str | None = Field(
        default=None,
        min_length=1,
        description="Profile of ~/.aws/config, as for a role of another account. Default none: boto3's own chain of credentials.",
    )
    endpoint_url: str | None = Field(
        default=None, min_length=1, description="Address of a VPC endpoint. Default none: the region's own endpoint."
    )
    period_s: int = Field(
        default=MINUTE_S,
        ge=MINUTE_S,
        le=HOUR_S,
        description="Seconds between the points of the metric, for metrics that come less often than once a minute. Default 60.",
    )
    delay_s: float = Field(
        default=180,
        ge=0,
        description="Seconds for which a point may still grow: what ended less than that ago is not measured yet. Default 180, since AWS's "
        "own metrics take 1 to 3 minutes; beyond 240 the live correction does without them.",
    )

    @model_validator(mode="after")
    def _is_a_period(self) -> Self:
        if self.period_s % MINUTE_S or HOUR_S % self.period_s:
            raise ValueError("period_s must be a whole number of minutes that divides an hour")
        return self


class CloudWatchSource:
    """The points of one metric: a point at t speaks of [t, t + period). Older load comes at the periods that CloudWatch still keeps."""

    def __init__(self, config: CloudWatchConfig) -> None:
        self._config = config
        self._where = f"CloudWatch in {config.region}"
        self._account = AwsAccount(AwsConnection(region=config.region, profile=config.profile, endpoint_url=config.endpoint_url))
        self._lock = Lock()
        self._told: tuple[datetime, float] | None = None  # the server's time, and our monotonic one when it said so

    def fetch(self, query: Query, window: Window, step_s: int) -> Series:
        """See `MetricSource`. Minutes are the finest grain; what the metric has no point for is NaN, also where that means no requests."""
        factor(query, MINUTE_S)  # a mixed-up unit shows before AWS is asked
        start = floor_to(window.start, MINUTE_S)
        numbers = self._minutes(query, start, floor_to(window.end, MINUTE_S))
        return series_of(query, Readings(start=start, step_s=MINUTE_S, numbers=numbers), window, step_s)

    def remarks(self, query: Query, window: Window, now: datetime) -> tuple[Mark, ...]:  # noqa: ARG002  there is nothing to look at
        """See `MetricSource`. None: CloudWatch adds up what comes for one minute, and keeps no order."""
        return ()

    def probe(self, query: Query, now: datetime) -> str:
        """One sentence on what the query answers for the hour before `now`. Raises SourceRejected where a week has no point."""
        end = floor_to(now, MINUTE_S)
        hour = self._minutes(query, end - timedelta(seconds=HOUR_S), end)
        if not np.isnan(hour).all():
            return hour_told(query, hour, end)
        if np.isnan(self._minutes(query, floor_to(end, HOUR_S) - timedelta(seconds=7 * DAY_S), end)).all():
            msg = (
                f"{self._where} has no point of {query.expression!r} in the 7 days before {iso(end)}; check namespace, name and every "
                "dimension: a metric is found by all of its dimensions only"
            )
            raise SourceRejected(msg)
        return f"{query.expression!r} has no point in the last hour, though it did in the last 7 days; its load is unknown now"

    def close(self) -> None:
        """Nothing is held that needs an end: boto3 lets go of connections by itself."""

    def _minutes(self, query: Query, start: datetime, end: datetime) -> Floats:
        """One number a minute of [start, end): a coarser point's share of each of its minutes, NaN where there is none."""
        numbers = np.full(max(0, (epoch_s(end) - epoch_s(start)) // MINUTE_S), np.nan)
        if not numbers.size:
            return numbers
        for stretch in stretches(start, end, self._now(query.expression, end), self._config.period_s):
            points = self._points(query.expression, stretch) * (factor(query, stretch.period_s) / factor(query, MINUTE_S))
            fine = np.repeat(points, stretch.period_s // MINUTE_S)
            at = (epoch_s(stretch.start) - epoch_s(start)) // MINUTE_S
            known = fine[max(0, -at) : numbers.size - at]
            numbers[max(0, at) : max(0, at) + known.size] = known
        return numbers

    def _points(self, expression: str, stretch: Stretch) -> Floats:
        """One number a period of the stretch; those that may still grow are NaN."""
        found: dict[str, list[tuple[float, float]]] = {}
        for result in self._results(expression, stretch):
            stamps = (at.timestamp() for at in result["Timestamps"])
            found.setdefault(result.get("Label", ""), []).extend(zip(stamps, result["Values"], strict=True))
        if len(found) > 1:
            shown = ", ".join(map(repr, sorted(found)[:_SHOWN])) + (", ..." if len(found) > _SHOWN else "")
            msg = f"{self._where} has {len(found)} series for {expression!r} ({shown}): join them with SUM(...)"
            raise SourceRejected(msg)
        points = np.full((epoch_s(stretch.end) - epoch_s(stretch.start)) // stretch.period_s, np.nan)
        for at, value in next(iter(found.values()), []):
            index, rest = divmod(at - epoch_s(stretch.start), stretch.period_s)
            if rest:
                msg = (
                    f"{self._where} answers {expression!r} at another period than {stretch.period_s} s; leave periods out of the expression"
                )
                raise SourceRejected(msg)
            if 0 <= index < points.size:
                points[int(index)] = value
        settled_s = epoch_s(self._now(expression, stretch.end)) - self._config.delay_s
        points[max(0, int((settled_s - epoch_s(stretch.start)) // stretch.period_s)) :] = np.nan
        return points

    def _results(self, expression: str, stretch: Stretch) -> Iterator[Json]:
        """The results on all pages. Raises SourceUnavailable where one of them stays incomplete."""
        asked: dict[str, Any] = {
            "MetricDataQueries": entries(expression, stretch.period_s),
            "StartTime": stretch.start,
            "EndTime": stretch.end,
            "ScanBy": "TimestampAscending",
            "MaxDatapoints": _MOST_POINTS,
        }
        for _ in range(_MOST_PAGES):
            answer = self._asked(expression, asked)
            for result in answer["MetricDataResults"]:
                self._check(expression, result, more="NextToken" in answer)
            self._check_messages(expression, answer.get("Messages", []))
            yield from answer["MetricDataResults"]
            if "NextToken" not in answer:
                return
            asked["NextToken"] = answer["NextToken"]
        msg = f"{self._where} answers {expression!r} on pages without an end; it is asked again next time"
        raise SourceUnavailable(msg)

    def _asked(self, expression: str, asked: Json) -> Json:
        try:
            answer = self._account.call("cloudwatch", "get_metric_data", **asked)
        except AwsFailed as failed:
            raise self._refusal(expression, failed) from failed
        date = _instant(answer["ResponseMetadata"]["HTTPHeaders"].get("date", ""))
        if date is not None:
            with self._lock:
                self._told = (date, time.monotonic())
        return answer

    def _check(self, expression: str, result: Json, *, more: bool) -> None:
        match result.get("StatusCode", "Complete"):
            case "Complete":
                return
            case "PartialData" if more:  # the rest is on the next page
                return
            case "Forbidden":
                msg = f"{self._where} forbids a metric of {expression!r}; allow cloudwatch:GetMetricData, in the account that holds it"
                raise SourceRejected(msg)
            case status:
                msg = f"{self._where} answers {expression!r} in part only ({status}); it is asked again next time"
                raise SourceUnavailable(msg)

    def _check_messages(self, expression: str, messages: list[Json]) -> None:
        """Notes on the whole answer tell that something is left out, such as metrics beyond the most that SEARCH may find."""
        for message in messages:
            told = f"{self._where} answers {expression!r} in part only: {message.get('Value') or message.get('Code')}"
            if str(message.get("Code", "")).startswith("Max"):
                raise SourceRejected(f"{told}; narrow the search")
            raise SourceUnavailable(f"{told}; it is asked again next time")

    def _refusal(self, expression: str, failed: AwsFailed) -> SourceError:
        code, said = failed.code or "", " ".join(failed.answer.split())
        if not code:
            return SourceUnavailable(f"{self._where} cannot be reached: {said}; check region and endpoint_url, and the way to it")
        if any(word in code for word in _LATER) or _SERVERS_OWN.fullmatch(code):
            return SourceUnavailable(f"{self._where} fails ({code}): {said}; it is asked again next time")
        fault = identity_fault(f"{code}: {said}")
        if fault is not None:
            return SourceRejected(f"{self._where} {fault}")
        match code:
            case "AccessDenied" | "AccessDeniedException":
                what = f"forbids the query: {said}; allow cloudwatch:GetMetricData to this identity"
            case "NoCredentials" | "UnrecognizedClientException" | "InvalidClientTokenId" | "SignatureDoesNotMatch":
                what = f"knows no such identity: {said}; give the pod or machine a role, or set profile"
            case _:
                what = f"refuses {expression!r}: {said}; correct the expression"
        return SourceRejected(f"{self._where} {what}")

    def _now(self, expression: str, end: datetime) -> datetime:
        """The server's time: what it still keeps follows from it, and our own clock may be wrong. Asked for once, then kept going."""
        if self._told is None:
            an_hour = Stretch(start=floor_to(end, HOUR_S) - timedelta(seconds=HOUR_S), end=floor_to(end, HOUR_S), period_s=HOUR_S)
            next(self._results(expression, an_hour), None)
        told = self._told
        return end if told is None else told[0] + timedelta(seconds=time.monotonic() - told[1])


def _instant(header: str) -> datetime | None:
    """The instant in a Date header; None where a proxy has spoiled it."""
    try:
        found = parsedate_to_datetime(header)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
