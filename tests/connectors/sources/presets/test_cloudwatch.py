"""The preset of SQS asked of CloudWatch itself, on moto's server."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from connectors.sources.cloudwatch import CloudWatchConfig, CloudWatchSource
from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.presets.expression import Use, expression
from connectors.sources.presets.quantity import Quantity
from forecaster.ports import Query
from forecaster.series import Signal, Window
from tests.cloudwatch import REGION, cloudwatch_to_ask

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
START = NOW - timedelta(hours=2)
METRICS = {
    "NumberOfMessagesSent": (120.0, Quantity.RPM, 120.0),
    "ApproximateNumberOfMessagesNotVisible": (4.0, Quantity.CONCURRENCY, 4.0),
    "ApproximateNumberOfMessagesVisible": (6.0, Quantity.QUEUE_DEPTH, 6.0),
}


def test_a_queue_tells_what_was_sent_what_is_in_work_and_what_waits() -> None:
    queue = Use(preset=PRESETS["sqs-cloudwatch"], match={"QueueName": "jobs"})
    with cloudwatch_to_ask(NOW) as double:
        for name, (value, _, _) in METRICS.items():
            double.record("AWS/SQS", name, START, [value] * 30, 60, QueueName="jobs")
            double.record("AWS/SQS", name, START, [7_000.0] * 30, 60, QueueName="mails")
        source = CloudWatchSource(CloudWatchConfig(type="cloudwatch", region=REGION, endpoint_url=double.url))
        window = Window(start=START, end=START + timedelta(minutes=30))
        for _, quantity, told in METRICS.values():
            asked = Query(
                signal=quantity.signal or Signal.CONDITION, expression=expression(queue, quantity), unit=queue.preset.unit(quantity)
            )
            assert source.fetch(asked, window, 60).mean == pytest.approx(np.full(30, told))
        source.close()
    assert set(queue.preset.metrics) == {quantity for _, quantity, _ in METRICS.values()}
