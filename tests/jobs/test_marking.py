"""A history that lies, from the source to the forecast, on the real line with the default model."""

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pytest

from forecaster.forecast import Forecast
from forecaster.marks import Mark, MarkKind, marks_in_force
from forecaster.series import Floats, Series, Signal, Window
from jobs.apply import apply_fleet
from jobs.draft import Draft
from jobs.fetch import bring, keep, look_up, see
from jobs.forecast import fetch_fleet, forecast_fleet
from tests.jobs.world import NOW, World, daily_rpm, issued, write_trace
from tests.kube_api import KubeApi

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MIDNIGHT = NOW.replace(hour=0, minute=0)
DAYS = 28
Change = Callable[[datetime, float], float]


def at(days_ago: int, hour: float) -> datetime:
    """An hour of a day before today."""
    return MIDNIGHT - days_ago * DAY + hour * HOUR


def scaled(factor: float, start: datetime, end: datetime) -> Change:
    return lambda stamp, count: count * factor if start <= stamp < end else count


def write(world: World, *changes: Change, name: str = "load.csv") -> None:
    """The trace of a usual service, changed."""
    rows = daily_rpm(days=DAYS)
    for change in changes:
        rows = [(stamp, change(stamp, count)) for stamp, count in rows]
    write_trace(world.folder / name, rows)


def drafted(world: World, now: datetime = NOW, *said: Mark, workload: str = "chat") -> Draft:
    """One run of the first half of the line, after a person said something."""
    with world.fleet() as fleet:
        fleet.store.append_marks(workload, said)
        return next(draft for draft in forecast_fleet(fleet, now) if draft.name == workload)


def seen(world: World, now: datetime = NOW, *said: Mark, workload: str = "chat") -> Series:
    """The history that models are given, after a person said something."""
    with world.fleet() as fleet:
        fleet.store.append_marks(workload, said)
        member = next(member for member in fleet.members if member.workload.name == workload)
        brought = bring(look_up(fleet, Draft(member=member), now), now)
        keep(fleet, [brought])
        return see(fleet, brought, now).histories[0]


def forecast(world: World, now: datetime = NOW, *said: Mark) -> Forecast:
    draft = drafted(world, now, *said)
    assert draft.problems == ()
    with world.fleet() as fleet:
        return issued(fleet, now)


def kept(world: World) -> tuple[Mark, ...]:
    with world.fleet() as fleet:
        return fleet.store.marks("chat", Signal.RPM, Window(start=NOW - 60 * DAY, end=NOW + DAY))


def kinds(world: World) -> list[MarkKind]:
    return [mark.kind for mark in marks_in_force(kept(world))]


def by_hour(issued: Forecast, level: float = 0.5) -> Floats:
    """The first day of a forecast in hours from its start."""
    hours: Floats = issued.at_level(level)[:288].reshape(24, -1).mean(axis=1)
    return hours


def ratio(one: Forecast, other: Forecast, level: float = 0.5) -> Floats:
    """The first day of a forecast over that of another, hour by hour."""
    return by_hour(one, level) / by_hour(other, level)


@pytest.fixture
def chat(world: World) -> World:
    world.workload("chat", mode="observe")
    return world


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Forecast:
    """What is forecast where nothing happened."""
    with KubeApi() as api:
        world = World(folder=tmp_path_factory.mktemp("usual"), api=api)
        world.workload("chat", mode="observe")
        write(world)
        return forecast(world)


def told(kind: MarkKind, start: datetime, end: datetime, *, unmark: bool = False, said_at: datetime = NOW) -> Mark:
    return Mark(kind=kind, span=Window(start=start, end=end), signal=Signal.RPM, at=said_at, author="ada", unmark=unmark)


