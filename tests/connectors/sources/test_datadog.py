"""The Datadog source against a double by its public schema: spans, rollups, several series, keys and rate limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from connectors.sources.datadog import DatadogConfig, DatadogSource
from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.ports import Query, Unit
from forecaster.series import Series, Signal, Window
from forecaster.units import epoch_s
from tests.loopback_datadog import API_KEY, APPLICATION_KEY, errors, holding, line, series
from tests.loopback_prometheus import Asked, Behaviour, Reply, in_turn, loopback_prometheus, page
from tests.services import free_port

START = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = Window(start=START, end=START + timedelta(hours=1))
ALL = "sum:requests{service:llm}.as_count().rollup(sum, 60)"
NAN = float("nan")


def asking(expression: str = ALL) -> Query:
    return Query(signal=Signal.RPM, expression=expression, unit=Unit.COUNT)


@contextmanager
def opened(url: str, **settings: Any) -> Iterator[DatadogSource]:
    document = {"type": "datadog", "api_key": API_KEY, "application_key": APPLICATION_KEY, "url": url, "retry_wait_s": 0, **settings}
    source = DatadogSource(DatadogConfig.model_validate(document))
    try:
        yield source
    finally:
        source.close()


def fetched(behaviour: Behaviour | Reply, window: Window = HOUR, step_s: int = 60, query: Query | None = None, **settings: Any) -> Series:
    with loopback_prometheus(behaviour) as double, opened(double.url, **settings) as source:
        return source.fetch(query or asking(), window, step_s)


def ramp(asked: Asked) -> Reply:
    """For each minute of the span, the minutes from START to its start."""
    return series(line([(at, (at - epoch_s(START)) / 60) for at in range(int(asked.form["from"]), int(asked.form["to"]), 60)]))


class TestPoints:
    def test_null_and_absent_points_are_not_measured_and_zero_is(self) -> None:
        points = [(epoch_s(START) + 60 * i, value) for i, value in ((0, 5.0), (1, None), (3, 0.0))]
        np.testing.assert_array_equal(fetched(series(line(points))).mean[:5], [5, NAN, NAN, 0, NAN])

    def test_k04_a_long_window_is_cut_so_that_minutes_stay_minutes(self) -> None:
        week = [float(i) for i in range(7 * 1_440)]
        window = Window(start=START, end=START + timedelta(days=7))
        with loopback_prometheus(holding(START, {"requests": week})) as double, opened(double.url) as source:
            assert source.fetch(asking(), window, 60).mean.tolist() == week
            assert len(double.asked) == 7

    def test_the_grain_is_that_of_the_rollup(self) -> None:
        fives = asking("sum:requests{*}.as_count().rollup(sum, 300)")
        points = [(epoch_s(START) + 300 * i, 500.0) for i in range(12)]
        assert fetched(series(line(points, interval=300)), query=fives).mean.tolist() == [100] * 60

    def test_points_that_may_still_grow_are_not_measured(self) -> None:
        with loopback_prometheus(ramp) as double, opened(double.url, delay_s=1e9) as source:
            assert np.isnan(source.fetch(asking(), HOUR, 60).mean).all()

    def test_points_at_a_coarser_interval_than_asked_for_are_refused(self) -> None:
        with pytest.raises(SourceRejected, match=r"every 300 s in place of 60; let the whole query end in \.rollup\(sum, 60\)"):
            fetched(series(line([(epoch_s(START), 500.0)], interval=300)))

    def test_k06_several_series_are_neither_added_nor_dropped(self) -> None:
        with pytest.raises(SourceRejected, match=r"2 series for .* \('model:a', 'model:b'\): leave out `by"):
            fetched(series(line([], scope="model:a"), line([], scope="model:b")))

    def test_series_that_change_tags_from_part_to_part_are_several(self) -> None:
        def renamed(asked: Asked) -> Reply:
            return series(line([(int(asked.form["from"]), 1.0)], scope=f"from:{asked.form['from']}"))

        with pytest.raises(SourceRejected, match="2 series"):
            fetched(renamed, Window(start=START, end=START + timedelta(days=2)))


class TestWhatIsAsked:
    def test_the_span_the_query_and_both_keys(self) -> None:
        with loopback_prometheus(ramp) as double, opened(double.url) as source:
            source.fetch(asking(), HOUR, 60)
        (asked,) = double.asked
        assert (asked.method, asked.path) == ("GET", "/api/v1/query")
        assert asked.form == {"from": str(epoch_s(START)), "to": str(epoch_s(HOUR.end)), "query": ALL}
        assert (asked.headers["DD-API-KEY"], asked.headers["DD-APPLICATION-KEY"]) == (API_KEY, APPLICATION_KEY)

    def test_the_site_is_the_address(self) -> None:
        config = DatadogConfig.model_validate({"type": "datadog", "api_key": "a", "application_key": "b", "site": "datadoghq.eu"})
        assert config.endpoint().base_url == "https://api.datadoghq.eu"

    @pytest.mark.parametrize(
        ("expression", "sentence"),
        [
            ("sum:requests{*}.as_count()", r"holds no \.rollup; write \.rollup\(sum, 60\)"),
            ("sum:requests{*}.rollup(sum)", r"holds no \.rollup"),
            ("sum:a{*}.rollup(sum, 60) + sum:b{*}.rollup(sum, 300)", "rollups of different lengths"),
            ("sum:a{*}.rollup(sum, 20)", "rolls up to 20 s; write whole minutes"),
            ("sum:a{*}.rollup(sum, 0)", "rolls up to 0 s"),
        ],
    )
    def test_a_query_without_one_resolution_is_refused_before_datadog_is_asked(self, expression: str, sentence: str) -> None:
        with loopback_prometheus(ramp) as double, opened(double.url) as source:
            with pytest.raises(SourceRejected, match=sentence):
                source.fetch(asking(expression), HOUR, 60)
            assert not double.asked


class TestRefusals:
    @pytest.mark.parametrize(
        ("reply", "sentence"),
        [
            (errors(403, "Forbidden"), r"\(HTTP 403\) refuses the keys: Forbidden; check api_key, application_key"),
            (errors(401, "Unauthorized"), "refuses the keys: Unauthorized"),
            (errors(400, "Rule 'scope_expr' didn't match"), "refuses .*Rule 'scope_expr' didn't match; correct the expression"),
            (Reply(body=b'{"status": "error", "error": "Invalid query"}'), "refuses .*: Invalid query; correct the expression"),
            (errors(404, "Not found"), "has no api/v1/query there"),
            (Reply(status=302, headers={"Location": "https://app.datadoghq.eu/"}), "redirects to https://app.datadoghq.eu/; check site"),
            (page(), "with a web page; check site"),
            (Reply(body=b"fine"), "something else than time series"),
        ],
    )
    def test_each_is_one_sentence_with_its_remedy(self, reply: Reply, sentence: str) -> None:
        with pytest.raises(SourceRejected, match=sentence) as refused:
            fetched(reply)
        assert str(refused.value).startswith("Datadog at http://127.0.0.1:")
        assert "\n" not in str(refused.value)

    def test_a_server_that_comes_back_is_answered_from(self) -> None:
        assert fetched(in_turn(errors(500, "oops"), ramp)).mean.tolist() == list(range(60))

    def test_a_server_that_stays_down_is_unavailable(self) -> None:
        with pytest.raises(SourceUnavailable, match=r"\(HTTP 503\) fails: maintenance; it is asked again next time"):
            fetched(errors(503, "maintenance"))

    def test_a_port_where_nobody_listens_is_unavailable(self) -> None:
        with opened(f"http://127.0.0.1:{free_port()}", attempts=1) as source, pytest.raises(SourceUnavailable, match="cannot be reached"):
            source.fetch(asking(), HOUR, 60)

    def test_k05_a_spent_rate_limit_is_waited_out(self) -> None:
        limited = errors(
            429, "Too many requests", **{"X-RateLimit-Limit": "300", "X-RateLimit-Period": "3600", "X-RateLimit-Reset": "1800"}
        )
        with loopback_prometheus(limited) as double, opened(double.url, attempts=1) as source:
            for _ in range(3):
                with pytest.raises(SourceUnavailable, match=r"takes no query for another (1800|1799) s: its rate limit is spent"):
                    source.fetch(asking(), HOUR, 60)
            assert len(double.asked) == 1

    def test_a_rate_limit_that_ends_at_once_is_asked_again(self) -> None:
        limited = errors(429, "Too many requests", **{"X-RateLimit-Reset": "0"})
        assert fetched(in_turn(limited, ramp)).mean.tolist() == list(range(60))

    def test_a_source_that_was_closed_is_unavailable(self) -> None:
        with loopback_prometheus(ramp) as double, opened(double.url) as source:
            source.fetch(asking(), HOUR, 60)
            source.close()
            with pytest.raises(SourceUnavailable, match="was closed while it was asked"):
                source.fetch(asking(), HOUR, 60)


class TestProbe:
    def test_a_metric_that_fell_silent_is_told_from_one_that_never_was(self) -> None:
        with loopback_prometheus(holding(START, {"requests": [5.0] * 60})) as double, opened(double.url) as source:
            assert "measured in 60 of the last 60 minutes, the last 5 requests/min" in source.probe(asking(), HOUR.end)
            assert "no point in the last hour, though it did" in source.probe(asking(), START + timedelta(days=2))
            with pytest.raises(SourceRejected, match=r"has no point of .*gone.* in the 7 days before"):
                source.probe(asking("sum:gone{*}.rollup(sum, 60)"), HOUR.end)

    def test_points_without_a_usable_number_are_not_called_silence(self) -> None:
        with loopback_prometheus(holding(START, {"requests": [-5.0] * 60})) as double, opened(double.url) as source:
            assert "without a usable number in the last 60 minutes" in source.probe(asking(), HOUR.end)


def test_the_keys_stand_in_no_message_and_no_repr() -> None:
    def echo(asked: Asked) -> Reply:
        return errors(403, f"unknown key {asked.headers['DD-API-KEY']}")

    with pytest.raises(SourceRejected) as refused:
        fetched(echo)
    config = DatadogConfig.model_validate({"type": "datadog", "api_key": API_KEY, "application_key": APPLICATION_KEY})
    assert not any(key in text for text in (str(refused.value), repr(config)) for key in (API_KEY, APPLICATION_KEY))


@pytest.mark.parametrize(("settings", "sentence"), [({"url": "api.datadoghq.eu"}, "must start with http"), ({"api_key": ""}, "api_key")])
def test_what_cannot_work_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        DatadogConfig.model_validate({"type": "datadog", "api_key": "a", "application_key": "b", **settings})


def test_every_setting_is_documented() -> None:
    for name, field in DatadogConfig.model_fields.items():
        assert name == "type" or (field.description is not None and "efault" in field.description), name
