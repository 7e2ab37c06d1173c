"""`check` asks every connector, says one finding each, and writes nothing."""

from datetime import timedelta

import pytest

from forecaster.series import Signal, Window
from forecaster.units import floor_to
from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from tests.jobs.checking.findings import found
from tests.jobs.world import DAYS, NOW, World, daily_rpm, write_trace
from tests.loopback_prometheus import failure, in_turn, loopback_prometheus, matrix, steady
from tests.services import free_port


def test_where_all_works_every_connector_is_one_row_and_nothing_is_written(world: World) -> None:
    world.workload("chat", mode="auto")
    path = world.path
    before = {file.name: file.read_bytes() for file in world.folder.iterdir()}
    findings = check_all(path, NOW)
    assert [(one.what, one.where, one.state) for one in findings] == [
        ("configuration", "forecaster.yaml", State.OK),
        ("store", "forecaster.db", State.OK),
        ("query", "chat: rpm", State.OK),
        ("history", "chat: rpm", State.OK),
        ("target", "kubernetes-hpa:serving/chat", State.OK),
        ("policy", "chat", State.OK),
    ]
    assert {file.name: file.read_bytes() for file in world.folder.iterdir()} == before
    assert world.api.writes == ()


def test_one_broken_workload_hides_no_other(world: World) -> None:
    world.workload("chat")
    world.workload("gone", trace="absent.csv")
    world.workload("code")
    world.api.delete_hpa("serving", "code")
    assert found(world, "query", "chat").state is State.OK
    assert "absent.csv cannot be read" in found(world, "query", "gone").sentence
    assert found(world, "target", "serving/gone").state is State.OK
    assert found(world, "query", "code").state is State.OK
    assert found(world, "target", "serving/code").state is State.FAILED


def test_a_configuration_with_faults_is_a_row_each(world: World) -> None:
    world.workload("chat", levl=0.9, hold="soon")
    findings = check_all(world.path, NOW)
    assert {(one.what, one.state) for one in findings} == {("configuration", State.FAILED)}
    assert len(findings) == 2


def test_a_fleet_without_workloads_and_a_source_without_readers_are_told(world: World) -> None:
    world.config = {"sources": {"idle": {"type": "csv", "path": "load.csv"}}}
    assert found(world, "configuration").state is State.WARNING
    assert found(world, "source", "idle").sentence == "no workload reads from it, so it was not asked"


def test_questions_on_what_a_task_takes_are_asked_and_fail_nothing(world: World) -> None:
    world.workload("chat")
    world.config["workloads"][0]["task"] = {"calls": {"query": "value"}, "retries": {"query": "retried"}, "rounds": 2}  # type: ignore[index]  # the file as it will be written
    assert found(world, "query", "task.calls").state is State.OK
    assert found(world, "query", "task.calls").sentence.startswith("'value' is ")
    missing = found(world, "query", "task.retries")
    assert (missing.state, "retried" in missing.sentence) == (State.WARNING, True)
    assert not [one for one in check_all(world.path, NOW) if "task.rounds" in one.where]


BORROWED = "no forecast is made unless similar older workloads lend their shape, and without one floors stay at the fallback"


class TestHistory:
    def test_k07_less_than_wanted_is_said_and_enough_is_no_alarm(self, world: World) -> None:
        world.workload("chat")
        history = found(world, "history")
        assert history.state is State.OK
        assert history.sentence == f"{DAYS} of the 56 days wanted; more is kept in the store as it comes"

    @pytest.mark.parametrize(
        ("days", "says"),
        [
            (10, "10 of the 56 days wanted: the week's own shape shows after 14, until then forecasts go by the day"),
            (1, "1 of the 56 days wanted: the week's own shape shows after 14, until then forecasts go by the day"),
            (0, f"0 whole days of the 56 wanted: with less than 1 {BORROWED}"),
        ],
    )
    def test_k07_too_little_is_a_warning_with_what_happens_instead(self, world: World, days: int, says: str) -> None:
        start = NOW - timedelta(days=days, hours=1)
        write_trace(world.folder / "load.csv", [row for row in daily_rpm() if row[0] >= start])
        world.workload("chat")
        history = found(world, "history")
        assert (history.state, history.sentence) == (State.WARNING, says)

    def test_what_the_store_has_kept_counts_when_the_source_has_lost_it(self, world: World) -> None:
        world.workload("chat")
        with world.fleet() as fleet:
            end = floor_to(NOW, 300)
            past = fleet.members[0].source.fetch(fleet.members[0].queries[0], Window(start=end - timedelta(days=15), end=end), 300)
            fleet.store.append_history("chat", past)
        write_trace(world.folder / "load.csv", [row for row in daily_rpm() if row[0] >= NOW - timedelta(hours=3)])
        assert found(world, "history").sentence.startswith("15 of the 56 days wanted")

    def test_a_history_kept_at_another_step_is_told_before_a_run_stumbles_over_it(self, world: World) -> None:
        world.workload("chat")
        with world.fleet() as fleet:
            end = floor_to(NOW, 900)
            past = fleet.members[0].source.fetch(fleet.members[0].queries[0], Window(start=end - timedelta(days=1), end=end), 900)
            fleet.store.append_history("chat", past)
            assert past.signal is Signal.RPM
        assert found(world, "history").state is State.FAILED


