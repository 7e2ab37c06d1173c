"""Signals of sources: Prometheus tells of this moment, other sources of the last whole minute."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.jobs.levers.stage import Stage
from tests.jobs.world import NOW, write_trace
from tests.loopback_prometheus import Reply, loopback_prometheus
from tests.prometheus import gauge, prometheus_server


def asking(stage: Stage, source: dict[str, Any], query: str) -> None:
    stage.world.config["sources"] |= {"gateway": source}  # type: ignore[operator]  # what world.workload wrote
    stage.tiers["signals"]["p99"] = {"source": "gateway", "query": query}


def test_a_signal_of_prometheus_is_its_newest_sample_and_not_the_last_whole_minute(stage: Stage, tmp_path: Path) -> None:
    seconds = [0.3] * 12 + [9.0] * 3
    text = gauge("gateway_p99_seconds", NOW - timedelta(minutes=1), seconds, step_s=5)
    with prometheus_server(tmp_path, text) as url:
        asking(stage, {"type": "prometheus", "url": url}, "gateway_p99_seconds")
        with stage.process() as process:
            assert [process.tick(at).readings["p99"] for at in range(3)] == [0.3, 9.0, 9.0]
    assert stage.batch == "8"  # two ticks of five seconds after it became slow


def test_a_query_that_matches_nothing_now_is_unknown_and_one_that_is_wrong_is_told(stage: Stage, tmp_path: Path) -> None:
    long_ago = gauge("gateway_p99_seconds", NOW - timedelta(hours=2), [9.0])
    with prometheus_server(tmp_path, long_ago) as url:
        asking(stage, {"type": "prometheus", "url": url}, "gateway_p99_seconds")
        with stage.process() as process:
            assert process.tick(0).pulled.unknown == ("p99",)
        asking(stage, {"type": "prometheus", "url": url}, "gateway_p99_seconds / 0")
        with stage.process() as process:
            assert process.tick(0).pulled.unknown == ("p99",)
        asking(stage, {"type": "prometheus", "url": url}, "rate(")
        with stage.process() as process:
            tick = process.tick(0)
    assert [failed.error for failed in tick.failures] == ["SourceRejected"]
    assert "p99 could not be read: Prometheus at" in tick.failures[0].sentence
    assert stage.batch == "32"


def test_a_source_that_knows_no_instants_answers_of_the_last_whole_minute(stage: Stage) -> None:
    minutes = [(NOW - timedelta(minutes=2), 1.0), (NOW - timedelta(minutes=1), 9.0), (NOW, 1.0)]
    write_trace(stage.world.folder / "p99.csv", minutes)
    asking(stage, {"type": "csv", "path": "p99.csv"}, "value")
    with stage.process() as process:
        assert process.tick(6).readings["p99"] == 9.0  # half a minute later: the minute that began at NOW is not over


def test_a_source_that_does_not_answer_keeps_no_lever_from_acting_on_what_the_engine_says(stage: Stage) -> None:
    with loopback_prometheus(Reply(never=True)) as silent:
        asking(stage, {"type": "prometheus", "url": silent.url}, "gateway_p99_seconds")
        stage.tiers["rules"] += [{"name": "deep", "when": {"signal": "queue", "above": 10, "lasting": None}, "set": {"cache": True}}]
        stage.engine.waiting = 50
        with stage.process() as process:
            first, second = process.tick(0), process.tick(1)
            assert stage.cache == "true"
            assert first.pulled.unknown == second.pulled.unknown == ("p99",)
            told = "p99 could not be read: its source has not answered 'gateway_p99_seconds' within 3 s"
            assert [told in tick.failures[0].sentence for tick in (first, second)] == [True, True]
            assert len(silent.asked) == 1  # and it is not asked again while it owes an answer
