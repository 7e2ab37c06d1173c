"""How the Prometheus source cuts its queries, and what it makes of the numbers."""

import json
import logging
import threading
from datetime import timedelta

import numpy as np
import pytest

from forecaster.errors import SourceRejected, SourceUnavailable
from forecaster.series import Window
from forecaster.units import from_epoch_s
from tests.connectors.sources.asking import HOUR, QUERY, START, fetched, opened, ramp
from tests.loopback_prometheus import Asked, Reply, failure, loopback_prometheus, matrix, steady

NAN = float("nan")


def test_a_window_of_exactly_the_most_points_is_one_query_and_one_more_point_is_two() -> None:
    for points, queries in ((100, 1), (101, 2), (200, 2), (201, 3)):
        window = Window(start=START, end=START + timedelta(minutes=points))
        with loopback_prometheus(ramp) as double, opened(double.url, max_points=100) as source:
            assert source.fetch(QUERY, window, 60).mean.tolist() == list(range(points))
            assert len(double.asked) == queries
            assert all(len(asked.stamps) <= 100 for asked in double.asked)


def test_samples_are_asked_at_the_ends_of_the_minutes() -> None:
    with loopback_prometheus(ramp) as double, opened(double.url) as source:
        source.fetch(QUERY, Window(start=START, end=START + timedelta(minutes=5)), 300)
        assert [from_epoch_s(at) - START for at in double.asked[0].stamps] == [timedelta(minutes=i) for i in range(1, 6)]


def test_queries_run_side_by_side_but_no_more_than_allowed() -> None:
    together = threading.Barrier(3)

    def in_threes(asked: Asked) -> Reply:
        together.wait(timeout=20)  # nobody is answered before three are in flight: a lone query would break it
        return ramp(asked)

    with loopback_prometheus(in_threes) as double, opened(double.url, max_points=10, concurrent_queries=3) as source:
        assert source.fetch(QUERY, Window(start=START, end=START + timedelta(minutes=120)), 60).mean.tolist() == list(range(120))
        assert len(double.asked) == 12
        assert double.most_at_once == 3


def test_one_chunk_that_fails_fails_the_fetch() -> None:
    def broken(asked: Asked) -> Reply:
        return failure(400, "no") if asked.stamps[0] > START.timestamp() + 3_000 else ramp(asked)

    with pytest.raises(SourceRejected):
        fetched(broken, max_points=10)


def test_series_that_change_labels_from_chunk_to_chunk_are_two() -> None:
    def renamed(asked: Asked) -> Reply:
        return steady(1, pod="new" if asked.stamps[0] > START.timestamp() + 1_800 else "old")(asked)

    with pytest.raises(SourceRejected, match=r"2 series that differ in pod \('new', 'old'\)"):
        fetched(renamed, max_points=10)


def test_a_chunk_over_the_servers_own_resolution_is_halved() -> None:
    said = "exceeded maximum resolution of 40 points per timeseries. Try decreasing the query resolution (?step=XX)"

    def narrow(asked: Asked) -> Reply:
        return failure(400, said, "bad_data") if len(asked.stamps) > 40 else ramp(asked)

    assert fetched(narrow).mean.tolist() == list(range(60))


def test_a_server_that_finds_every_chunk_too_large_is_not_asked_for_ever() -> None:
    with (
        loopback_prometheus(failure(422, "query processing would load too many samples into memory")) as double,
        opened(double.url) as source,
    ):
        with pytest.raises(SourceRejected, match="too heavy"):
            source.fetch(QUERY, HOUR, 60)
        assert len(double.asked) == 3


def test_the_server_is_told_to_give_up_when_we_do() -> None:
    with loopback_prometheus(ramp) as double, opened(double.url, timeout_s=2.5) as source:
        source.fetch(QUERY, HOUR, 60)
        assert double.asked[0].form["timeout"] == "2500ms"


def test_nan_infinities_and_negatives_are_not_measured() -> None:
    values = ["1", "NaN", "+Inf", "-Inf", "-0.5", "0"]

    def odd(asked: Asked) -> Reply:
        return matrix(({}, list(zip(asked.stamps, values, strict=True))))

    series = fetched(odd, Window(start=START, end=START + timedelta(minutes=6)))
    np.testing.assert_array_equal(series.mean, [1, NAN, NAN, NAN, NAN, 0])


def test_absent_samples_are_not_measured() -> None:
    def sparse(asked: Asked) -> Reply:
        return matrix(({}, [(at, 7) for at in asked.stamps if at % 120 == 0]))

    np.testing.assert_array_equal(fetched(sparse, Window(start=START, end=START + timedelta(minutes=4))).mean, [NAN, 7, NAN, 7])


def test_samples_that_were_not_asked_for_are_ignored() -> None:
    def talkative(asked: Asked) -> Reply:
        return matrix(({}, [(asked.stamps[0] - 60, 1), (asked.stamps[0], 2), (asked.stamps[0] + 7.5, 3), (asked.stamps[-1] + 60, 4)]))

    np.testing.assert_array_equal(fetched(talkative, Window(start=START, end=START + timedelta(minutes=2))).mean, [2, NAN])


def test_an_empty_vector_is_unknown_and_not_zero() -> None:
    assert np.isnan(fetched(matrix()).mean).all()


def test_histograms_are_refused() -> None:
    with pytest.raises(SourceRejected, match="histogram_count"):
        fetched(matrix(({}, [])))


def of_part(asked: Asked) -> Reply:
    return matrix(({}, [(at, 1) for at in asked.stamps]), warnings=["store gateway 3 was unreachable"])


def test_k02_an_answer_of_which_parts_are_missing_is_no_low_load() -> None:
    with pytest.raises(SourceUnavailable, match=r"in part only: store gateway 3 was unreachable; .*accept_partial"):
        fetched(of_part)


def test_an_answer_that_is_marked_as_partial_is_no_low_load() -> None:
    def of_half(asked: Asked) -> Reply:
        whole = json.loads(steady(1)(asked).body)
        return Reply(body=json.dumps({**whole, "isPartial": True}).encode())

    with pytest.raises(SourceUnavailable, match="in part only: the answer is marked as partial"):
        fetched(of_half)


def test_partial_answers_count_where_that_was_accepted_and_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert fetched(of_part, accept_partial=True).mean.tolist() == [1] * 60
    assert "store gateway 3 was unreachable" in caplog.text


def test_warnings_on_the_expression_are_logged_and_raise_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def doubtful(asked: Asked) -> Reply:
        said = "PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket"
        return matrix(({}, [(at, 1) for at in asked.stamps]), warnings=[said])

    with caplog.at_level(logging.WARNING):
        assert fetched(doubtful).mean.tolist() == [1] * 60
    assert "might not be a counter" in caplog.text


def test_further_parameters_go_with_every_query() -> None:
    with loopback_prometheus(ramp) as double, opened(double.url, max_points=30, parameters={"partial_response": "false"}) as source:
        source.fetch(QUERY, HOUR, 60)
        assert [asked.form["partial_response"] for asked in double.asked] == ["false", "false"]
