"""Queries to CloudWatch as text: `metric(NAMESPACE NAME STATISTIC DIMENSION=VALUE ...)`, alone or inside of metric math.

    metric(AWS/ApplicationELB RequestCount Sum LoadBalancer=app/gateway/50dc6c495c0c9188)
    FILL(metric(AWS/SQS NumberOfMessagesSent Sum QueueName=jobs), 0)
    SUM(SEARCH('{AWS/SageMaker,EndpointName,VariantName} MetricName="Invocations"', 'Sum'))
    SELECT SUM(Invocations) FROM SCHEMA("AWS/Bedrock", ModelId)

The words in metric(...) are split as a shell splits them, so quotes hold names with spaces. No period is written: it follows from how old
the asked window is, since CloudWatch keeps minutes for 15 days only.
"""

import re
import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from forecaster.errors import SourceRejected
from forecaster.units import DAY_S, HOUR_S, MINUTE_S, floor_to

Json: TypeAlias = dict[str, Any]

_METRIC = re.compile(r"\bmetric\(((?:[^()]|\([^()]*\))*)\)")  # statistics such as TM(2%:98%) have brackets of their own
_FIXED = re.compile(r"\bSEARCH\(\s*'[^']*'\s*,\s*'[^']*'\s*,", re.IGNORECASE)
_ANSWER = "answer"

_KEPT = ((15 * DAY_S, MINUTE_S), (63 * DAY_S, 5 * MINUTE_S), (455 * DAY_S, HOUR_S))
"""For how long CloudWatch keeps which period: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a window that is asked at one period; start and end are multiples of it."""

    start: datetime
    end: datetime
    period_s: int


def stretches(start: datetime, end: datetime, now: datetime, period_s: int) -> tuple[Stretch, ...]:
    """The window [start, end) in parts that CloudWatch still keeps as of `now`, oldest first; none finer than `period_s`.

    A part begins with the period that holds its start. The newest period that has not ended by the end of the window is left out.
    """
    found: list[Stretch] = []
    until = end
    for kept_s, finest_s in _KEPT:
        grain_s = max(finest_s, period_s)
        oldest = floor_to(now - timedelta(seconds=kept_s), HOUR_S) + timedelta(hours=2)  # what ages while we ask is asked coarser
        since, stop = floor_to(max(start, oldest), grain_s), floor_to(until, grain_s)
        if since < stop:
            found.append(Stretch(start=since, end=stop, period_s=grain_s))
        until = min(until, max(start, oldest))
    return tuple(reversed(found))


def entries(expression: str, period_s: int) -> list[Json]:
    """The MetricDataQueries of an expression, one of which returns data. Raises SourceRejected, saying what to write instead."""
    if _FIXED.search(expression):
        msg = f"{expression!r} gives SEARCH a period; leave it out, since older load is kept at longer periods and asked so"
        raise SourceRejected(msg)
    metrics = [match.group(1) for match in _METRIC.finditer(expression)]
    if len(metrics) == 1 and _METRIC.fullmatch(expression.strip()):
        return [_entry(_ANSWER, expression, metrics[0], period_s, returned=True)]
    if not metrics and "(" not in expression and not expression.lstrip().upper().startswith("SELECT"):
        msg = f"{expression!r} is no query to CloudWatch; write metric(NAMESPACE NAME STATISTIC DIMENSION=VALUE ...)"
        raise SourceRejected(msg)
    numbered = [_entry(f"m{i}", expression, words, period_s, returned=False) for i, words in enumerate(metrics)]
    ids = iter(entry["Id"] for entry in numbered)
    math = _METRIC.sub(lambda _: next(ids), expression).strip()
    return [*numbered, {"Id": _ANSWER, "Expression": math, "Period": period_s, "ReturnData": True}]


def _entry(name: str, expression: str, words: str, period_s: int, *, returned: bool) -> Json:
    try:
        split = shlex.split(words)
    except ValueError as error:  # a quote that is not closed
        msg = f"metric({words}) in {expression!r} cannot be read: {error}; close the quote"
        raise SourceRejected(msg) from error
    dimensions = [word.partition("=") for word in split[3:]]
    wrong = next((word for word, (name, mark, value) in zip(split[3:], dimensions, strict=True) if not (name and mark and value)), None)
    if len(split) < 3 or any("=" in word for word in split[:3]):  # noqa: PLR2004  # namespace, name and statistic
        msg = f"metric({words}) in {expression!r} needs namespace, name and statistic, such as metric(AWS/SQS NumberOfMessagesSent Sum)"
        raise SourceRejected(msg)
    if wrong is not None:
        msg = f"metric({words}) in {expression!r} has {wrong!r} where a dimension stands; write NAME=VALUE, in quotes if it has spaces"
        raise SourceRejected(msg)
    metric = {
        "Namespace": split[0],
        "MetricName": split[1],
        "Dimensions": [{"Name": name, "Value": value} for name, _, value in dimensions],
    }
    return {"Id": name, "MetricStat": {"Metric": metric, "Period": period_s, "Stat": split[2]}, "ReturnData": returned}
