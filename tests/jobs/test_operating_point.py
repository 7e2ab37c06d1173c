"""Operating points on real stores: chosen from the days that are kept and believed, kept, followed, and chosen again when due."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from connectors.leases.opening import open_lease
from forecaster.capacity import HOW_TO_TELL
from forecaster.decision import CycleRecord
from forecaster.marks import Mark, MarkKind
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.recommendation import Recommendation, Tried
from forecaster.series import Series, Signal, Window
from forecaster.units import iso
from jobs.apply import apply_fleet
from jobs.clock import FixedClock
from jobs.config.reading import read_config
from jobs.daemon.fleets import Fleets
from jobs.daemon.runs import Runs
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from jobs.levels import with_points
from jobs.operating_point import TUNE, Chosen, choose, choose_due
from jobs.recommendations import keep_looks, kept_looks, with_another
from jobs.telemetry.metrics import Metrics
from jobs.telemetry.runs import Diary
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.proof.hpas import pods
from tests.jobs.world import NOW, World

DAY = timedelta(days=1)
MIDNIGHT = NOW.replace(hour=0, minute=0)
CHAT = ("chat", "gpu")


def kept_load(fleet: Fleet, days: int, *, bursts: bool = False, name: str = "chat") -> None:
    """Days of a service with a steep morning and noise, up to last midnight; bursts: ten times the load, at any time, for minutes."""
    rng = np.random.default_rng(3)
    at = np.arange(days * 288)
    hour = at % 288 / 12
    shape = 60 + 540 * np.clip((hour - 7) / 1.5, 0, 1) * np.clip((20 - hour) / 2, 0, 1)
    mean = shape * rng.lognormal(0, 0.08, at.size)
    if bursts:
        mean[rng.choice(at.size, 6 * days, replace=False)] *= 10
    load = Series(signal=Signal.RPM, start=MIDNIGHT - days * DAY, step_s=300, mean=mean, peak=mean * 1.15)
    fleet.store.append_history(name, load)


def chat(world: World, level: object = 0.95) -> None:
    """On a HPA that aims at 60 of the 100 requests a minute that a replica carries; a quick model, since it is not what is tested."""
    world.workload("chat", mode="observe", level=level)
    world.config["forecast"] = {"model": "seasonal_naive"}
    world.api.edit("serving", "chat", metrics=[pods("value", "60")])  # type: ignore[arg-type]  # as kubectl would


def chosen(fleet: Fleet, now: datetime = NOW) -> Chosen:
    (found,) = choose(fleet, kept_looks(fleet.store, fleet.members), now)
    return found


def made(fleet: Fleet, now: datetime = NOW) -> Recommendation:
    found = chosen(fleet, now).made
    assert found is not None
    return found


def point(level: float = 0.8, at: datetime = NOW - DAY) -> Recommendation:
    """As a replay would have left it."""
    pair, now = (
        Tried(level=level, target=0.9, late_ratio=0.0004, replica_hours=800.0, cost_hours=810.0),
        Tried(level=0.95, target=0.6, late_ratio=0.0, replica_hours=1_000.0, cost_hours=1_000.0),
    )
    return Recommendation(
        at=at,
        since=at,
        covers=Window(start=MIDNIGHT - 14 * DAY, end=MIDNIGHT),
        days=14,
        late_limit_ratio=0.001,
        price=None,
        pair=pair,
        as_it_is=now,
        level=level,
        least_late_ratio=0.0,
        aim="HPA serving/chat: value at 60 a replica",
        remedy="kubectl -n serving patch hpa chat",
    )


def plans(world: World) -> tuple[Plan, ...]:
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        return draft.plans


def decided(world: World) -> CycleRecord:
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        (cycle,) = apply_fleet(fleet, NOW)
        return cycle.records[0]


def follow(world: World, level: float = 0.8) -> None:
    with world.fleet() as fleet:
        keep_looks(fleet.store, {CHAT: with_another(None, point(level))})


def test_a_choice_is_kept_with_what_it_saves_and_how_its_target_is_set(world: World) -> None:
    chat(world)
    with world.fleet() as fleet:
        kept_load(fleet, 8)
        found = made(fleet)
    assert (found.days, found.covers.start) == (7, MIDNIGHT - 7 * DAY)
    assert (found.as_it_is.level, found.as_it_is.target) == (0.95, 0.6)
    assert found.in_time
    assert found.saved_ratio is not None
    assert found.saved_ratio > 0.1
    assert found.remedy.startswith("kubectl -n serving patch hpa chat --type json -p '")
    with world.fleet() as later:
        (member,) = with_points(later.store, later.members, NOW)
        assert member.points == {"gpu": found}
        assert with_points(later.store, later.members, NOW - DAY)[0].points == {}


def test_the_next_choice_is_added_and_a_pair_that_stands_keeps_its_date(world: World) -> None:
    chat(world)
    with world.fleet() as fleet:
        kept_load(fleet, 8)
        first, second = made(fleet), made(fleet, NOW + timedelta(hours=1))
        kept = kept_looks(fleet.store, fleet.members)[CHAT]
    assert second.pair == first.pair
    assert (second.since, second.at) == (first.at, NOW + timedelta(hours=1))
    assert kept.made == (first, second)


@pytest.mark.parametrize("days", [0, 7])
def test_too_little_history_is_said_and_nothing_is_recommended(world: World, days: int) -> None:
    chat(world)
    with world.fleet() as fleet:
        if days:
            kept_load(fleet, days)
        found = chosen(fleet)
        assert with_points(fleet.store, fleet.members, NOW)[0].points == {}
    assert found.made is None
    told = f"{max(0, days - 1)} whole days of rpm are measured and believed behind the first one, and a choice takes 7"
    assert found.looked.missing == f"too little history: {told}"


@pytest.mark.parametrize(("kind", "counted"), [(MarkKind.MANUAL, 6), (MarkKind.OUTAGE, 6), (MarkKind.CENSORED, 6)])
def test_days_that_overlap_a_mark_of_what_was_no_demand_do_not_count(world: World, kind: MarkKind, counted: int) -> None:
    chat(world)
    lied = Window(start=MIDNIGHT - 3 * DAY - timedelta(hours=1), end=MIDNIGHT - 3 * DAY + timedelta(hours=1))
    with world.fleet() as fleet:
        kept_load(fleet, 9)
        fleet.store.append_marks("chat", [Mark(kind=kind, span=lied, signal=Signal.RPM, at=NOW - DAY, author="ada")])
        assert f"{counted} whole days" in chosen(fleet).looked.missing


def test_a_short_gap_or_a_level_that_moved_costs_no_day(world: World) -> None:
    chat(world)
    moved = Window(start=MIDNIGHT - 5 * DAY, end=MIDNIGHT - 2 * DAY)
    short = Window(start=MIDNIGHT - DAY, end=MIDNIGHT - DAY + timedelta(minutes=20))
    said = [
        Mark(kind=kind, span=span, signal=Signal.RPM, at=NOW - DAY) for kind, span in ((MarkKind.LEVEL_SHIFT, moved), (MarkKind.GAP, short))
    ]
    with world.fleet() as fleet:
        kept_load(fleet, 8)
        fleet.store.append_marks("chat", said)
        assert made(fleet).days == 7


def test_a_limit_that_no_pair_keeps_is_said_with_the_least_lateness(world: World) -> None:
    chat(world)
    with world.fleet() as fleet:
        kept_load(fleet, 8, bursts=True)
        found = made(fleet)
    assert not found.in_time
    assert found.least_late_ratio > 0.001
    assert f"; no pair keeps late requests within 0.10%, the least is {found.least_late_ratio:.2%}" in found.told


def test_with_both_prices_the_least_cost_is_chosen_at_the_newsvendors_ratio(world: World) -> None:
    chat(world)
    world.config["prices"] = {"currency": "EUR", "gpu_hour": 3.0, "late_request": 0.01}
    with world.fleet() as fleet:
        kept_load(fleet, 8)
        found = made(fleet)
    assert found.price == pytest.approx(0.01 * 100 * 60 / 3.0)
    assert " cost than as it is" in found.told


def test_a_pool_without_a_capacity_is_told_so(world: World) -> None:
    chat(world)
    world.config["workloads"][0]["pools"][0]["capacity"] = {}  # type: ignore[index]  # the file as it will be written
    with world.fleet() as fleet:
        assert chosen(fleet).looked.missing == f"pool gpu has no capacity for its load: {HOW_TO_TELL}"


def test_level_auto_plans_at_the_default_until_there_is_a_choice_and_then_at_it_with_the_reason(world: World) -> None:
    chat(world, level="auto")
    (before,) = plans(world)
    assert before.demand is not None
    assert (before.demand.level, [r.code for r in before.reasons if r.code is Code.OPERATING_POINT]) == (0.95, [])
    follow(world)
    (after,) = plans(world)
    assert after.demand is not None
    assert after.demand.level == 0.8
    (reason,) = (r for r in after.reasons if r.code is Code.OPERATING_POINT)
    assert reason.detail.startswith("level auto is P80; recommended since 2026-03-01: P80 and HPA target 90%, by replay of 14 days")


def test_every_decision_at_a_chosen_level_says_so(world: World) -> None:
    chat(world, level="auto")
    follow(world)
    assert Code.OPERATING_POINT in {reason.code for reason in decided(world).decision.reasons}


def test_a_level_that_a_person_set_stays(world: World) -> None:
    chat(world, level=0.9)
    follow(world)
    (plan,) = plans(world)
    assert plan.demand is not None
    assert plan.demand.level == 0.9
    assert not [r for r in plan.reasons if r.code is Code.OPERATING_POINT]


def test_workloads_are_chosen_for_in_turns_and_the_log_is_no_failure(world: World) -> None:
    for name in ("a", "b", "c"):
        world.workload(name, mode="observe")
    world.config["operating_point"] = {"workloads": 2}
    with world.fleet() as fleet:
        turns = [[each.name[0] for each in choose_due(fleet, NOW + i * timedelta(hours=1))] for i in range(3)]
        again = [each.name[0] for each in choose_due(fleet, NOW + DAY)]
    assert turns == [["a", "b"], ["c"], []]
    assert again == ["a", "b"]


def test_no_workloads_means_that_only_a_person_asks(world: World) -> None:
    world.workload("a", mode="observe")
    with world.fleet() as fleet:
        assert fleet.rules.workloads == 0
        assert choose_due(fleet, NOW) == ()


def test_a_choice_is_due_again_after_a_week(world: World) -> None:
    chat(world)
    with world.fleet() as opened:
        fleet = replace(opened, rules=replace(opened.rules, workloads=5))
        keep_looks(fleet.store, {CHAT: with_another(None, replace(point(at=NOW), days=28))})
        assert choose_due(fleet, NOW + timedelta(days=6.9)) == ()
        assert len(choose_due(fleet, NOW + timedelta(days=7))) == 1


def command(world: World, *arguments: str) -> Ended:
    world.path  # noqa: B018  the file is written when it is asked for
    return forecaster(world.folder, *arguments, "--now", iso(NOW))


def test_tune_prints_the_pair_what_is_near_it_and_the_patch(world: World) -> None:
    chat(world)
    with world.fleet() as fleet:
        kept_load(fleet, 8)
    ended = command(world, "tune", "chat")
    assert ended.code == 0, ended.err
    assert "recommended" in ended.out
    assert "as it is: HPA serving/chat: value at 60 a replica" in ended.out
    assert "kubectl -n serving patch hpa chat --type json" in ended.out
    printed = command(world, "export", "hpa", "chat")
    assert (printed.code, "averageValue: '60'" in printed.out) == (0, False)
    assert printed.out.startswith("# kubectl patch hpa chat -n serving --type merge --patch-file FILE\n")
    assert world.api.writes == ()


def test_tune_without_enough_history_fails_with_the_sentence(world: World) -> None:
    chat(world)
    ended = command(world, "tune")
    assert (ended.code, "chat/gpu: too little history" in ended.err) == (1, True)
    none = command(world, "export", "hpa", "chat")
    assert (none.code, "no target is recommended yet; run `forecaster tune chat`" in none.err) == (1, True)
    assert command(world, "export", "hpa").code == 2


def test_review_explain_and_status_show_what_is_recommended(world: World) -> None:
    chat(world)
    decided(world)
    follow(world)
    told = "P80 and HPA target 90%, by replay of 14 days to 2026-03-01: 20.0% fewer replica-hours than as it is (P95 and HPA target 60%)"
    for arguments in (("review", "chat"), ("status",)):
        assert told in command(world, *arguments).out
    explained = command(world, "explain", "chat", "--json").out
    assert '"how_to_set_target": "kubectl -n serving patch hpa chat"' in explained
    assert '"operating_points": {' in command(world, "status", "--json").out


def looked_at(world: World) -> datetime | None:
    with world.fleet() as fleet:
        looked = kept_looks(fleet.store, fleet.members).get(CHAT)
        return None if looked is None else looked.at


def test_a_forecast_of_cron_is_followed_by_a_choice(world: World) -> None:
    chat(world)
    assert (command(world, "forecast").code, looked_at(world)) == (0, None)
    world.config |= {"operating_point": {"workloads": 1}, "forecast": {"model": "seasonal_naive", "history": "5d"}}
    assert (command(world, "forecast").code, looked_at(world)) == (0, NOW)


def test_the_daemon_chooses_unless_another_process_does(world: World) -> None:
    chat(world)
    world.config["operating_point"] = {"workloads": 1}
    fleets = Fleets(world.folder, read_config(world.path), NOW)
    runs = Runs(fleets, FixedClock(NOW), Metrics(), Diary(NOW))
    other = open_lease(f"sqlite:///{world.folder}/forecaster.db", TUNE)
    assert other.try_acquire()
    runs.choose()
    assert looked_at(world) is None
    other.release()
    runs.choose()
    assert looked_at(world) == NOW
    fleets.close()