class TestTargets:
    def test_an_object_is_described_as_it_stands(self, world: World) -> None:
        world.workload("chat")
        world.api.add_workload("serving", "llm", replicas=3, ready=2)
        assert found(world, "target").sentence == "floor 2, ceiling 40, 2 ready; not ours yet"

    def test_an_object_of_ours_says_until_when_and_what_it_was(self, world: World) -> None:
        world.workload("chat")
        marks: dict[str, str | None] = {
            "forecaster/original": "2",
            "forecaster/floor": "5",
            "forecaster/valid-until": "2026-03-03T00:00:00Z",
        }
        world.api.edit("serving", "chat", minReplicas=5, manager="forecaster", annotations=marks)
        target = found(world, "target")
        assert (target.state, target.sentence) == (State.OK, "floor 5, ceiling 40; ours until 2026-03-03T00:00:00Z, original 2")

    def test_a_floor_that_outlived_us_a_pause_and_a_second_writer_are_told(self, world: World) -> None:
        world.workload("chat")
        marks: dict[str, str | None] = {
            "forecaster/original": "2",
            "forecaster/floor": "5",
            "forecaster/valid-until": "2026-03-01T00:00:00Z",
            "forecaster/paused": "hold",
        }
        world.api.edit("serving", "chat", minReplicas=9, manager="argocd", annotations=marks)
        target = found(world, "target")
        assert target.state is State.WARNING
        assert "forecaster/paused says hold" in target.sentence
        assert "argocd wrote the floor after us" in target.sentence
        assert "`forecaster release --expired`" in target.sentence

    def test_a_second_writer_is_told_with_what_to_change(self, world: World) -> None:
        world.workload("chat")
        marks: dict[str, str | None] = {
            "forecaster/original": "2",
            "forecaster/floor": "5",
            "forecaster/valid-until": "2026-03-03T00:00:00Z",
        }
        world.api.edit("serving", "chat", minReplicas=9, manager="argocd-controller", annotations=marks)
        sentence = found(world, "target").sentence
        assert "argocd-controller wrote the floor after us; add to spec.ignoreDifferences of the Argo CD Application" in sentence

    def test_a_floor_that_a_webhook_would_refuse_fails_before_the_first_write(self, world: World) -> None:
        world.workload("chat", mode="auto")
        hpas = {"kind": "HorizontalPodAutoscaler", "api_version": "autoscaling/v2"}
        world.api.define("horizontalpodautoscalers", **hpas, denied=lambda _before, _after: "minReplicas is locked")
        _, permission = (one for one in check_all(world.path, NOW) if one.what == "target")
        assert permission.state is State.FAILED
        assert permission.sentence.startswith("a floor would be refused, as a rehearsal on the API server says")
        assert "minReplicas is locked" in permission.sentence

    def test_an_owner_that_would_write_back_is_named(self, world: World) -> None:
        world.workload("chat")
        world.api.add_hpa("serving", "chat", owner=("ScaledObject", "chat-scaler"))
        target = found(world, "target")
        assert target.state is State.FAILED
        assert "belongs to the KEDA ScaledObject serving/chat-scaler" in target.sentence

    @pytest.mark.parametrize(("mode", "state"), [("auto", State.FAILED), ("review", State.FAILED), ("observe", State.WARNING)])
    def test_a_role_that_may_not_write_is_told_before_the_first_write(self, world: World, mode: str, state: State) -> None:
        world.workload("chat", mode=mode)
        world.api.forbid("patch")
        seen, permission = (one for one in check_all(world.path, NOW) if one.what == "target")
        assert seen.state is State.OK
        assert permission.state is state
        assert "verbs: [patch]" in permission.sentence
        assert world.api.writes == ()

    def test_whether_a_write_is_allowed_may_stay_unknown(self, world: World) -> None:
        world.workload("chat")
        world.api.fail_next(404, verb="create")
        _, permission = (one for one in check_all(world.path, NOW) if one.what == "target")
        assert permission.state is State.WARNING
        assert permission.sentence.startswith("whether it may be written is unknown")


