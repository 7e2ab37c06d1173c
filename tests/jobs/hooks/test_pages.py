"""Floors and replicas over HTTP, as KEDA's metrics-api and balancers ask for them."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from connectors.stores.opening import open_store
from forecaster.starts import Start
from forecaster.workload import Mode
from jobs.hooks.desk import Desk
from jobs.hooks.readings import posted, pulled
from jobs.hooks.serve import store_health
from jobs.telemetry.board import Board
from jobs.web.pages import pages
from jobs.web.server import PageServer
from jobs.web.workloads import answer_workloads
from tests.jobs.hooks.desks import MINUTE, Room, posting, workload
from tests.values import NOW

ROOT = Path(__file__).parents[3]


def page(url: str, path: str, method: str = "GET") -> tuple[int, str]:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def asked(url: str, path: str) -> tuple[int, Any]:
    status, body = page(url, path)
    return status, json.loads(body)


@contextmanager
def serving(room: Room) -> Iterator[str]:
    """The pages on a free port, as `forecaster serve` has them."""
    registry = CollectorRegistry()
    board = Board()
    board.ask(lambda: (*pulled(room.desk), *posted(room.desk)))
    registry.register(board)
    app = pages(registry, lambda: store_health(room.desk, room.clock))
    answer_workloads(app, room.desk)
    server = PageServer(app, "127.0.0.1", 0)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def numbers(url: str) -> dict[str, float]:
    """What /metrics says of one pool, by name."""
    families = text_string_to_metric_families(page(url, "/metrics")[1])
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_the_floor_is_a_number_with_the_reason_for_it() -> None:
    room = Room()
    room.post(posting(21, ready=18, pending=2, planned=20, planned_ahead=24, lead_s=600.0))
    room.pass_time(MINUTE)
    with serving(room) as url:
        assert asked(url, "/v1/workloads/chat/floor") == (
            200,
            {
                "workload": "chat",
                "pool": "gpu",
                "floor": 21,
                "hpa_value": 23,
                "source": "decided",
                "why": "decided at 2026-03-02T08:00:00Z",
                "mode": "auto",
                "age_s": 60,
                "planned": 20,
                "planned_ahead": 24,
                "lead_time_s": 600,
            },
        )
        assert page(url, "/v1/workloads/chat/floor", "HEAD")[0] == 200


def test_what_cannot_be_answered_has_a_status_and_a_sentence() -> None:
    room = Room(workloads=(workload(), workload("code", "h100", "l4")))
    with serving(room) as url:
        for path, status, words in (
            ("chatt/floor", 404, "there is no workload 'chatt'"),
            ("chatt/replicas", 404, "there is no workload 'chatt'"),
            ("code/floor", 400, "name one of h100, l4"),
            ("code/floor?pool=a100", 400, "has no pool 'a100'"),
            ("chat/floor", 503, "nothing is known of pool gpu yet"),
        ):
            found, body = asked(url, f"/v1/workloads/{path}")
            assert (found, list(body)) == (status, ["error"])
            assert words in body["error"]


def test_replicas_tell_what_is_ready_on_its_way_and_asked_for() -> None:
    room = Room()
    room.post(posting(6, ready=3, pending=2, queue=7.0, planned=6, planned_ahead=8, lead_s=600.0))
    start = Start(target="recording:chat-gpu", replica="a", requested=NOW - 4 * MINUTE, seen_at=NOW)
    room.store.append_starts([("chat", "gpu", start)])
    room.pass_time(MINUTE)
    with serving(room) as url:
        status, body = asked(url, "/v1/workloads/chat/replicas")
    assert status == 200
    (pool,) = body.pop("pools")
    assert body == {
        "workload": "chat",
        "now": "2026-03-02T08:01:00Z",
        "ready": 3,
        "warming": 2,
        "age_s": 60,
        "queue_depth": 7,
        "cold_start_eta_s": 300,
        "floor": 6,
        "planned": 6,
        "planned_ahead": 8,
    }
    assert {name: pool[name] for name in body if name in pool} == {name: value for name, value in body.items() if name in pool}
    assert (pool["pool"], pool["seen_at"], pool["lead_time_s"], pool["source"]) == ("gpu", "2026-03-02T08:00:00Z", 600, "decided")


def test_what_is_not_known_is_null_and_so_is_a_sum_with_an_unknown_part() -> None:
    room = Room(workloads=(workload("code", "h100", "l4"),))
    room.post(posting(6, ready=3, pending=0), name="code", pool="h100")
    with serving(room) as url:
        _, body = asked(url, "/v1/workloads/code/replicas")
    assert [pool["ready"] for pool in body["pools"]] == [3, None]
    assert [body[name] for name in ("ready", "warming", "age_s", "queue_depth", "floor", "planned")] == [None] * 6


def test_metrics_show_what_is_answered_beside_what_is_decided_and_planned() -> None:
    room = Room(workloads=(workload(mode=Mode.OBSERVE),))
    room.post(posting(30, mode=Mode.OBSERVE, planned=28, planned_ahead=31))
    room.pass_time(MINUTE)
    with serving(room) as url:
        shown = numbers(url)
    assert shown == {
        "forecaster_floor_replicas": 30,
        "forecaster_pull_floor_replicas": 2,
        "forecaster_pull_age_seconds": 60,
        "forecaster_planned_floor_replicas": 28,
        "forecaster_planned_floor_ahead_replicas": 31,
    }


def test_what_is_unknown_is_absent_from_metrics() -> None:
    with serving(Room()) as url:
        assert numbers(url) == {}


def test_health_is_that_the_store_can_be_read_and_shows_when_somebody_last_applied() -> None:
    room = Room()
    with serving(room) as url:
        status, body = asked(url, "/healthz")
        assert (status, body["reason"], body["last_apply"]) == (200, "the store is read; nobody has applied yet", None)
        room.post(posting(3))
        room.pass_time(timedelta(hours=30))
        status, body = asked(url, "/healthz")
        assert (status, body["last_apply_age_s"]) == (200, 30 * 3_600)


def test_l44_when_the_forecaster_is_dead_the_answer_falls_back_step_by_step_to_what_was_there_before() -> None:
    room = Room()
    room.post(posting(12, valid_until=NOW + timedelta(hours=24)))
    told = []
    with serving(room) as url:
        for hours in (0, 1, 23, 25):
            room.clock.sleep_until(NOW + timedelta(hours=hours))
            told.append(asked(url, "/v1/workloads/chat/floor")[1]["floor"])
    assert told == [12, 12, 12, 2]


@pytest.mark.parametrize(
    "fields", [("floor", "hpa_value", "source", "why", "age_s"), ("ready", "warming", "queue_depth", "cold_start_eta_s")]
)
def test_the_documentation_names_the_fields(fields: tuple[str, ...]) -> None:
    text = (ROOT / "docs" / "pull.md").read_text()
    assert all(f"`{name}`" in text for name in fields)


def test_a_desk_asks_the_store_once_a_second_however_many_ask() -> None:
    room = Room()
    room.post(posting(3))
    desk: Desk = room.desk
    assert desk.floor("chat", None).replicas == 3
    room.post(posting(9))
    assert desk.floor("chat", None).replicas == 3
    room.pass_time(timedelta(seconds=1))
    assert desk.floor("chat", None).replicas == 9


def test_a_store_that_cannot_be_read_is_a_failure_everywhere_and_no_floor(tmp_path: Path) -> None:
    file = tmp_path / "forecaster.db"
    store = open_store(f"sqlite:///{file}")
    room = Room(store=store)
    room.post(posting(12))
    with serving(room) as url:
        assert asked(url, "/v1/workloads/chat/floor")[0] == 200
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("DROP TABLE states")
        room.pass_time(MINUTE)
        for path in ("floor", "replicas"):
            status, body = asked(url, f"/v1/workloads/chat/{path}")
            assert (status, list(body)) == (503, ["error"])
        assert asked(url, "/healthz")[0] == 503
        assert numbers(url) == {}
    store.close()
    assert {failed.error for failed in room.failures} == {"StoreError"}
