"""The daemon's pages, asked over HTTP as monitoring does."""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from forecaster.errors import ConfigRejected
from jobs.telemetry.metrics import Metrics
from jobs.web.health import Health
from jobs.web.pages import pages
from jobs.web.server import PageServer

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
WELL = Health(ok=True, reason="the last apply succeeded", now=NOW, applied_at=NOW, forecast_at=None)
IPV6 = Path("/proc/net/if_inet6")
LOOPBACKS = [("127.0.0.1", "127.0.0.1"), *([("::1", "[::1]")] if IPV6.exists() and "0" * 31 + "1" in IPV6.read_text() else [])]
UNWELL = Health(ok=False, reason="no apply has succeeded", now=NOW, applied_at=None, forecast_at=None)


class Asked:
    """A server whose health tests set."""

    def __init__(self) -> None:
        self.health = WELL
        self.server = PageServer(pages(Metrics().registry, lambda: self.health), "127.0.0.1", 0)

    def ask(self, path: str, method: str = "GET", accept: str = "*/*") -> tuple[int, str, str]:
        """Status, content type and body."""
        host, port = self.server.url.removeprefix("http://").split(":")
        connection = HTTPConnection(host, int(port), timeout=10)
        try:
            connection.request(method, path, headers={"Accept": accept})
            answer = connection.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
        finally:
            connection.close()


@pytest.fixture
def asked() -> Iterator[Asked]:
    asked = Asked()
    asked.server.start()
    yield asked
    asked.server.stop()


def test_healthz_is_200_while_well_and_503_with_the_reason_otherwise(asked: Asked) -> None:
    status, kind, body = asked.ask("/healthz")
    assert (status, kind) == (200, "application/json")
    assert json.loads(body) == {
        "ok": True,
        "reason": "the last apply succeeded",
        "now": "2026-03-02T08:00:00Z",
        "last_apply": "2026-03-02T08:00:00Z",
        "last_apply_age_s": 0,
        "last_forecast": None,
        "last_forecast_age_s": None,
    }
    asked.health = UNWELL
    status, _, body = asked.ask("/healthz")
    assert status == 503
    assert json.loads(body)["reason"] == "no apply has succeeded"
    assert asked.ask("/healthz", "HEAD")[0] == 503


def test_metrics_are_in_the_format_that_the_scraper_asks_for(asked: Asked) -> None:
    status, kind, body = asked.ask("/metrics")
    assert (status, kind.split(";")[0]) == (200, "text/plain")
    assert "forecaster_build_info" in {family.name for family in text_string_to_metric_families(body)}
    status, kind, body = asked.ask("/metrics", accept="application/openmetrics-text; version=1.0.0")
    assert (status, kind.split(";")[0]) == (200, "application/openmetrics-text")
    assert body.endswith("# EOF\n")


def test_metrics_of_other_libraries_are_not_on_the_page(asked: Asked) -> None:
    families = text_string_to_metric_families(asked.ask("/metrics")[2])
    assert {family.name.split("_")[0] for family in families} == {"forecaster"}


def test_a_page_that_is_not_there_says_which_are_and_what_would_write_is_told_that_nothing_is_written(asked: Asked) -> None:
    status, kind, body = asked.ask("/v1/workload/chat/floor")
    assert (status, kind) == (404, "application/json")
    assert json.loads(body) == {"error": "there is no page /v1/workload/chat/floor; there is: /healthz, /metrics"}
    status, _, body = asked.ask("/metrics", "POST")
    assert (status, json.loads(body)) == (405, {"error": "/metrics answers GET and HEAD, not POST: nothing is changed over HTTP"})


def test_there_is_no_other_page(asked: Asked) -> None:
    assert [asked.ask(path)[0] for path in ("/", "/docs", "/openapi.json", "/redoc")] == [404] * 4
    assert asked.ask("/metrics", "POST")[0] == 405


def test_a_taken_port_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigRejected, match=r"daemon\.port: 127\.0\.0\.1:\d+ cannot be"):
        PageServer(pages(Metrics().registry, lambda: WELL), "127.0.0.1", taken.getsockname()[1])


def test_an_address_that_is_not_ours_is_one_sentence() -> None:
    with pytest.raises(ConfigRejected, match="cannot be listened on"):
        PageServer(pages(Metrics().registry, lambda: WELL), "192.0.2.1", 0)


def test_a_stopped_server_leaves_no_thread_and_no_port(asked: Asked) -> None:
    url = asked.server.url
    asked.ask("/healthz")
    asked.server.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "pages" and thread.is_alive()]
    host, port = url.removeprefix("http://").split(":")
    with socket.create_server((host, int(port))):
        pass


def test_a_server_that_never_started_lets_its_port_go() -> None:
    server = PageServer(pages(Metrics().registry, lambda: WELL), "127.0.0.1", 0)
    host, port = server.url.removeprefix("http://").split(":")
    server.stop()
    with socket.create_server((host, int(port))):
        pass


@pytest.mark.parametrize(("host", "spelled"), LOOPBACKS)
def test_the_url_is_written_as_browsers_want_it(host: str, spelled: str) -> None:
    server = PageServer(pages(Metrics().registry, lambda: WELL), host, 0)
    assert server.url.startswith(f"http://{spelled}:")
    server.stop()
