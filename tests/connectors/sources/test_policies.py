"""deploy/iam for sources in AWS: each policy allows exactly what AWS was asked."""

import json
from pathlib import Path

import pytest

from connectors.sources.cloudwatch import CloudWatchConfig, CloudWatchSource
from forecaster.ports import Query, Unit
from forecaster.series import Signal
from tests.aws import AWS_ENV, REGION, aws_to_ask
from tests.connectors.sources.asking import HOUR, QUERY, opened, ramp
from tests.loopback_prometheus import loopback_prometheus

IAM = Path(__file__).parents[3] / "deploy" / "iam"
QUERIES = {"/api/v1/query": "aps:QueryMetrics", "/api/v1/query_range": "aps:QueryMetrics"}
"""The actions of paths, by AWS's table of operations compatible with Prometheus."""


def allowed(name: str) -> set[str]:
    return {action for statement in json.loads((IAM / f"{name}.json").read_text())["Statement"] for action in statement["Action"]}


def test_the_policy_of_cloudwatch_allows_what_is_asked_and_no_more() -> None:
    sent = Query(signal=Signal.RPM, expression="metric(AWS/SQS NumberOfMessagesSent Sum QueueName=jobs)", unit=Unit.COUNT)
    with aws_to_ask() as aws:
        source = CloudWatchSource(CloudWatchConfig(type="cloudwatch", region=REGION, endpoint_url=aws.url))
        source.fetch(sent, HOUR, 60)
        source.close()
        assert set(aws.actions) == allowed("cloudwatch")


def test_the_policy_of_managed_prometheus_allows_what_is_asked_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in AWS_ENV.items():
        monkeypatch.setenv(name, value)
    with loopback_prometheus(ramp) as double, opened(f"{double.url}/workspaces/ws-1", sigv4={"region": REGION}) as source:
        source.fetch(QUERY, HOUR, 60)
        asked = {QUERIES[asked.path.removeprefix("/workspaces/ws-1").partition("?")[0]] for asked in double.asked}
    assert asked == allowed("amp")
