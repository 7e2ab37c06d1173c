"""Promotion on what a real store has kept: refused with what is missing, forced with a reason that is kept, earned."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from forecaster.decision import Ruling, RulingKind
from forecaster.forecast import TrackRecord
from forecaster.series import Floats
from forecaster.starts import Start
from forecaster.units import iso
from forecaster.workload import Mode
from jobs.cli.session import session
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from jobs.standing import rulings_of
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.kept_days import decided, seen_ready, watched_days
from tests.jobs.world import NOW, World, daily_rpm, issued

MIDNIGHT = NOW.replace(hour=0, minute=0)
DAYS = 14
TARGET = "kubernetes-hpa:serving/chat"


def promote(world: World, *arguments: str) -> Ended:
    return forecaster(world.folder, "promote", "chat", "--now", iso(NOW), "--author", "ada", *arguments)


def said(world: World) -> tuple[Ruling, ...]:
    with session(world.path, iso(NOW)) as at:
        return rulings_of(at.fleet.store, "chat", NOW)


def mode_of(world: World) -> Mode:
    with session(world.path, iso(NOW + timedelta(minutes=1))) as at:
        return at.member("chat").workload.policy.mode


def young(world: World) -> None:
    """A workload of which one forecast and one decision are known."""
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        watched_days(fleet, MIDNIGHT, 1, every=timedelta(hours=12))


def grown(world: World) -> None:
    """A workload that was watched for two weeks, whose starts, queue and ready replicas are known."""
    rows = daily_rpm()
    write_loads(world.folder / "load.csv", rows)
    world.workload("chat", mode="observe")
    section = world.config["workloads"][0]  # type: ignore[index]  # the file as it will be written
    section["signals"]["queue_depth"] = {"query": "waiting", "unit": "count"}
    with world.fleet() as fleet:
        forecast_fleet(fleet, MIDNIGHT)
        loads = np.array([count / 5 for at, count in rows if MIDNIGHT - timedelta(days=DAYS) <= at < MIDNIGHT])
        seen_ready(fleet.store, np.ceil(loads / 95), MIDNIGHT)
        decided(fleet.store, foreseen(loads), MIDNIGHT)
        fleet.store.append_forecasts([("chat", replace(issued(fleet, MIDNIGHT), record=record()))])
        started(fleet)


def write_loads(path: Path, rows: list[tuple[datetime, float]]) -> None:
    path.write_text("timestamp,value,waiting\n" + "".join(f"{iso(at)},{count:.1f},0\n" for at, count in rows))


def foreseen(loads: Floats) -> list[int]:
    """The replicas that the next half an hour needs, every quarter of one."""
    ahead = np.append(loads, loads[-3:]).reshape(-1, 3).max(axis=1)
    return [int(replicas) for replicas in np.ceil(np.maximum(ahead[:-1], ahead[1:]) / 100)]


def record() -> TrackRecord:
    return TrackRecord(days=14, pinball=1.0, naive_pinball=2.0, coverage=0.95, drift_log=0.0)


def started(fleet: Fleet) -> None:
    asked = [MIDNIGHT - timedelta(days=1 + i % 10) for i in range(40)]
    starts = [
        Start(target=TARGET, replica=f"chat-{i}", requested=at, seen_at=at, ready=at + timedelta(minutes=4), cold=i % 4 == 0)
        for i, at in enumerate(asked)
    ]
    fleet.store.append_starts([("chat", "gpu", start) for start in starts])


def test_a_young_workload_is_refused_with_each_thing_that_is_missing(world: World) -> None:
    young(world)
    ended = promote(world)
    assert ended.code == 1
    missing = "observed days, lead time of gpu, capacity of gpu, replay"
    assert f"chat is not promoted, missing: {missing}; `--force REASON` promotes it all the same" in ended.err
    assert sum(" missing " in line for line in ended.out.splitlines()) == 4
    assert said(world) == ()
    assert mode_of(world) is Mode.OBSERVE


def test_force_needs_a_reason_and_keeps_it_with_what_was_missing(world: World) -> None:
    young(world)
    assert promote(world, "--force", " ").code == 2
    assert promote(world, "--force", "the launch is tomorrow").code == 0
    (kept,) = said(world)
    assert (kept.kind, kept.author, kept.mode) == (RulingKind.PROMOTE, "ada", Mode.OBSERVE)
    assert kept.reason.startswith("the launch is tomorrow (forced; missing: observed days, ")
    assert mode_of(world) is Mode.AUTO


def test_a_promotion_is_taken_back_and_both_words_stay(world: World) -> None:
    young(world)
    promote(world, "--force", "the launch is tomorrow")
    again = promote(world)
    assert (again.code, "chat is in auto already, promoted from observe by ada" in again.err) == (0, True)
    ended = forecaster(world.folder, "promote", "chat", "--now", iso(NOW + timedelta(seconds=1)), "--undo", "it was moved")
    assert (ended.code, "mode observe from the next apply on" in ended.err) == (0, True)
    assert mode_of(world) is Mode.OBSERVE
    with session(world.path, iso(NOW + timedelta(minutes=1))) as at:
        kinds = [ruling.kind for ruling in rulings_of(at.fleet.store, "chat", at.now)]
    assert kinds == [RulingKind.PROMOTE, RulingKind.DEMOTE]


def test_where_no_promotion_was_in_force_none_is_said_to_be_taken_back(world: World) -> None:
    young(world)
    ended = promote(world, "--undo", "to be sure")
    assert (ended.code, ended.err) == (0, "chat: no promotion was in force; mode observe stays, as configured\n")


def test_a_workload_that_has_earned_it_is_promoted(world: World) -> None:
    grown(world)
    ended = promote(world, "--hpa-target", "0.7")
    assert (ended.code, ended.err) == (0, "chat: auto from the next apply on, earned\n"), ended.out
    assert mode_of(world) is Mode.AUTO


def test_a_workload_that_is_not_there_or_two_wishes_at_once_are_refused(world: World) -> None:
    young(world)
    assert forecaster(world.folder, "promote", "nobody").code == 2
    both = promote(world, "--force", "now", "--undo", "no")
    assert (both.code, "contradict each other" in both.err) == (2, True)
