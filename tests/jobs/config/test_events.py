"""Calendars and events as they are written, and what is wrong with them at load."""

from datetime import date, datetime
from pathlib import Path

import pytest

from forecaster.calendar import Calendar
from forecaster.events import Event, Every
from forecaster.series import Signal
from jobs.config.reading import read_config
from tests.jobs.config.samples import SAMPLE, faults_of, with_workload

AT = "forecaster.yaml: events[0]"
LAUNCH = "name: launch, from: 2026-12-01T09:00, until: 2026-12-01T18:00"


def with_events(*written: str) -> str:
    return f"{SAMPLE}events:\n" + "".join(f"  - {{{event}}}\n" for event in written)


def event_of(folder: Path, written: str) -> Event:
    path = folder / "forecaster.yaml"
    path.write_text(with_events(written))
    (section,) = read_config(path).events
    return section.to_core()


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_an_event_is_read_as_it_is_written(tmp_path: Path) -> None:
    written = f"{LAUNCH}, zone: Europe/Paris, factor: 3, ramp_up: 30m, ramp_down: 1h, workloads: [chat]"
    assert event_of(tmp_path, written) == Event(
        name="launch",
        zone="Europe/Paris",
        start=wall("2026-12-01T09:00"),
        end=wall("2026-12-01T18:00"),
        factor=3.0,
        ramp_up_s=1_800.0,
        ramp_down_s=3_600.0,
        workloads=("chat",),
    )


def test_an_event_comes_again_as_it_is_written(tmp_path: Path) -> None:
    weekly = event_of(tmp_path, f"{LAUNCH}, factor: 2, every: week, weekdays: [mon, fri], last: 2027-01-31")
    assert (weekly.every, weekly.days, weekly.until) == (Every.WEEK, (0, 4), date(2027, 1, 31))
    monthly = event_of(tmp_path, f"{LAUNCH}, factor: 2, every: month, month_days: [1, 31]")
    assert (monthly.every, monthly.days, monthly.until) == (Every.MONTH, (1, 31), None)


def test_a_load_is_written_with_its_signal(tmp_path: Path) -> None:
    told = event_of(tmp_path, f"{LAUNCH}, load: rpm=5000, workloads: [chat]")
    assert (told.signal, told.load, told.factor) == (Signal.RPM, 5_000.0, None)