class TestQueries:
    def checked(self, world: World, url: str) -> list[Finding]:
        world.config = {
            "sources": {"prom": {"type": "prometheus", "url": url, "attempts": 1, "timeout_s": 2}},
            "workloads": [
                {
                    "name": "chat",
                    "source": "prom",
                    "signals": {"rpm": {"query": "requests", "unit": "per_second"}},
                    "pools": [{"name": "gpu", "capacity": {"rpm": 60}, "targets": [{"type": "recording", "name": "chat"}]}],
                }
            ],
        }
        return list(check_all(world.path, NOW))

    def test_a_query_that_is_answered_says_with_what(self, world: World) -> None:
        with loopback_prometheus(steady(2.0)) as prometheus:
            _, _, query, history, *_ = self.checked(world, prometheus.url)
        assert query.state is State.OK
        assert "the last 120 requests/min" in query.sentence
        assert history.sentence == "56 of the 56 days wanted"

    def test_a_query_that_never_matched_fails_and_its_history_is_not_asked(self, world: World) -> None:
        with loopback_prometheus(matrix()) as prometheus:
            findings = self.checked(world, prometheus.url)
        assert [(one.what, one.state) for one in findings[2:]] == [
            ("query", State.FAILED),
            ("target", State.OK),
            ("policy", State.OK),
        ]
        assert "no series that matches 'requests'" in findings[2].sentence

    def test_a_query_that_matches_nothing_now_is_a_warning(self, world: World) -> None:
        with loopback_prometheus(in_turn(matrix(), steady(2.0), matrix())) as prometheus:
            _, _, query, *_ = self.checked(world, prometheus.url)
        assert query.state is State.WARNING
        assert "its load is unknown now" in query.sentence

    def test_two_series_and_a_server_that_refuses_are_failures_with_a_remedy(self, world: World) -> None:
        two = matrix(({"pod": "a"}, [(NOW.timestamp(), 1)]), ({"pod": "b"}, [(NOW.timestamp(), 1)]))
        with loopback_prometheus(two) as prometheus:
            assert "sum(...)" in self.checked(world, prometheus.url)[2].sentence
        with loopback_prometheus(failure(401, "who are you")) as prometheus:
            assert self.checked(world, prometheus.url)[2].state is State.FAILED
        assert "cannot be reached" in self.checked(world, f"http://127.0.0.1:{free_port()}")[2].sentence

    def test_a_source_that_is_down_is_said_once_for_all_workloads_and_nothing_that_it_has_is_ok(self, world: World) -> None:
        for name in ("chat", "code", "mail"):
            world.workload(name)
        with loopback_prometheus(failure(503, "overloaded")) as prometheus:
            world.config["sources"] = {"prometheus": {"type": "prometheus", "url": prometheus.url}}
            workloads = world.config["workloads"]
            assert isinstance(workloads, list)
            for workload in workloads:
                workload["source"] = "prometheus"
            findings = check_all(world.path, NOW)
        (silent,) = [one for one in findings if "overloaded" in one.sentence]
        assert (silent.what, silent.where, silent.state) == ("source", "prometheus", State.FAILED)
        assert silent.sentence.endswith("; until it answers, load, history and presets are unknown of chat, code, mail")
        assert {one.what for one in findings if one.state is State.OK} == {"configuration", "store", "target", "policy"}

    def test_a_few_questions_find_how_far_back_load_goes(self, world: World) -> None:
        with loopback_prometheus(steady(2.0)) as prometheus:
            self.checked(world, prometheus.url)
            assert len(prometheus.asked) < 10
