"""`forecaster calendar`: what a person enters is in the plan when the command ends."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from forecaster.errors import ConfigRejected, SourceRejected
from forecaster.units import iso
from jobs.cli.main import app
from jobs.cli.session import session
from jobs.cli.written_events import event_as_said, refuse_configured, removable
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.world import NOW, World

FROM, UNTIL = "2026-03-02T13:00 Europe/Paris", "2026-03-02T18:00"
Run = Callable[..., Ended]


@pytest.fixture
def run(world: World) -> Run:
    """The command on a fleet of two workloads, `chat` and `code`, in Berlin."""
    for name in ("chat", "code"):
        world.workload(name)
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    for workload in workloads:
        workload |= {"zone": "Europe/Berlin", "calendar": {"country": "DE", "subdivision": "BE"}}
    path = str(world.path)

    def command(*arguments: str, now: datetime = NOW) -> Ended:
        done = CliRunner().invoke(app, [*arguments, "--config", path, "--now", iso(now)], catch_exceptions=False)
        return Ended(code=done.exit_code, out=done.stdout, err=done.stderr)

    return command


def largest(run: Run, workload: str) -> int:
    """The largest floor of the next 24 hours in the plan that is made now."""
    plan = json.loads(run("plan", "--json").out)
    return max(int(row["replicas"]) for row in plan if row["workload"] == workload)


def rows(done: Ended) -> list[list[str]]:
    return [line.split() for line in done.out.splitlines() if line.strip().startswith(("chat", "code"))]


def listed(run: Run) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(run("calendar", "list", "--json").out)
    return found


def test_k18_a_launch_entered_as_a_factor_is_in_the_plan_when_the_command_ends(run: Run) -> None:
    run("forecast")
    plain = largest(run, "chat")
    done = run("calendar", "add", "launch", FROM, UNTIL, "--factor", "3", "--workload", "chat")
    ((workload, pool, before, after, *_),) = rows(done)
    assert (done.code, done.err) == (0, "launch is entered\n")
    assert (workload, pool) == ("chat", "gpu")
    assert 2.5 <= int(after) / int(before) <= 3.2
    assert largest(run, "chat") > plain
    assert largest(run, "code") == plain
    back = run("calendar", "remove", "launch")
    assert [(row[2], row[3]) for row in rows(back)] == [(after, before)]
    assert largest(run, "chat") == plain


def test_an_event_entered_again_takes_the_place_of_the_first(run: Run) -> None:
    run("forecast")
    run("calendar", "add", "launch", FROM, UNTIL, "--factor", "3")
    done = run("calendar", "add", "launch", FROM, UNTIL, "--load", "rpm=1500", "--workload", "code", "--ramp", "30m", "--every", "week")
    assert (done.code, done.err) == (0, "launch is entered; 1 of the same name are replaced\n")
    assert {row[0] for row in rows(done)} == {"chat", "code"}
    assert next(int(row[3]) for row in rows(done) if row[0] == "code") == 15
    (event,) = (row for row in listed(run) if row["kind"] == "event")
    assert event["effect"] == "rpm is 1,500 requests/min, every week"


def test_a_launch_beyond_the_envelope_is_planned_and_waits_for_approval(run: Run) -> None:
    run("run")
    done = run("calendar", "add", "launch", FROM, UNTIL, "--factor", "9", now=NOW + timedelta(minutes=1))
    assert done.code == 3
    assert len(rows(done)) == 2
    assert [line.partition("@")[0] for line in done.err.splitlines()] == [
        "launch is entered",
        "forecaster: chat: chat/gpu",
        "forecaster: code: code/gpu",
    ]
    assert "awaits approval; `forecaster review chat`, then `forecaster approve chat`" in done.err


def test_without_a_forecast_an_event_is_kept_and_the_remedy_is_told(run: Run) -> None:
    done = run("calendar", "add", "launch", FROM, UNTIL, "--factor", "3")
    assert done.code == 3
    assert done.err.splitlines() == [
        "launch is entered",
        "forecaster: chat: there is no forecast to plan from; run `forecaster forecast` first",
        "forecaster: code: there is no forecast to plan from; run `forecaster forecast` first",
    ]
    assert listed(run)[0]["name"] == "launch"


def test_an_event_of_the_past_is_told_to_be_over_and_not_to_come(run: Run) -> None:
    run("forecast")
    done = run("calendar", "add", "gone", "2026-01-03T09:00", "2026-01-03T18:00", "--factor", "3")
    assert (done.code, done.out) == (0, "Largest floors while it is felt: none: it is over, and plans begin now\n")
    (gone,) = (line for line in run("calendar", "list").out.splitlines() if " gone " in line)
    assert gone.split()[:3] == ["event", "gone", "over"]


def test_the_list_has_events_by_when_they_are_next_and_the_holidays_of_the_coming_weeks(run: Run) -> None:
    run("calendar", "add", "launch", FROM, UNTIL, "--factor", "3", "--workload", "chat")
    run("calendar", "add", "over", "2026-01-03T09:00", "2026-01-03T18:00", "--factor", "3")
    found = listed(run)
    assert [(row["kind"], row["from"], row["workloads"]) for row in found] == [
        ("event", "2026-03-02T12:00:00Z", "chat"),
        ("holiday", "2026-03-07T23:00:00Z", "chat code"),
        ("holiday", "2026-04-02T22:00:00Z", "chat code"),
        ("holiday", "2026-04-05T22:00:00Z", "chat code"),
        ("event", None, "all"),
    ]
    assert [row["name"] for row in found if row["kind"] == "event"] == ["launch", "over"]
    assert (found[2]["name"], found[2]["said_by"]) == ("Good Friday", "DE-BE")
    table = run("calendar", "list", "--days", "7").out
    assert "Mon 02 Mar 2026 13:00" in table
    assert "Sun 08 Mar 2026" in table
    assert "Good Friday" not in table
    assert run("calendar", "list", "--output", "markdown").out.startswith("| kind | name |")
    assert run("calendar", "list", "--output", "csv").out.startswith("kind,name,from,until,zone,effect,workloads,said_by\n")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"start": "noon"}, "from: a time is written like 2026-12-01T09:00"),
        ({"start": "2026-03-02T13:00 Europe/Pari"}, "zone: must be an IANA time zone such as Europe/Paris or UTC"),
        ({"end": "2026-03-02T18:00 UTC"}, "FROM and UNTIL must be of one zone, got Europe/Paris and UTC"),
        ({"end": "2026-03-02T12:00"}, "until must come after from"),
        ({"effect": None}, "give either factor, on the load of ordinary days, or load"),
        ({"effect": "0"}, "factor: must be above 0, got '0'"),
        ({"effect": "rpm=5000"}, "load needs the workloads that it is for"),
        ({"workloads": ["chta"]}, "there is no workload 'chta'"),
        ({"every": "fortnight"}, "every: must be day, week, month or year, got 'fortnight'"),
        ({"ramp": "30"}, "ramp_up: a duration is written like 90s, 10m, 1h30m or 7d, got '30'"),
    ],
)
def test_an_event_that_means_nothing_is_refused(world: World, said: dict[str, Any], sentence: str) -> None:
    world.workload("chat")
    event = {"name": "a", "start": FROM, "end": UNTIL, "effect": "3", "workloads": None, "ramp": None, "every": None, **said}
    with session(world.path, iso(NOW)) as at, pytest.raises(ConfigRejected) as refused:
        event_as_said(at, **event)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("start", "end", "zone"),
    [
        ("2026-03-02T13:00", "2026-03-02", "UTC"),
        ("2026-03-02 13:00 Europe/Paris", "2026-03-02 18:00", "Europe/Paris"),
        ("2026-03-02T13:00Z", "2026-03-02T18:00Z", "UTC"),
        ("2026-03-02 Europe/Paris", "2026-03-03T18:00 Europe/Paris", "Europe/Paris"),
    ],
)
def test_a_zone_stands_behind_the_time_and_without_one_it_is_utc(world: World, start: str, end: str, zone: str) -> None:
    world.workload("chat")
    with session(world.path, iso(NOW)) as at:
        event = event_as_said(at, name="a", start=start, end=end, effect="x3", workloads=["chat"], ramp="1h", every="week")
    assert (event.zone, event.factor, event.ramp_up_s, event.every) == (zone, 3.0, 3_600.0, "week")


def test_a_refused_event_is_not_kept(world: World, run: Run) -> None:
    done = forecaster(
        world.folder, "calendar", "add", "launch", FROM, UNTIL, "--factor", "-3", "--config", str(world.path), "--now", iso(NOW)
    )
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("forecaster: factor: must be above 0")
    assert [row for row in listed(run) if row["kind"] == "event"] == []


def test_what_stands_in_the_configuration_is_changed_there(world: World) -> None:
    world.workload("chat")
    world.config["events"] = [{"name": "launch", "from": "2026-03-03", "until": "2026-03-03", "factor": 2}]
    with session(world.path, iso(NOW)) as at:
        for refused in (lambda: removable(at, "launch"), lambda: refuse_configured(at, at.fleet.events)):
            with pytest.raises(ConfigRejected, match=r"the event launch stands in .+forecaster.yaml; change it there"):
                refused()


def test_what_was_never_entered_cannot_be_taken_back(world: World) -> None:
    world.workload("chat")
    with session(world.path, iso(NOW)) as at, pytest.raises(ConfigRejected, match="there is no event 'launch'; there is: none"):
        removable(at, "launch")


ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example//EN
BEGIN:VEVENT
UID:1
SUMMARY:campaign
DTSTART:20260303T090000
DTEND:20260303T180000
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:sale
DTSTART:20260304T090000
DTEND:20260304T180000
RRULE:{rule}
X-FORECASTER-FACTOR:2
END:VEVENT
END:VCALENDAR
"""


