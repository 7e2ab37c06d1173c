"""The CloudWatch source on moto's server: how it asks, and what it makes of points, pages and refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from connectors.sources.cloudwatch import CloudWatchConfig, CloudWatchSource
from connectors.sources.metric_data import entries, stretches
from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from tests.cloudwatch import REGION, CloudWatch, cloudwatch_to_ask, result
from tests.services import free_port

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
START = NOW - timedelta(hours=2)
HOUR = Window(start=START, end=START + timedelta(hours=1))
SENT = "metric(AWS/SQS NumberOfMessagesSent Sum QueueName=jobs)"
NAN = float("nan")


def asking(expression: str = SENT, signal: Signal = Signal.RPM) -> Query:
    return Query(signal=signal, expression=expression, unit=Unit.COUNT)


@contextmanager
def opened(double: CloudWatch, **settings: Any) -> Iterator[CloudWatchSource]:
    source = CloudWatchSource(
        CloudWatchConfig.model_validate({"type": "cloudwatch", "region": REGION, "endpoint_url": double.url, **settings})
    )
    yield source
    source.close()


@pytest.fixture
def double() -> Iterator[CloudWatch]:
    with cloudwatch_to_ask(NOW) as double:
        yield double


def sent(double: CloudWatch, start: datetime, values: list[float | None], step_s: int = 60) -> None:
    double.record("AWS/SQS", "NumberOfMessagesSent", start, values, step_s, QueueName="jobs")


def fetched(double: CloudWatch, window: Window = HOUR, step_s: int = 60, query: Query | None = None, **settings: Any) -> Series:
    with opened(double, **settings) as source:
        return source.fetch(query or asking(), window, step_s)


class TestWhatIsAsked:
    def test_one_metric_is_asked_as_a_statistic_of_it(self) -> None:
        (entry,) = entries("metric(AWS/ApplicationELB RequestCount Sum LoadBalancer=app/gw/50dc TargetGroup=targetgroup/llm/7f)", 60)
        assert entry["ReturnData"] is True
        assert (entry["MetricStat"]["Stat"], entry["MetricStat"]["Period"]) == ("Sum", 60)
        assert entry["MetricStat"]["Metric"] == {
            "Namespace": "AWS/ApplicationELB",
            "MetricName": "RequestCount",
            "Dimensions": [{"Name": "LoadBalancer", "Value": "app/gw/50dc"}, {"Name": "TargetGroup", "Value": "targetgroup/llm/7f"}],
        }

    def test_metrics_in_math_are_asked_apart_and_the_math_alone_returns(self) -> None:
        first, second, math = entries("FILL(metric(A b Sum C=d), 0) + metric('My Team' 'Req Count' TM(2%:98%))", 300)
        assert math == {"Id": "answer", "Expression": "FILL(m0, 0) + m1", "Period": 300, "ReturnData": True}
        assert not first["ReturnData"]
        assert second["MetricStat"]["Metric"] == {"Namespace": "My Team", "MetricName": "Req Count", "Dimensions": []}
        assert second["MetricStat"]["Stat"] == "TM(2%:98%)"

    @pytest.mark.parametrize(
        "expression",
        ["SUM(SEARCH('{AWS/SageMaker,EndpointName} Invocations', 'Sum'))", 'SELECT SUM(Invocations) FROM SCHEMA("AWS/Bedrock", ModelId)'],
    )
    def test_searches_and_insights_go_as_they_are(self, expression: str) -> None:
        assert entries(expression, 60) == [{"Id": "answer", "Expression": expression, "Period": 60, "ReturnData": True}]

    @pytest.mark.parametrize(
        ("expression", "sentence"),
        [
            ("NumberOfMessagesSent", r"is no query to CloudWatch; write metric\(NAMESPACE"),
            ("metric(AWS/SQS NumberOfMessagesSent)", "needs namespace, name and statistic"),
            ("metric(AWS/SQS NumberOfMessagesSent QueueName=jobs)", "needs namespace, name and statistic"),
            ("metric(AWS/SQS NumberOfMessagesSent Sum jobs)", "has 'jobs' where a dimension stands; write NAME=VALUE"),
            ("metric(AWS/SQS NumberOfMessagesSent Sum QueueName=)", "where a dimension stands"),
            ("metric(AWS/SQS 'Number Sum QueueName=jobs)", "cannot be read: .*; close the quote"),
            ("SUM(SEARCH('{AWS/SQS,QueueName} Sent', 'Sum', 300))", "gives SEARCH a period; leave it out"),
        ],
    )
    def test_what_is_no_query_is_refused_before_aws_is_asked(self, double: CloudWatch, expression: str, sentence: str) -> None:
        with pytest.raises(SourceRejected, match=sentence):
            fetched(double, query=asking(expression))
        assert not double.asked

    def test_the_window_is_asked_at_the_periods_that_are_still_kept(self) -> None:
        found = stretches(NOW - timedelta(days=500), NOW, NOW, 60)
        ages = [((NOW - each.start) / timedelta(days=1), (NOW - each.end) / timedelta(days=1), each.period_s) for each in found]
        two_hours = 2 / 24
        assert ages == [
            (455 - two_hours, 63 - two_hours, 3_600),
            (63 - two_hours, 15 - two_hours, 300),
            (15 - two_hours, 0, 60),
        ]

    def test_a_period_that_has_not_ended_by_the_end_of_the_window_is_not_asked_for(self) -> None:
        (each,) = stretches(NOW + timedelta(minutes=7), NOW + timedelta(minutes=14), NOW, 300)
        assert (each.start, each.end) == (NOW + timedelta(minutes=5), NOW + timedelta(minutes=10))


class TestPoints:
    def test_k01_minutes_without_a_point_are_not_measured(self, double: CloudWatch) -> None:
        sent(double, START, [5, None, 0, 7])
        np.testing.assert_array_equal(fetched(double).mean[:5], [5, NAN, 0, 7, NAN])

    def test_pages_are_joined(self, double: CloudWatch) -> None:
        sent(double, START, [float(i) for i in range(60)])
        double.page = 25
        with opened(double) as source:
            source.fetch(asking(), HOUR, 60)
            asked = len(double.asked)
            assert source.fetch(asking(), HOUR, 60).mean.tolist() == list(range(60))
        assert len(double.asked) - asked == 3

    def test_k02_the_newest_minutes_are_not_measured_while_they_may_still_grow(self, double: CloudWatch) -> None:
        sent(double, NOW - timedelta(minutes=6), [60, 60, 60, 60, 31, 2])
        window = Window(start=NOW - timedelta(minutes=6), end=NOW)
        np.testing.assert_array_equal(fetched(double, window).mean, [60, 60, 60, NAN, NAN, NAN])
        np.testing.assert_array_equal(fetched(double, window, delay_s=0).mean, [60, 60, 60, 60, 31, 2])

    def test_the_servers_clock_says_what_is_new(self, double: CloudWatch) -> None:
        sent(double, START, [60.0] * 60)
        double.now = START + timedelta(minutes=30)
        assert np.flatnonzero(np.isnan(fetched(double).mean)).tolist() == list(range(27, 60))

    def test_a_count_of_older_load_is_the_rate_of_each_of_its_minutes(self, double: CloudWatch) -> None:
        old = NOW - timedelta(days=30)
        sent(double, old, [500.0, 1_000.0], 300)
        series = fetched(double, Window(start=old, end=old + timedelta(minutes=10)))
        assert series.mean.tolist() == [100] * 5 + [200] * 5

    def test_what_waits_is_no_rate_at_any_age(self, double: CloudWatch) -> None:
        old = NOW - timedelta(days=100)
        sent(double, old, [40.0], 3_600)
        series = fetched(double, Window(start=old, end=old + timedelta(hours=1)), query=asking(signal=Signal.QUEUE_DEPTH))
        assert series.mean.tolist() == [40] * 60

    def test_a_metric_of_every_five_minutes_is_asked_so(self, double: CloudWatch) -> None:
        sent(double, START, [500.0, None, 1_000.0], 300)
        series = fetched(double, Window(start=START + timedelta(minutes=2), end=START + timedelta(minutes=15)), period_s=300)
        np.testing.assert_array_equal(series.mean, [100] * 3 + [NAN] * 5 + [200] * 5)

    def test_k07_load_across_the_ages_that_are_kept_is_one_series(self, double: CloudWatch) -> None:
        double.now = NOW
        sent(double, NOW - timedelta(days=16), [3_000.0] * 12, 300)
        sent(double, NOW - timedelta(days=14), [60.0] * 60)
        series = fetched(double, Window(start=NOW - timedelta(days=16), end=NOW - timedelta(days=13)), 3_600)
        assert np.flatnonzero(~np.isnan(series.mean)).tolist() == [0, 48]
        assert series.mean[[0, 48]].tolist() == [600, 60]

    def test_several_series_are_refused_and_named(self, double: CloudWatch) -> None:
        several = {"MetricDataResults": [result("jobs-a", {START: 1.0}), result("jobs-b", {START: 2.0})]}
        double.answer_next(several, times=9)
        search = asking("SEARCH('{AWS/SQS,QueueName} Sent', 'Sum')")
        with pytest.raises(SourceRejected, match=r"2 series for .* \('jobs-a', 'jobs-b'\): join them with SUM"):
            fetched(double, query=search)

    def test_points_at_another_period_are_refused(self, double: CloudWatch) -> None:
        double.answer_next({"MetricDataResults": [result("a", {START + timedelta(seconds=30): 1.0})]}, times=9)
        with pytest.raises(SourceRejected, match="at another period than 60 s"):
            fetched(double)


class TestRefusals:
    @pytest.mark.parametrize("status", ["PartialData", "InternalError"])
    def test_a_part_of_the_data_is_no_low_load(self, double: CloudWatch, status: str) -> None:
        double.answer_next({"MetricDataResults": [result("a", {START: 1.0}, status)]}, times=9)
        with pytest.raises(SourceUnavailable, match=rf"in part only \({status}\); it is asked again"):
            fetched(double)

    def test_a_search_that_finds_more_than_is_answered_is_refused(self, double: CloudWatch) -> None:
        told = {"Code": "MaxMetricsExceeded", "Value": "The query matched 600 metrics"}
        double.answer_next({"MetricDataResults": [], "Messages": [told]}, times=9)
        with pytest.raises(SourceRejected, match="in part only: The query matched 600 metrics; narrow the search"):
            fetched(double)

    def test_a_metric_that_may_not_be_read_is_refused(self, double: CloudWatch) -> None:
        double.answer_next({"MetricDataResults": [result("a", {}, "Forbidden")]}, times=9)
        with pytest.raises(SourceRejected, match="allow cloudwatch:GetMetricData"):
            fetched(double)

    def test_throttling_is_tried_again(self, double: CloudWatch) -> None:
        sent(double, START, [5.0])
        double.fail_next("ThrottlingException", "Rate exceeded", times=2)
        assert fetched(double).mean[0] == 5

    @pytest.mark.parametrize(
        ("refusal", "error", "sentence"),
        [
            (
                ("ThrottlingException", "Rate exceeded"),
                SourceUnavailable,
                r"fails \(ThrottlingException\): Rate exceeded; it is asked again",
            ),
            (("InternalServiceFault", "oops"), SourceUnavailable, "fails"),
            (("502", "Bad Gateway"), SourceUnavailable, r"fails \(502\): Bad Gateway; it is asked again"),
            (("AccessDeniedException", "no"), SourceRejected, "forbids the query: no; allow cloudwatch:GetMetricData"),
            (("UnrecognizedClientException", "no"), SourceRejected, "knows no such identity: no; give the pod or machine a role"),
            (
                ("ExpiredTokenException", "The security token included in the request is expired"),
                SourceRejected,
                "finds our credentials expired: .*; renew them",
            ),
            (
                ("SignatureDoesNotMatch", "Signature expired: 1 is now earlier than 2"),
                SourceRejected,
                "finds our clock wrong: .*; set the clock",
            ),
            (("ValidationError", "Error in expression 'answer'"), SourceRejected, "refuses .*; correct the expression"),
        ],
    )
    def test_a_refusal_is_one_sentence_with_its_remedy(
        self, double: CloudWatch, refusal: tuple[str, str], error: type[Exception], sentence: str
    ) -> None:
        double.fail_next(*refusal, times=9)
        with pytest.raises(error, match=sentence) as refused:
            fetched(double)
        assert str(refused.value).startswith(f"CloudWatch in {REGION} ")

    def test_an_endpoint_that_is_away_is_unavailable(self, double: CloudWatch) -> None:
        with pytest.raises(SourceUnavailable, match="cannot be reached"):
            fetched(double, endpoint_url=f"http://127.0.0.1:{free_port()}")


class TestProbe:
    def test_a_metric_that_fell_silent_is_told_from_one_that_never_was(self, double: CloudWatch) -> None:
        sent(double, NOW - timedelta(days=2), [5.0] * 60)
        with opened(double) as source:
            assert "no point in the last hour, though it did" in source.probe(asking(), NOW)
            with pytest.raises(
                SourceRejected, match=r"has no point of .* in the 7 days before .*; check namespace, name and every dimension"
            ):
                source.probe(asking("metric(AWS/SQS NumberOfMessagesSent Sum QueueName=gone)"), NOW)


@pytest.mark.parametrize(
    ("settings", "sentence"), [({"period_s": 90}, "divides an hour"), ({"period_s": 420}, "divides an hour"), ({"delay_s": -1}, "delay_s")]
)
def test_what_cannot_work_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        CloudWatchConfig.model_validate({"type": "cloudwatch", "region": REGION, **settings})


def test_every_setting_is_documented() -> None:
    for name, field in CloudWatchConfig.model_fields.items():
        assert name == "type" or (field.description is not None and "efault" in field.description), name
