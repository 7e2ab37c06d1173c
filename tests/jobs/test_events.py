"""Events on their way into the plan: of the configuration, of people, and of files."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from connectors.calendars.written import KEYS
from forecaster.errors import SourceRejected
from forecaster.events import Event, EventEntry
from forecaster.plan import Plan
from forecaster.reasons import Code
from forecaster.series import Signal, Window
from forecaster.units import from_epoch_s
from jobs.calendar_change import Change, floors_during, last_plans
from jobs.calendar_files import read_events
from jobs.config.events import EventSection
from jobs.draft import Draft
from jobs.events import entered_events, known_events
from jobs.fetch import bring, look_up, see
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from jobs.views.review import review_members
from tests.jobs.world import NOW, World

TOMORROW = "2026-03-03"
MINUTE = timedelta(minutes=1)


def wall(hour: int, day: str = TOMORROW) -> datetime:
    return datetime.fromisoformat(f"{day}T{hour:02}:00")


def launch(name: str = "launch", *, first: int = 9, last: int = 18, factor: float = 3.0, workloads: tuple[str, ...] = ()) -> Event:
    return Event(name=name, zone="UTC", start=wall(first), end=wall(last), factor=factor, workloads=workloads)


def enter(fleet: Fleet, event: Event, at: datetime = NOW, *, removed: bool = False) -> None:
    fleet.store.append_events([EventEntry(at=at, author="ada", name=event.name, event=None if removed else event)])


def floor(plan: Plan, hour: int) -> int:
    found = plan.floor_at(wall(hour).replace(tzinfo=NOW.tzinfo))
    assert found is not None
    return found.replicas


def planned(drafts: tuple[Draft, ...], workload: str) -> Plan:
    return next(plan for draft in drafts for plan in draft.plans if plan.workload == workload)


def test_a_launch_reaches_the_plan_of_its_workload_and_goes_from_it_without_a_new_forecast(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        before = planned(plan_fleet(fleet, NOW), "chat")
        enter(fleet, launch(workloads=("chat",)), NOW + MINUTE)
        launched = plan_fleet(fleet, NOW + MINUTE)
        enter(fleet, launch(), NOW + 2 * MINUTE, removed=True)
        removed = planned(plan_fleet(fleet, NOW + 2 * MINUTE), "chat")
    assert floor(before, 12) in range(10, 14)
    assert 2.8 <= floor(planned(launched, "chat"), 12) / floor(before, 12) <= 3.2
    assert [floor(planned(launched, name), hour) for name in ("chat", "code") for hour in (7, 19)] == [
        floor(before, h) for h in (7, 19, 7, 19)
    ]
    assert floor(planned(launched, "code"), 12) == floor(removed, 12) == floor(before, 12)


def test_a_plan_that_an_event_changed_says_so(world: World) -> None:
    world.workload("chat")
    world.config["events"] = [{"name": "launch", "from": f"{TOMORROW}T09:00", "until": f"{TOMORROW}T18:00", "factor": 3}]
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        stored = fleet.store.forecasts("chat", Signal.RPM, Window(start=NOW, end=NOW + MINUTE))
    (told,) = (reason for reason in draft.plans[0].reasons if reason.code is Code.EVENT)
    assert told.detail == "launch: load x 3 from 2026-03-03T09:00:00Z to 2026-03-03T18:00:00Z"
    assert not any(note.code is Code.EVENT for note in stored[0].notes)
    told_peak, kept_peak = (peaks[1].at_level(0.5) for peaks in (draft.outlooks[0].daily_peaks, stored[0].daily_peaks))
    assert told_peak > 2.5 * kept_peak


def test_review_shows_the_forecast_with_its_events_and_names_them(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        shown = [review_members(fleet.store, fleet.members, NOW, events)[0].signals[0].forecast for events in ((), (launch(),))]
    plain, launched = shown
    assert plain is not None
    assert launched is not None
    assert launched.at_level(0.5).max() > 2.5 * plain.at_level(0.5).max()
    assert [note.code for note in launched.notes][-1] is Code.EVENT


def test_models_learn_from_days_without_events(world: World) -> None:
    world.workload("chat")
    world.config["events"] = [{"name": "old", "from": "2026-02-24T09:00", "until": "2026-02-24T18:00", "factor": 3}]
    with world.fleet() as fleet:
        seen = see(fleet, bring(look_up(fleet, Draft(member=fleet.members[0]), NOW), NOW), NOW, known_events(fleet, NOW)).histories[0]
    recent = seen.between(wall(0, "2026-02-20").replace(tzinfo=NOW.tzinfo), NOW)
    left_out = [f"{from_epoch_s(at):%d %H:%M}" for at in recent.times_s()[np.isnan(recent.mean)].tolist()]
    assert (left_out[0], left_out[-1], len(left_out)) == ("24 09:00", "24 17:55", 9 * 12)


def test_an_event_of_the_configuration_outranks_an_entered_one_and_what_comes_later_is_not_known_yet(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        enter(fleet, launch(factor=2.0))
        enter(fleet, launch("later", first=8), NOW + MINUTE)
        assert [entered.author for entered in entered_events(fleet, NOW)] == ["ada"]
        assert [event.name for event in known_events(fleet, NOW + MINUTE)] == ["later", "launch"]
    world.config["events"] = [{"name": "launch", "from": TOMORROW, "until": TOMORROW, "factor": 5}]
    with world.fleet() as fleet:
        (known,) = entered_events(fleet, NOW)
        assert (known.event.factor, known.author) == (5.0, None)


def test_the_change_of_an_event_is_told_over_the_time_in_which_it_is_felt(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        before = last_plans(fleet, NOW)
        enter(fleet, launch(), NOW)
        drafts = plan_fleet(fleet, NOW + MINUTE)
        (change,) = floors_during((launch(),), before, drafts, NOW)
        far = Event(name="far", zone="UTC", start=wall(9, "2026-06-01"), end=wall(18, "2026-06-01"), factor=3.0)
        assert floors_during((far,), before, drafts, NOW) == ()
        assert floors_during((launch(workloads=("other",)),), before, drafts, NOW) == ()
        (unplanned,) = floors_during((launch(),), {}, drafts, NOW)
    assert change.before is not None
    assert change.after >= 2.5 * change.before
    assert change.at >= wall(8).replace(tzinfo=NOW.tzinfo)
    assert unplanned == Change(workload="chat", pool="gpu", before=None, after=change.after, at=change.at)


# files


def test_the_columns_of_a_file_are_the_keys_of_the_configuration() -> None:
    assert set(KEYS) == {field.alias or name for name, field in EventSection.model_fields.items()}


def written(folder: Path, text: str) -> Path:
    path = folder / "events.csv"
    path.write_text(text)
    return path


def test_a_file_says_itself_what_it_does_and_takes_the_rest_from_who_imports_it(tmp_path: Path) -> None:
    rows = "own,2026-12-01,2026-12-01,2,,\nload,2026-12-02,2026-12-02,,rpm=50,code\ngiven,2026-12-03,2026-12-03,,,\n"
    rows = f"name,from,until,factor,load,workloads\n{rows}"
    own, load, given = read_events(written(tmp_path, rows), {"factor": "1.5", "zone": "Europe/Paris", "workloads": ["chat"]})
    assert (own.factor, own.workloads, own.zone) == (2.0, ("chat",), "Europe/Paris")
    assert (load.factor, load.load, load.workloads) == (None, 50.0, ("code",))
    assert (given.factor, given.workloads) == (1.5, ("chat",))


def test_every_bad_line_is_told_with_the_remedy_and_nothing_is_taken(tmp_path: Path) -> None:
    rows = "good,2026-12-01,2026-12-01,2\nbad,noon,2026-12-01,2\ngood,2026-12-05,2026-12-04,0\n,2026-12-05,2026-12-06,2\n"
    rows = f"name,from,until,factor\n{rows}"
    with pytest.raises(SourceRejected) as refused:
        read_events(written(tmp_path, rows), {})
    lines = str(refused.value).replace(f"{tmp_path}/", "").splitlines()
    assert lines == [
        "events.csv:4: the event good stands in line 2 already; give each its own name",
        "events.csv:3: from: a time is written like 2026-12-01T09:00, on the wall clock of its zone, without Z or an offset, got 'noon'",
        "events.csv:4: factor: must be above 0, got '0'",
        "events.csv:5: name: is missing: unique among all events, those of `forecaster calendar add` included: a plan's reasons name it",
        "events.csv: nothing of it was taken",
    ]


def test_a_file_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceRejected, match="holds no event; look whether it is the right file"):
        read_events(written(tmp_path, "name,from,until\n"), {})
