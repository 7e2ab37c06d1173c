"""Failures that others met in production, at the point where load enters: what is not known stays unknown, and says why."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from connectors.sources.csv import CsvConfig, CsvSource
from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.ports import Query, Unit
from forecaster.series import Signal, Window
from forecaster.units import epoch_s, iso
from tests.connectors.sources.asking import HOUR, QUERY, START, fetched, opened, ramp
from tests.loopback_prometheus import Asked, Reply, failure, in_turn, loopback_prometheus, matrix, page, steady
from tests.prometheus import counter, gauge, prometheus_server
from tests.services import free_port

NAN = float("nan")
LAST_28_DAYS = Window(start=START - timedelta(days=14), end=START + timedelta(days=14))
DAY = 1_440


def rpm(expression: str, unit: Unit = Unit.PER_MINUTE) -> Query:
    return Query(signal=Signal.RPM, expression=expression, unit=unit)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Prometheus that many share: 14 days of `load`, and an hour of the odd cases."""
    busy = [60.0] * 60
    text = gauge("load", START, (i % DAY for i in range(14 * DAY)))
    for replica in ("0", "1"):
        text += counter("requests_total", START, busy, labels=f'cluster="eu",replica="{replica}"')
    for namespace in ("ours", "theirs"):
        text += counter("tenant_requests_total", START, busy, labels=f'namespace="{namespace}"')
    text += counter("quiet_requests_total", START, [0.0] * 60)
    text += _resetting("reset_total")
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), text) as url:
        yield url


def _resetting(name: str) -> str:
    """A counter of 60 requests a minute that starts again from 0 half-way, as after a restart."""
    first = counter(name, START, [60.0] * 30)
    return first + counter(name, START + timedelta(minutes=31), [60.0] * 29)


@pytest.mark.parametrize("reply", [matrix(), matrix(({}, [(epoch_s(HOUR.end), "NaN")]))], ids=["empty", "one-nan"])
def test_k01_an_empty_vector_is_never_zero(reply: Reply) -> None:
    series = fetched(reply)
    assert len(series) == 60
    assert np.isnan(series.mean).all()
    assert np.isnan(series.peak).all()


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-1", "-9223372036854775808"])
def test_k01_nan_infinities_and_negatives_are_never_load(value: str) -> None:
    assert np.isnan(fetched(steady(value)).mean).all()


def test_k03_a_server_that_was_never_there_fails_when_asked_and_not_when_opened() -> None:
    with opened(f"http://127.0.0.1:{free_port()}", attempts=1) as source:
        for _ in range(2):
            with pytest.raises(SourceUnavailable, match="cannot be reached"):
                source.fetch(QUERY, HOUR, 60)
        with pytest.raises(SourceUnavailable, match="cannot be reached"):
            source.probe(QUERY, HOUR.end)


def test_k04_a_range_over_the_servers_limit_is_cut_and_stitched(shared: str) -> None:
    window = Window(start=START, end=START + timedelta(days=14))
    at_once = f"{shared}/api/v1/query_range?query=load&step=60&start={epoch_s(window.start) + 60}&end={epoch_s(window.end)}"
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(at_once)  # noqa: S310  # 20,160 points: the server's limit is real
    with opened(shared) as source:
        series = source.fetch(rpm("load"), window, 60)
    assert series.mean.tolist() == [i % DAY for i in range(14 * DAY)]


def test_k05_a_long_history_is_asked_in_bounded_queries_few_at_a_time_and_a_timeout_is_tried_again() -> None:
    week = Window(start=START, end=START + timedelta(days=7))
    with (
        loopback_prometheus(in_turn(Reply(never=True), ramp)) as double,
        opened(double.url, timeout_s=2, max_points=1_000, concurrent_queries=2) as source,
    ):
        assert source.fetch(QUERY, week, 3_600).measured_ratio == 1
        assert len(double.asked) == 12  # 11 chunks, one of them twice
        assert max(len(asked.stamps) for asked in double.asked) == 1_000
        assert min(int(asked.form["step"]) for asked in double.asked) == 60
        assert double.most_at_once <= 2


def test_k06_copies_of_a_series_are_refused_and_neither_summed_nor_dropped(shared: str) -> None:
    window = Window(start=START + timedelta(minutes=10), end=START + timedelta(minutes=50))
    with opened(shared) as source:
        with pytest.raises(SourceRejected, match=r"2 series that differ in replica \('0', '1'\).*max\(\.\.\.\) where they are copies"):
            source.fetch(rpm("rate(requests_total[5m])", Unit.PER_SECOND), window, 60)
        once = source.fetch(rpm("max(rate(requests_total[5m]))", Unit.PER_SECOND), window, 60)
    np.testing.assert_allclose(once.mean, 60)


def test_k07_a_server_that_keeps_less_than_was_asked_for_gives_what_it_has(shared: str) -> None:
    with opened(shared) as source:
        series = source.fetch(rpm("load"), LAST_28_DAYS, 300)
    assert series.measured_ratio == 0.5
    assert np.isnan(series.mean[: 14 * 288]).all()
    assert not np.isnan(series.mean[14 * 288 :]).any()


