"""Both halves of the line on real connectors: what a fleet sees of them."""

from datetime import timedelta

from forecaster.decision import Paused, Ruling, RulingKind
from forecaster.reasons import Code
from forecaster.series import Signal, Window
from jobs.apply import apply_fleet
from jobs.draft import Draft
from jobs.forecast import forecast_fleet
from jobs.release import release_members
from jobs.standing import judged_plans
from tests.jobs.world import NOW, World, daily_rpm, write_trace

MINUTE = timedelta(minutes=1)


def drafted(world: World) -> tuple[Draft, ...]:
    with world.fleet() as fleet:
        return forecast_fleet(fleet, NOW)


def test_the_floor_is_raised_ahead_of_the_ramp(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        drafts = forecast_fleet(fleet, NOW)
        assert [draft.problems for draft in drafts] == [()]
        apply_fleet(fleet, NOW)
        early = world.floor("chat")
        apply_fleet(fleet, NOW + 60 * MINUTE)
    # at 07:30 the load is 325 a minute and 10 minutes later 400: four replicas and a margin; at 08:30 it is 775, soon 850
    assert 4 <= early <= 8
    assert 8 <= world.floor("chat") <= 13


def test_two_applies_with_equal_input_write_once(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        writes = len(world.api.writes)
        apply_fleet(fleet, NOW)
        assert len(world.api.writes) == writes == 1


def test_k47_observe_and_a_dry_run_write_nothing_and_show_the_very_plan_of_auto(world: World) -> None:
    world.workload("watched", mode="observe")
    world.workload("run")
    with world.fleet() as fleet:
        watched, run = forecast_fleet(fleet, NOW)
        cycles = {cycle.workload: cycle for cycle in apply_fleet(fleet, NOW)}
    assert [(f.start, f.until, f.replicas) for f in watched.plans[0].floors] == [
        (f.start, f.until, f.replicas) for f in run.plans[0].floors
    ]
    assert cycles["watched"].records[0].decision.floor == cycles["run"].records[0].decision.floor
    assert (world.floor("watched"), "would go" in cycles["watched"].records[0].sentence) == (2, True)
    writes = len(world.api.writes)
    with world.fleet(rehearse="all") as fleet:
        dry = {cycle.workload: cycle for cycle in apply_fleet(fleet, NOW + 60 * MINUTE)}
    assert len(world.api.writes) == writes
    with world.fleet() as fleet:
        real = {cycle.workload: cycle for cycle in apply_fleet(fleet, NOW + 60 * MINUTE)}
    assert dry["run"].records[0].decision.floor == real["run"].records[0].decision.floor


def test_one_broken_workload_never_stops_another(world: World) -> None:
    world.workload("broken", trace="missing.csv")
    world.workload("gone")
    world.workload("chat")
    world.api.delete_hpa("serving", "gone")
    with world.fleet() as fleet:
        broken, _, chat = forecast_fleet(fleet, NOW)
        cycles = apply_fleet(fleet, NOW)
    assert "missing.csv" in broken.problems[0]
    assert not chat.problems
    assert world.floor("chat") >= 4
    assert [bool(cycle.problems) for cycle in cycles] == [True, True, False]


def test_a_workload_whose_step_was_changed_is_told_and_stops_no_other(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    drafted(world)
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["step"] = "15m"
    chat, code = drafted(world)
    assert "kept in steps of 300 s, not of 900 s" in chat.problems[0]
    assert code.plans


def test_k21_a_restart_in_mid_day_gives_the_same_floor(world: World) -> None:
    world.workload("chat")
    drafted(world)
    floors = []
    for minutes in (0, 0, 20, 20):
        with world.fleet() as fleet:
            apply_fleet(fleet, NOW + minutes * MINUTE)
        floors.append(world.floor("chat"))
    assert floors[0] == floors[1]
    assert floors[2] == floors[3]


def test_k51_a_redeploy_with_the_same_configuration_drops_no_floor(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
    before = world.floor("chat")
    world.api.edit("serving", "chat", manager="argocd-controller", minReplicas=2)
    with world.fleet() as fleet:
        (cycle,) = apply_fleet(fleet, NOW + MINUTE)
    assert world.floor("chat") >= before
    assert any(reason.code is Code.SECOND_WRITER for reason in cycle.records[0].decision.reasons)


def test_k34_drift_by_others_is_asserted_again(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        floor = world.floor("chat")
        world.api.edit("serving", "chat", minReplicas=1)
        apply_fleet(fleet, NOW + MINUTE)
    assert world.floor("chat") == floor


def test_k36_a_target_that_vanishes_and_returns_keeps_its_floor(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        floor = world.floor("chat")
        world.api.delete_hpa("serving", "chat")
        (missing,) = apply_fleet(fleet, NOW + MINUTE)
        world.api.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        apply_fleet(fleet, NOW + 2 * MINUTE)
    assert "serving/chat" in missing.problems[0]
    assert world.floor("chat") >= floor


def test_k33_a_conflict_is_observed_and_decided_once_more(world: World) -> None:
    world.workload("chat")
    drafted(world)
    world.api.fail_next(409, verb="patch")
    with world.fleet() as fleet:
        (cycle,) = apply_fleet(fleet, NOW)
    assert cycle.problems == ()
    assert world.floor("chat") >= 4


def test_k44_a_forbidden_target_is_reported_by_name_and_the_others_go_on(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    drafted(world)
    world.api.fail_next(403, verb="patch")
    with world.fleet() as fleet:
        cycles = apply_fleet(fleet, NOW)
    assert sorted(bool(cycle.problems) for cycle in cycles) == [False, True]
    assert sorted((world.floor("chat") > 2, world.floor("code") > 2)) == [False, True]


def test_k02_a_source_that_goes_away_lowers_nothing_and_history_outlives_it(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
    floor = world.floor("chat")
    (world.folder / "load.csv").unlink()
    night = NOW + timedelta(hours=14)
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, night)
        (cycle,) = apply_fleet(fleet, night)
    assert "older history is used" in draft.problems[0]
    assert draft.plans
    assert world.floor("chat") >= floor
    assert any(reason.code is Code.LOAD_UNKNOWN for reason in cycle.records[0].decision.reasons)


def test_fetching_is_incremental_and_late_samples_are_taken(world: World) -> None:
    world.workload("chat")
    rows = daily_rpm()
    write_trace(world.folder / "load.csv", [row for row in rows if not NOW - timedelta(hours=1) <= row[0] < NOW - timedelta(minutes=30)])
    span = Window(start=NOW - timedelta(hours=2), end=NOW)
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        assert fleet.store.history("chat", Signal.RPM, span, 300).measured_ratio < 1
    write_trace(world.folder / "load.csv", [row for row in rows if row[0] >= NOW - timedelta(hours=3)])  # the old days have gone
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW + 5 * MINUTE)
        assert fleet.store.history("chat", Signal.RPM, span, 300).measured_ratio == 1
        old = Window(start=NOW - timedelta(days=10), end=NOW - timedelta(days=9))
        assert fleet.store.history("chat", Signal.RPM, old, 300).measured_ratio == 1


def test_review_waits_for_a_person_and_close_plans_inherit(world: World) -> None:
    world.workload("chat", mode="review")
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        assert draft.waiting == draft.plans
        apply_fleet(fleet, NOW)
        live_only = world.floor("chat")
        (plan,) = judged_plans(fleet.store, fleet.members[0].workload, None, NOW)
        fleet.store.append_ruling(
            Ruling(at=NOW, workload="chat", kind=RulingKind.APPROVE, author="ada", reason="ok", until=plan.valid_until, plan_id=plan.id)
        )
        apply_fleet(fleet, NOW + MINUTE)
        assert world.floor("chat") > live_only
        (later,) = forecast_fleet(fleet, NOW + 30 * MINUTE)
        assert later.waiting == ()
        words = fleet.store.rulings("chat", Window(start=NOW, end=NOW + timedelta(hours=1)))
    assert [word.author for word in words] == ["ada", "forecaster"]
    assert words[1].until == plan.valid_until


def test_k46_a_pause_by_annotation_is_obeyed_and_a_resume_goes_on(world: World) -> None:
    world.workload("chat")
    drafted(world)
    world.api.edit("serving", "chat", annotations={"forecaster/paused": "hold"})
    with world.fleet() as fleet:
        apply_fleet(fleet, NOW)
        assert world.floor("chat") == 2
        world.api.edit("serving", "chat", annotations={"forecaster/paused": None})
        apply_fleet(fleet, NOW + MINUTE)
        assert world.floor("chat") >= 4


def test_release_puts_the_original_back_and_stays_away_until_resume(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet(rehearse="none") as fleet:
        apply_fleet(fleet, NOW)
        assert world.floor("chat") > 2
        (released,) = release_members(fleet.store, fleet.members, NOW + MINUTE, "ada", "handing back", expired_only=False)
        assert "released" in released.sentence
        assert world.floor("chat") == 2
        assert not any(key.startswith("forecaster/") for key in world.api.annotations("serving", "chat"))
        apply_fleet(fleet, NOW + 2 * MINUTE)
        assert world.floor("chat") == 2
        fleet.store.append_ruling(Ruling(at=NOW + 3 * MINUTE, workload="chat", kind=RulingKind.RESUME, author="ada", reason="on"))
        apply_fleet(fleet, NOW + 4 * MINUTE)
        assert world.floor("chat") > 2


def test_the_watchdog_releases_only_what_has_outlived_its_plan(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet(rehearse="none") as fleet:
        apply_fleet(fleet, NOW)
        floor = world.floor("chat")
        early = release_members(fleet.store, fleet.members, NOW + timedelta(hours=1), "cron", "watchdog", expired_only=True)
        assert (early, world.floor("chat")) == ((), floor)
        late = release_members(fleet.store, fleet.members, NOW + timedelta(days=2), "cron", "watchdog", expired_only=True)
        assert [outcome.failed for outcome in late] == [False]
        assert world.floor("chat") == 2
        assert not fleet.store.rulings("chat", Window(start=NOW, end=NOW + timedelta(days=3)))


def test_records_are_kept_on_change_and_hourly(world: World) -> None:
    world.workload("chat")
    drafted(world)
    midnight = NOW.replace(hour=0, minute=30) + timedelta(days=1)
    with world.fleet() as fleet:
        forecast_fleet(fleet, midnight)
        for minutes in range(0, 130, 10):
            apply_fleet(fleet, midnight + minutes * MINUTE)
        kept = fleet.store.records("chat", Window(start=midnight, end=midnight + timedelta(hours=3)))
    assert 3 <= len(kept) < 13


def test_a_person_pauses_through_the_store(world: World) -> None:
    world.workload("chat")
    drafted(world)
    with world.fleet() as fleet:
        fleet.store.append_ruling(
            Ruling(at=NOW, workload="chat", kind=RulingKind.PAUSE, author="ada", reason="incident", paused=Paused.HOLD)
        )
        (cycle,) = apply_fleet(fleet, NOW)
    assert world.floor("chat") == 2
    assert "paused by a person" in cycle.records[0].sentence
