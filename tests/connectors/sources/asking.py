"""How the tests of the Prometheus source ask it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from connectors.sources.prometheus import PrometheusConfig, PrometheusSource
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from tests.loopback_prometheus import Asked, Behaviour, Reply, loopback_prometheus, matrix

START = datetime(2024, 5, 12, tzinfo=UTC)
HOUR = Window(start=START, end=START + timedelta(hours=1))
QUERY = Query(signal=Signal.RPM, expression="sum(llm:rpm)", unit=Unit.PER_MINUTE)


@contextmanager
def opened(url: str, **settings: Any) -> Iterator[PrometheusSource]:
    """A source on that server that does not wait between attempts."""
    source = PrometheusSource(PrometheusConfig.model_validate({"type": "prometheus", "url": url, "retry_wait_s": 0, **settings}))
    try:
        yield source
    finally:
        source.close()


def fetched(behaviour: Behaviour | Reply, window: Window = HOUR, step_s: int = 60, **settings: Any) -> Series:
    """What the source makes of a server that behaves so."""
    with loopback_prometheus(behaviour) as double, opened(double.url, **settings) as source:
        return source.fetch(QUERY, window, step_s)


def ramp(asked: Asked) -> Reply:
    """For each minute, the minutes from START to its start."""
    return matrix(({}, [(at, (at - START.timestamp()) / 60 - 1) for at in asked.stamps]))