@pytest.mark.parametrize(
    ("first", "last", "start", "end"),
    [
        ("2026-12-24", "2026-12-26", "2026-12-24T00:00", "2026-12-27T00:00"),
        ("2026-12-24T12:00", "2026-12-24T24:00", "2026-12-24T12:00", "2026-12-25T00:00"),
        ("2026-12-24 12:30", "2026-12-24 13:00:30", "2026-12-24T12:30", "2026-12-24T13:00:30"),
    ],
)
def test_a_date_alone_is_meant_from_its_midnight_and_with_all_of_its_day(
    tmp_path: Path, first: str, last: str, start: str, end: str
) -> None:
    read = event_of(tmp_path, f"name: a, from: {first}, until: {last}, factor: 2")
    assert (read.start, read.end) == (wall(start), wall(end))


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (f"{LAUNCH}, factor: 0", ".factor: must be above 0, got 0"),
        (f"{LAUNCH}, factor: much", ".factor: must be a number, got 'much'"),
        (f"{LAUNCH}", ": give either factor, on the load of ordinary days, or load, which replaces it"),
        (
            "name: a, until: 2026-12-01, factor: 2",
            ".from: is missing: when it begins, on the wall clock of `zone`: 2026-12-01T09:00; a date alone",
        ),
        ("name: a, from: noon, until: 2026-12-01, factor: 2", ".from: a time is written like 2026-12-01T09:00"),
        ("name: a, from: 2026-12-01T09:00Z, until: 2026-12-02, factor: 2", ".from: a time is written like 2026-12-01T09:00"),
        ("name: a, from: 2026-02-30, until: 2026-03-02, factor: 2", ".from: there is no '2026-02-30' in the calendar"),
        ("name: a, from: 2026-12-02, until: 2026-12-01, factor: 2", ": until must come after from"),
        (f"{LAUNCH}, factor: 2, zone: Europe/Pariss", ".zone: must be an IANA time zone such as Europe/Paris or UTC, got 'Europe/Pariss'"),
        (f"{LAUNCH}, factor: 2, every: fortnight", ".every: must be day, week, month or year, got 'fortnight'"),
        (f"{LAUNCH}, factor: 2, weekdays: [mon]", ": weekdays belong to an event of every week"),
        (f"{LAUNCH}, factor: 2, every: week, month_days: [1]", ": month_days belong to an event of every month"),
        (f"{LAUNCH}, factor: 2, every: month, month_days: [32]", ".month_days[0]: must be at most 31, got 32"),
        (f"{LAUNCH}, load: 5000", ".load: a load is written with its signal, like rpm=5000"),
        (
            f"{LAUNCH}, load: rmp=5000",
            ".load: a load is written with its signal, like rpm=5000, concurrency=80 or tokens=12000, got 'rmp=5000'",
        ),
        (f"{LAUNCH}, load: rpm=5000", ": load needs the workloads that it is for"),
        (f"{LAUNCH}, factor: 2, workloads: [chta]", ".workloads[0]: there is no workload 'chta'; did you mean chat?"),
        (f"{LAUNCH}, faktor: 2", ".faktor: is no known key; did you mean factor?"),
    ],
)
def test_k18_a_bad_entry_of_the_shared_calendar_is_refused_at_load_with_its_path(tmp_path: Path, written: str, sentence: str) -> None:
    faults = faults_of(tmp_path, with_events(written))
    assert any(fault.startswith(f"{AT}{sentence}") for fault in faults), faults


def test_two_events_of_one_name_are_refused_with_both_places(tmp_path: Path) -> None:
    assert faults_of(tmp_path, with_events(f"{LAUNCH}, factor: 2", f"{LAUNCH}, factor: 3")) == [
        "forecaster.yaml: events[1].name: the event launch stands at events[0].name already; each event may be configured once"
    ]


def test_events_of_included_files_join_the_calendar(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(f"events:\n  - {{{LAUNCH}, factor: 2, workloads: [chat]}}\n")
    path = tmp_path / "forecaster.yaml"
    path.write_text(f"{SAMPLE}include: [team.yaml]\n")
    assert [event.name for event in read_config(path).events] == ["launch"]
    (tmp_path / "team.yaml").write_text(f"events:\n  - {{{LAUNCH}, factor: 2, workloads: [other]}}\n")
    (fault,) = faults_of(tmp_path, f"{SAMPLE}include: [team.yaml]\n", team=(tmp_path / "team.yaml").read_text())
    assert fault == "team.yaml: events[0].workloads[0]: there is no workload 'other'; there is chat"


def test_a_workload_has_the_holidays_of_its_country(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(with_workload("source: prom", "source: prom\n    zone: Europe/Berlin\n    calendar: {country: DE, subdivision: BY}"))
    (workload,) = read_config(path).workloads
    assert workload.to_core().calendar == Calendar(zone="Europe/Berlin", country="DE", subdivision="BY")


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("{country: de}", "no holidays are known for country 'de'; did you mean DE?"),
        ("{country: Utopia}", "no holidays are known for country 'Utopia'; write its ISO 3166 code, such as DE"),
        ("{country: DE, subdivision: Bavaria}", "country DE has no subdivision 'Bavaria'"),
        ("{subdivision: BY}", "subdivision 'BY' needs its country beside it, such as country: DE"),
    ],
)
def test_k18_a_country_without_a_calendar_is_refused_at_load_with_its_path(tmp_path: Path, written: str, sentence: str) -> None:
    (fault,) = faults_of(tmp_path, with_workload("source: prom", f"source: prom\n    calendar: {written}"))
    assert fault.startswith(f"forecaster.yaml: workloads[0].calendar: {sentence}")