def test_k10_neither_an_outage_day_nor_the_retry_storm_after_it_moves_the_forecast(chat: World, usual: Forecast) -> None:
    write(chat, scaled(0.01, at(1, 6), at(1, 18)), scaled(2.5, at(1, 18), at(1, 20)))
    after = forecast(chat)
    assert kinds(chat) == [MarkKind.OUTAGE, MarkKind.RETRY_STORM]
    np.testing.assert_allclose(ratio(after, usual), 1, atol=0.05)
    np.testing.assert_allclose(ratio(after, usual, 0.95), 1, atol=0.15)


def test_k10_the_forecast_does_not_fall_while_an_outage_lasts(chat: World) -> None:
    write(chat, scaled(0.01, at(0, 9), at(0, 20)))
    during = forecast(chat, at(0, 15))
    assert kinds(chat) == [MarkKind.OUTAGE]
    hours = dict(zip(range(15, 39), by_hour(during), strict=True))
    assert all(900 < hours[hour] < 1_150 for hour in (*range(15, 18), *range(33, 39)))


def capped(most_rpm: float, start: datetime, end: datetime) -> Change:
    noise = np.random.default_rng(4)
    return lambda stamp, count: min(count, 5 * most_rpm * noise.normal(1, 0.003)) if start <= stamp < end else count


def test_k11_days_that_were_capped_never_lower_the_forecast(chat: World) -> None:
    grown = scaled(1.5, at(2, 0), NOW + DAY)
    write(chat, grown, capped(900, at(2, 0), at(0, 0)))
    forgiven = forecast(chat)
    assert set(kinds(chat)) == {MarkKind.CENSORED}
    believed = forecast(chat, NOW, told(MarkKind.MANUAL, at(DAYS, 0), NOW, unmark=True))
    assert kinds(chat) == []
    assert ratio(forgiven, believed).min() > 0.98
    assert forgiven.daily_peaks[1].at_level(0.95) >= 0.98 * believed.daily_peaks[1].at_level(0.95)


def beside(world: World, signal: str, value: Callable[[datetime], float]) -> None:
    """Measure one more signal in the trace of a usual service."""
    write(world)
    path = world.folder / "load.csv"
    header, *rows = path.read_text().splitlines()
    more = [f"{value(stamp):.1f}" for stamp, _ in daily_rpm(days=DAYS)]
    path.write_text("\n".join([f"{header},{signal}", *(f"{row},{count}" for row, count in zip(rows, more, strict=True)), ""]))
    signals = world.config["workloads"][0]["signals"]  # type: ignore[index]  # the test's own document
    signals[signal] = {"query": signal, "unit": "count"}


@pytest.mark.parametrize(("signal", "words"), [("queue_depth", "requests waited"), ("refused", "requests were refused")])
def test_l07_requests_that_wait_or_are_refused_mark_the_hours_in_which_the_load_says_too_little(
    chat: World, signal: str, words: str
) -> None:
    beside(chat, signal, lambda stamp: 300.0 if at(1, 10) <= stamp < at(1, 12) else 0.0)
    assert drafted(chat).problems == ()
    (mark,) = marks_in_force(kept(chat))
    assert (mark.kind, mark.span) == (MarkKind.CENSORED, Window(start=at(1, 10), end=at(1, 12)))
    assert mark.detail == f"{words} for 2.0 h"


def test_k11_refusals_are_kept_a_minute_and_are_no_load(chat: World) -> None:
    beside(chat, "refused", lambda stamp: 300.0 if at(1, 10) <= stamp < at(1, 12) else 0.0)
    draft = drafted(chat)
    assert [known.signal for known in draft.known] == [Signal.RPM]
    assert [outlook.signal for outlook in draft.outlooks] == [Signal.RPM]
    with chat.fleet() as fleet:
        refused = fleet.store.history("chat", Signal.REFUSED, Window(start=at(1, 10), end=at(1, 11)), 300)
        (cycle,) = apply_fleet(fleet, NOW)
    assert refused.mean.tolist() == [60.0] * 12
    assert cycle.problems == ()


