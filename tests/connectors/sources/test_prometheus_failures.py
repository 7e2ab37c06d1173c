"""The Prometheus source against servers and proxies that fail, refuse, or answer something else."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forecaster.errors import SourceRejected, SourceUnavailable
from tests.connectors.sources.asking import HOUR, QUERY, fetched, opened, ramp
from tests.loopback_prometheus import Asked, Reply, failure, in_turn, loopback_prometheus, page
from tests.services import free_port


def test_a_server_that_comes_back_is_answered_from() -> None:
    assert fetched(in_turn(failure(500, "starting"), Reply(status=502), ramp)).mean.tolist() == list(range(60))


def test_a_server_that_stays_down_is_unavailable_with_its_own_words() -> None:
    with pytest.raises(SourceUnavailable, match=r"\(HTTP 503\) fails: query timed out"):
        fetched(failure(503, "query timed out in expression evaluation", "timeout"), attempts=2)


def test_a_server_that_throttles_is_unavailable() -> None:
    with pytest.raises(SourceUnavailable, match=r"\(HTTP 429\) fails: too many requests"):
        fetched(Reply(status=429, body=b"too many requests\n"), attempts=2)


def test_a_server_that_never_answers_is_unavailable() -> None:
    with pytest.raises(SourceUnavailable, match=r"cannot be reached: no answer within 0\.1 s"):
        fetched(Reply(never=True), timeout_s=0.1)


def test_a_port_where_nobody_listens_is_unavailable_and_named() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with opened(url, attempts=2) as source, pytest.raises(SourceUnavailable, match=f"Prometheus at {url} cannot be reached: .*refused"):
        source.fetch(QUERY, HOUR, 60)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (failure(400, 'unknown function "rat"', "bad_data"), 'refuses .* unknown function "rat"; correct the expression'),
        (failure(422, "many-to-many matching not allowed"), "refuses .* many-to-many matching not allowed"),
        (Reply(status=401, body=b"Unauthorized\n"), "wants other credentials: Unauthorized; set bearer_token"),
        (Reply(status=401), "wants other credentials: no explanation; set bearer_token"),
        (failure(403, "no org id"), "forbids the query: no org id; check what the credentials and the tenant header may read"),
        (
            Reply(status=404, body=b"404 page not found"),
            "has no api/v1/query_range there: 404 page not found; check url and its base path",
        ),
        (page(404), "has no api/v1/query_range there: a web page"),
        (Reply(status=302, headers={"Location": "https://login.example.com/"}), "redirects to https://login.example.com/; set url"),
        (page(), "with a web page; check url"),
        (Reply(body=b""), "with something else than a matrix of numbers; check url"),
        (Reply(body=b"fine"), "with something else than a matrix of numbers"),
        (Reply(body=b'{"status": "success"}'), "with something else than a matrix of numbers"),
        (
            Reply(body=b'{"status":"success","data":{"resultType":"vector","result":[]}}'),
            "with something else than a matrix of numbers",
        ),
        (
            Reply(body=b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"x"]]}]}}'),
            "something else",
        ),
    ],
)
def test_a_refusal_is_one_sentence_with_place_and_remedy(reply: Reply, sentence: str) -> None:
    with pytest.raises(SourceRejected, match=sentence) as refused:
        fetched(reply)
    assert str(refused.value).startswith("Prometheus at http://127.0.0.1:")
    assert "\n" not in str(refused.value)


def test_a_long_explanation_is_cut() -> None:
    with pytest.raises(SourceRejected) as refused:
        fetched(failure(400, "x" * 10_000))
    assert len(str(refused.value)) < 500


def test_a_server_that_takes_no_post_is_asked_by_get_from_then_on() -> None:
    def read_only(asked: Asked) -> Reply:
        return Reply(status=405) if asked.method == "POST" else ramp(asked)

    with loopback_prometheus(read_only) as double, opened(double.url) as source:
        for _ in range(2):
            assert source.fetch(QUERY, HOUR, 60).mean.tolist() == list(range(60))
        assert [asked.method for asked in double.asked] == ["POST", "GET", "GET"]
        assert double.asked[1].form["query"] == QUERY.expression


def test_a_missing_authority_file_is_refused_when_the_source_is_asked_and_not_when_it_is_opened(tmp_path: Path) -> None:
    with opened("https://127.0.0.1", ca_file=tmp_path / "ca.pem") as source, pytest.raises(SourceRejected, match=r"ca_file .*ca\.pem"):
        source.fetch(QUERY, HOUR, 60)


def test_a_source_that_was_closed_is_unavailable() -> None:
    with loopback_prometheus(ramp) as double, opened(double.url) as source:
        source.fetch(QUERY, HOUR, 60)
        source.close()
        with pytest.raises(SourceUnavailable, match="was closed while it was asked"):
            source.fetch(QUERY, HOUR, 60)


def test_a_source_that_is_closed_while_it_waits_is_unavailable() -> None:
    arrived = threading.Event()

    def silent(_: Asked) -> Reply:
        arrived.set()
        return Reply(never=True)

    with loopback_prometheus(silent) as double, ThreadPoolExecutor(1) as pool, opened(double.url, timeout_s=1, attempts=2) as source:
        answer = pool.submit(source.fetch, QUERY, HOUR, 60)
        arrived.wait(timeout=20)
        source.close()
        assert isinstance(answer.exception(), SourceUnavailable)