def filed(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ["events.csv", "events.ics"])
def test_a_file_is_imported_whole_and_planned_with_at_once(world: World, run: Run, name: str) -> None:
    rows_of_file = "campaign,2026-03-03T09:00,2026-03-03T18:00,,\nsale,2026-03-04T09:00,2026-03-04T18:00,2,week\n"
    text = ICS.format(rule="FREQ=WEEKLY") if name.endswith(".ics") else f"name,from,until,factor,every\n{rows_of_file}"
    run("forecast")
    done = run("calendar", "import", filed(world.folder, name, text), "--factor", "1.5", "--zone", "Europe/Paris")
    assert (done.code, done.err) == (0, "2 events are entered\n")
    assert {row[0] for row in rows(done)} == {"chat", "code"}
    events = [row for row in listed(run) if row["kind"] == "event"]
    assert [(row["name"], row["from"], row["effect"]) for row in events] == [
        ("campaign", "2026-03-03T08:00:00Z", "load x 1.5"),
        ("sale", "2026-03-04T08:00:00Z", "load x 2, every week"),
    ]


def test_a_file_with_a_bad_line_is_refused_with_its_line_and_nothing_is_imported(world: World, run: Run) -> None:
    bad = filed(world.folder, "bad.csv", "name,from,until,factor\ngood,2026-03-03,2026-03-03,2\nbad,2026-03-03,2026-03-03,-2\n")
    done = forecaster(world.folder, "calendar", "import", bad, "--config", str(world.path), "--now", iso(NOW))
    assert (done.code, done.out) == (1, "")
    assert done.err == f"forecaster: {bad}:3: factor: must be above 0, got '-2'\n{bad}: nothing of it was taken\n"
    bad = filed(world.folder, "bad.ics", ICS.format(rule="FREQ=HOURLY"))
    with pytest.raises(SourceRejected, match=r"bad.ics:10: RRULE must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY"):
        run("calendar", "import", bad, "--factor", "2")
    assert [row for row in listed(run) if row["kind"] == "event"] == []
