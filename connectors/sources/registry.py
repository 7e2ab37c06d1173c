"""Every source there is: a row for its configuration and a case that opens it."""

from datetime import datetime
from typing import Annotated, Protocol, TypeAlias, assert_never

from pydantic import Field

from connectors.sources.cloudwatch import CloudWatchConfig, CloudWatchSource
from connectors.sources.csv import CsvConfig, CsvSource
from connectors.sources.datadog import DatadogConfig, DatadogSource
from connectors.sources.prometheus import PrometheusConfig, PrometheusSource
from connectors.sources.sql import SqlConfig, SqlSource
from forecaster.ports import MetricSource, Query

SourceConfig: TypeAlias = Annotated[
    CsvConfig | PrometheusConfig | CloudWatchConfig | SqlConfig | DatadogConfig,
    Field(discriminator="type", description="A system that load is read from; `type` says of which kind."),
]


class OpenedSource(MetricSource, Protocol):
    """A source as it is wired: what the core needs of it, and what `check` and the end of a run need."""

    def probe(self, query: Query, now: datetime) -> str:
        """One sentence on what a query answers as of `now`. Raises what `fetch` raises, and SourceRejected when nothing matches."""

    def close(self) -> None:
        """Let go of connections and of what was read. Done once, at the end."""


def open_source(config: SourceConfig) -> OpenedSource:
    """The source of a configuration. Touches neither network nor disk: what is wrong out there shows when it is asked."""
    match config:
        case CsvConfig():
            return CsvSource(config)
        case PrometheusConfig():
            return PrometheusSource(config)
        case CloudWatchConfig():
            return CloudWatchSource(config)
        case SqlConfig():
            return SqlSource(config)
        case DatadogConfig():
            return DatadogSource(config)
        case _:
            assert_never(config)