def test_l08_a_storm_that_is_not_found_is_marked_by_a_person_and_no_longer_lifts_the_peak(chat: World, usual: Forecast) -> None:
    storm = (at(1, 10), at(1, 13))
    write(chat, scaled(1.5, *storm))
    inflated = forecast(chat)
    assert kinds(chat) == []
    corrected = forecast(chat, NOW, told(MarkKind.RETRY_STORM, *storm))
    peaks = [f.daily_peaks[1].at_level(0.95) for f in (usual, inflated, corrected)]
    assert peaks[1] > 1.05 * peaks[0]
    assert abs(peaks[2] / peaks[0] - 1) < 0.03


def test_l05_what_a_deleted_pod_left_standing_trains_nothing(chat: World, usual: Forecast) -> None:
    stuck = at(2, 9)
    write(chat, lambda stamp, count: 2_600.0 if stuck <= stamp < at(1, 7) else count)
    after = forecast(chat)
    assert kinds(chat) == [MarkKind.CAPTURE_FAULT]
    np.testing.assert_allclose(ratio(after, usual), 1, atol=0.05)


def test_one_absurd_bucket_lifts_no_peak(chat: World, usual: Forecast) -> None:
    write(chat, scaled(40, at(1, 12), at(1, 12) + timedelta(minutes=5)))
    after = forecast(chat)
    assert kinds(chat) == [MarkKind.RESET]
    np.testing.assert_allclose(after.daily_peaks[1].values, usual.daily_peaks[1].values, rtol=0.05)


def test_what_was_found_is_kept_once_however_often_it_is_found(chat: World) -> None:
    write(chat, scaled(0.01, at(3, 9), at(3, 15)))
    with chat.fleet() as fleet:
        for hours in range(4):
            fetch_fleet(fleet, NOW + hours * HOUR)
    assert [(mark.kind, mark.at) for mark in kept(chat)] == [(MarkKind.OUTAGE, NOW)]


def test_a_run_for_the_past_knows_what_had_been_said_then(chat: World) -> None:
    write(chat, scaled(0.01, at(3, 9), at(3, 15)))
    said = told(MarkKind.MANUAL, at(3, 9), at(3, 15), unmark=True, said_at=NOW + HOUR)
    before = seen(chat, NOW, said)
    assert np.isnan(before.between(at(3, 9), at(3, 15)).mean).all()
    after = seen(chat, NOW + HOUR)
    assert not np.isnan(after.between(at(3, 9), at(3, 15)).mean).any()


def test_what_the_calendar_explains_is_no_crowd(chat: World) -> None:
    launch = (at(5, 10), at(5, 14))
    write(chat, scaled(4, *launch))
    drafted(chat)
    assert kinds(chat) == [MarkKind.FLASH_CROWD]
    (chat.folder / "forecaster.db").unlink()
    chat.config["events"] = [
        {"name": "launch", "from": f"{launch[0]:%Y-%m-%dT%H:%M}", "until": f"{launch[1]:%Y-%m-%dT%H:%M}", "factor": 4, "zone": "UTC"}
    ]
    drafted(chat)
    assert kinds(chat) == []


# older names


def rename(world: World, *, share: float = 1.0, since: datetime) -> None:
    """`chat` ends and `chat-v2` goes on with a share of its load, under its own HPA."""
    write(world, lambda stamp, count: count if stamp < since else float("nan"))
    write(world, lambda stamp, count: share * count if stamp >= since else float("nan"), name="v2.csv")
    for name in ("load.csv", "v2.csv"):
        path = world.folder / name
        path.write_text(path.read_text().replace(",nan\n", ",\n"))
    world.workload("chat-v2", mode="observe", trace="v2.csv")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[1]["continues"] = {"name": "chat", "share": share}


def test_a_workload_goes_on_with_the_history_of_its_older_name(chat: World) -> None:
    rename(chat, share=0.3, since=at(0, 0))
    drafted(chat)
    draft = drafted(chat, NOW, workload="chat-v2")
    known = seen(chat, workload="chat-v2")
    assert known.measured_ratio > 0.45  # four of the eight weeks that are kept in use
    busy = known.between(at(3, 10), at(3, 18)).mean.mean()
    assert 270 < busy < 330
    assert 270 < draft.outlooks[0].daily_peaks[1].at_level(0.5) < 360
    with chat.fleet() as fleet:
        own = fleet.store.history("chat-v2", Signal.RPM, Window(start=at(5, 0), end=at(0, 0)), 300)
    assert own.measured_ratio == 0  # nothing is copied


