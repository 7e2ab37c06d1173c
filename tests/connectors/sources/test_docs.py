"""docs/sources.md against the code: what it shows can be used, and every kind and error stands in it."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import psycopg
import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from connectors.sources.datadog import DatadogConfig, DatadogSource
from connectors.sources.metric_data import entries
from connectors.sources.registry import SourceConfig
from connectors.sources.sql import SqlConfig, SqlSource
from forecaster import errors
from forecaster.errors import SourceUnavailable
from forecaster.ports import Query, Unit
from forecaster.series import Signal
from tests.connectors.sources.asking import HOUR
from tests.services import free_port

pytest_plugins = ("tests.postgres",)

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
EXAMPLES: list[dict[str, Any]] = [
    source for fence in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL) for source in yaml.safe_load(fence)["sources"].values()
]
CELLS = re.findall(r"\| `([^`]+)` \|", PAGE)
METRICS = [cell for cell in CELLS if cell.startswith(("metric(", "FILL(", "SUM("))]
ROLLUPS = [cell for cell in CELLS if ".rollup(" in cell]
SELECTS = [fence.strip() for fence in re.findall(r"```sql\n(.*?)```", PAGE, flags=re.DOTALL)]


def asking(expression: str) -> Query:
    return Query(signal=Signal.RPM, expression=expression, unit=Unit.COUNT)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["type"])
def test_every_example_is_a_configuration(example: dict[str, Any]) -> None:
    TypeAdapter[BaseModel](SourceConfig).validate_python(example)


def test_every_kind_has_its_part_and_its_example() -> None:
    kinds = {name for kind in get_args(get_args(SourceConfig)[0]) for name in get_args(kind.model_fields["type"].annotation)}
    assert {example["type"] for example in EXAMPLES} == kinds
    assert set(re.findall(r"^## ([a-z]+)$", PAGE, re.MULTILINE)) == kinds


@pytest.mark.parametrize("query", METRICS)
def test_every_query_to_cloudwatch_is_one(query: str) -> None:
    assert [entry["ReturnData"] for entry in entries(query, 60)].count(True) == 1


@pytest.mark.parametrize("query", ROLLUPS)
def test_every_query_to_datadog_is_one(query: str) -> None:
    config = {"type": "datadog", "api_key": "a", "application_key": "b", "url": f"http://127.0.0.1:{free_port()}", "attempts": 1}
    source = DatadogSource(DatadogConfig.model_validate(config))
    with pytest.raises(SourceUnavailable, match="cannot be reached"):  # it was asked
        source.fetch(asking(query), HOUR, 60)
    source.close()


@pytest.mark.parametrize("query", SELECTS)
def test_every_select_has_its_bounds(query: str) -> None:
    source = SqlSource(SqlConfig.model_validate({"type": "sql", "url": f"postgresql://a:b@127.0.0.1:{free_port()}/c"}))
    with pytest.raises(SourceUnavailable, match="fails"):  # it was asked
        source.fetch(asking(query), HOUR, 60)
    source.close()


def test_the_select_that_joins_the_minutes_says_zero_where_nobody_called(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE request (at timestamptz)")
        connection.cursor().executemany("INSERT INTO request VALUES (%s)", [(HOUR.start + timedelta(seconds=s),) for s in (5, 50, 130)])
    source = SqlSource(SqlConfig.model_validate({"type": "sql", "url": postgres_url}))
    (query,) = (query for query in SELECTS if "generate_series" in query)
    assert source.fetch(asking(query), HOUR, 60).mean.tolist() == [2, 0, 1, *[0] * 57]
    source.close()


def test_there_are_queries_of_each_kind() -> None:
    assert (len(METRICS), len(ROLLUPS), len(SELECTS)) == (7, 2, 2)


@pytest.mark.parametrize("kind", errors.SourceError.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_error_is_explained(kind: type[Exception]) -> None:
    assert f"`{kind.__name__}`" in PAGE


@pytest.mark.parametrize(("file", "action"), [("cloudwatch.json", "cloudwatch:GetMetricData"), ("amp.json", "aps:QueryMetrics")])
def test_the_policies_allow_what_is_asked_and_no_more(file: str, action: str) -> None:
    assert f"`{action}`" in PAGE
    policy = json.loads((ROOT / "deploy" / "iam" / file).read_text())
    assert [statement["Action"] for statement in policy["Statement"]] == [[action]]
