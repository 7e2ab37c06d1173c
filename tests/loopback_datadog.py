"""A loopback double of Datadog's API for time series, by its public schema (GET /api/v1/query): keys, spans, rollups, 1,500 points."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Any, TypeAlias

from tests.loopback_prometheus import Asked, Behaviour, Reply

API_KEY, APPLICATION_KEY = "api-key-of-the-test", "application-key-of-the-test"

Json: TypeAlias = dict[str, Any]
Minutes: TypeAlias = Callable[[int], float | None]

_MOST_POINTS = 1_500
_QUERY = re.compile(r"\w+:(?P<name>[\w.]+)\{[^}]*\}(?:\.as_count\(\))?(?:\.rollup\((?P<how>\w+), (?P<seconds>\d+)\))?")


def line(points: Sequence[tuple[float, float | None]], *, interval: int = 60, scope: str = "*") -> Json:
    """One series of an answer; times in seconds since the epoch."""
    return {
        "metric": "requests",
        "scope": scope,
        "expression": f"sum:requests{{{scope}}}",
        "interval": interval,
        "pointlist": [[at * 1_000, value] for at, value in points],
    }


def series(*lines: Json) -> Reply:
    """A success."""
    return Reply(body=json.dumps({"status": "ok", "res_type": "time_series", "series": list(lines)}).encode())


def errors(status: int, *said: str, **headers: str) -> Reply:
    """A refusal as Datadog words it."""
    return Reply(status=status, body=json.dumps({"errors": list(said)}).encode(), headers=headers)


def holding(start: datetime, metrics: Mapping[str, Sequence[float | None]]) -> Behaviour:
    """An organisation with these minutes from `start` on; None = no point."""

    def answer(asked: Asked) -> Reply:
        if (asked.headers.get("DD-API-KEY"), asked.headers.get("DD-APPLICATION-KEY")) != (API_KEY, APPLICATION_KEY):
            return errors(403, "Forbidden")
        match = _QUERY.fullmatch(asked.form["query"])
        if match is None:
            return errors(400, "Rule 'metric' didn't match")
        minutes = metrics.get(match["name"])
        if minutes is None:
            return series()
        since, until = int(asked.form["from"]), int(asked.form["to"])
        interval = max(int(match["seconds"] or 0), 60 * ceil((until - since) / 60 / _MOST_POINTS))
        known = {int(start.timestamp()) + 60 * i: value for i, value in enumerate(minutes) if value is not None}
        found = [(at, value) for at, value in known.items() if since <= at < until and at % interval == 0]
        return series(line(found, interval=interval)) if found else series()

    return answer