def test_marks_go_over_with_the_history(chat: World) -> None:
    rename(chat, since=at(0, 0))
    span = (at(4, 10), at(4, 13))
    drafted(chat, NOW, told(MarkKind.MANUAL, *span))
    known = seen(chat, NOW + HOUR, workload="chat-v2")
    assert np.isnan(known.between(*span).mean).all()


def test_an_older_name_that_left_nothing_is_told_and_is_no_error(chat: World) -> None:
    write(chat)
    workloads = chat.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["continues"] = [{"name": "older"}]
    draft = drafted(chat)
    assert draft.problems == ()
    assert draft.notes == ("nothing is kept of older, which it continues: its rpm begins with its own first sample",)


def test_a_chain_of_names_is_followed(chat: World) -> None:
    rename(chat, since=at(0, 0))
    workloads = chat.config["workloads"]
    assert isinstance(workloads, list)
    workloads.pop(0)
    workloads[0]["continues"] = {"name": "middle", "share": 0.5}
    (chat.folder / "middle.csv").write_text("timestamp,value\n")
    chat.workload("middle", mode="observe", trace="middle.csv")
    workloads[1]["continues"] = {"name": "chat", "share": 0.5}
    load = np.random.default_rng(1).lognormal(6, 0.1, 5 * 288)
    older = Series(signal=Signal.RPM, start=at(5, 0), step_s=300, mean=load, peak=load)
    with chat.fleet() as fleet:
        fleet.store.append_history("chat", older)
    known = seen(chat, NOW, workload="chat-v2")
    np.testing.assert_allclose(known.between(at(5, 0), at(0, 0)).mean, load / 4)


def test_k09_duplicate_and_late_rows_are_kept_as_marks_once_and_cost_the_forecast_nothing(chat: World, usual: Forecast) -> None:
    rows = daily_rpm(days=DAYS)
    late = [row for row in rows if at(5, 9) <= row[0] < at(5, 10)]
    rest = [row for row in rows if row not in late]
    twice = [row for row in rest if at(3, 9) <= row[0] < at(3, 11)]
    write_trace(chat.folder / "load.csv", [*rest[:-600], *late, *rest[-600:], *twice])
    after = forecast(chat)
    forecast(chat, NOW + HOUR)  # the file is looked through again
    spans = [(mark.kind, mark.span.start, mark.span.end) for mark in marks_in_force(kept(chat))]
    assert spans == [
        (MarkKind.LATE, at(5, 9), at(5, 10)),
        (MarkKind.DUPLICATE, at(3, 9), at(3, 11)),
        (MarkKind.LATE, at(3, 9), at(3, 11)),
    ]
    assert len(kept(chat)) == len(spans)
    np.testing.assert_allclose(ratio(after, usual), 1)


def test_k09_samples_that_come_after_their_bucket_was_kept_are_marked_and_their_numbers_taken(chat: World) -> None:
    span = (at(0, 6.5), at(0, 7))
    write(chat, scaled(0.4, *span))
    drafted(chat)
    write(chat)
    later = seen(chat, NOW + HOUR)
    (mark,) = marks_in_force(kept(chat))
    assert (mark.kind, mark.span.start, mark.span.end) == (MarkKind.LATE, *span)
    assert mark.detail == "6 buckets changed by up to 60% after being kept"
    np.testing.assert_allclose(
        later.between(*span).mean, [count / 5 for stamp, count in daily_rpm(days=DAYS) if span[0] <= stamp < span[1]], rtol=1e-3
    )
    drafted(chat, NOW + 2 * HOUR)
    assert kinds(chat) == [MarkKind.LATE]