def test_k09_a_counter_that_starts_again_is_not_negative_load(shared: str) -> None:
    window = Window(start=START + timedelta(minutes=10), end=START + timedelta(minutes=50))
    with opened(shared) as source:
        series = source.fetch(rpm("sum(rate(reset_total[5m]))", Unit.PER_SECOND), window, 60)
    assert (series.mean > 40).all()
    assert (series.mean < 70).all()


def test_k09_a_repeated_row_counts_once_and_a_late_one_is_seen_at_the_next_fetch(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    rows = [f"{iso(START + timedelta(minutes=i))},{i}" for i in (0, 1, 1, 2, 3, 5, 6)]
    path.write_text("\n".join(["timestamp,value", *rows]))
    source = CsvSource(CsvConfig(type="csv", path=path))
    window = Window(start=START, end=START + timedelta(minutes=7))
    np.testing.assert_array_equal(source.fetch(rpm("value"), window, 60).mean, [0, 1, 2, 3, NAN, 5, 6])
    path.write_text("\n".join(["timestamp,value", *rows, f"{iso(START + timedelta(minutes=4))},4"]))
    np.testing.assert_array_equal(source.fetch(rpm("value"), window, 60).mean, [0, 1, 2, 3, 4, 5, 6])


def test_k09_the_rate_of_an_hour_is_the_mean_of_its_minutes_and_not_their_sum() -> None:
    assert fetched(steady(60), step_s=3_600).mean.tolist() == [60]


def test_l01_zero_by_zero_is_unknown_while_no_requests_are_a_measured_zero(shared: str) -> None:
    window = Window(start=START + timedelta(minutes=10), end=START + timedelta(minutes=20))
    with opened(shared) as source:
        requests = source.fetch(rpm("sum(rate(quiet_requests_total[5m]))", Unit.PER_SECOND), window, 60)
        ratio = source.fetch(rpm("sum(rate(quiet_requests_total[5m])) / sum(rate(quiet_requests_total[5m]))"), window, 60)
        sentence = source.probe(
            rpm("sum(rate(quiet_requests_total[5m])) / sum(rate(quiet_requests_total[5m]))"), START + timedelta(hours=1)
        )
    assert requests.mean.tolist() == [0] * 10
    assert np.isnan(ratio.mean).all()
    assert "NaN, infinite and negative numbers count as not measured" in sentence


@pytest.mark.parametrize(
    "reply",
    [Reply(never=True), failure(500, "panic"), page(502), failure(503, "query timed out", "timeout"), Reply(status=429)],
    ids=["timeout", "500", "502-page", "503", "429"],
)
def test_l02_a_server_in_trouble_is_unavailable_and_no_load_of_zero(reply: Reply) -> None:
    with pytest.raises(SourceUnavailable):
        fetched(reply, timeout_s=0.2, attempts=2)


def test_l03_history_comes_clean(tmp_path: Path) -> None:
    cells = ["5", "inf", "-inf", "-3", "", "nan", "0", "7"]
    path = tmp_path / "load.csv"
    path.write_text("\n".join(["timestamp,value", *(f"{iso(START + timedelta(minutes=i))},{cell}" for i, cell in enumerate(cells))]))
    series = CsvSource(CsvConfig(type="csv", path=path)).fetch(rpm("value"), Window(start=START, end=START + timedelta(minutes=8)), 60)
    np.testing.assert_array_equal(series.mean, [5, NAN, NAN, NAN, NAN, NAN, 0, 7])


def test_l06_a_renamed_metric_is_no_match_and_does_not_read_zero(shared: str) -> None:
    renamed = rpm('sum(rate(vllm:request_success{model_name="gone"}[5m]))', Unit.PER_SECOND)
    with opened(shared) as source:
        assert np.isnan(source.fetch(renamed, HOUR, 60).mean).all()
        with pytest.raises(SourceRejected, match=r"no series that matches .*vllm:request_success.*check the metric's name and its labels"):
            source.probe(renamed, HOUR.end)


def test_l09_load_of_other_tenants_is_not_taken_for_ours(shared: str) -> None:
    window = Window(start=START + timedelta(minutes=10), end=START + timedelta(minutes=50))
    with opened(shared) as source:
        with pytest.raises(SourceRejected, match=r"differ in namespace \('ours', 'theirs'\)"):
            source.fetch(rpm("rate(tenant_requests_total[5m])", Unit.PER_SECOND), window, 60)
        ours = source.fetch(rpm('rate(tenant_requests_total{namespace="ours"}[5m])', Unit.PER_SECOND), window, 60)
    np.testing.assert_allclose(ours.mean, 60)


def test_l09_a_tenant_sees_its_own_load_on_a_server_that_keeps_tenants_apart() -> None:
    def by_tenant(asked: Asked) -> Reply:
        return steady({"a": 1, "b": 2}[asked.headers["X-Scope-OrgID"]])(asked)

    assert fetched(by_tenant, headers={"X-Scope-OrgID": "b"}).mean.tolist() == [2] * 60
