"""Well means: the last apply got something done, lately."""

from datetime import UTC, datetime, timedelta

from jobs.telemetry.runs import Diary, Half, Outcome, Run, outcome_of
from jobs.web.health import GRACE_S, health

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
EVERY_S = 30.0
ALLOWED = timedelta(seconds=3 * EVERY_S + GRACE_S)
SECOND = timedelta(seconds=1)


def ran(half: Half, at: datetime, outcome: Outcome = Outcome.DONE, sentence: str = "all well") -> Run:
    return Run(half=half, at=at, ended_at=at, duration_s=0.1, outcome=outcome, sentence=sentence)


def test_before_the_first_apply_the_start_counts() -> None:
    diary = Diary(START)
    assert health(diary, EVERY_S, START + ALLOWED).ok
    late = health(diary, EVERY_S, START + ALLOWED + SECOND)
    assert not late.ok
    assert "since the start" in late.reason
    assert late.to_json()["last_apply"] is None


def test_three_missed_applies_and_a_grace_are_allowed() -> None:
    diary = Diary(START)
    diary.enter(ran(Half.APPLY, START + 60 * SECOND))
    assert health(diary, EVERY_S, START + 60 * SECOND + ALLOWED).ok
    assert not health(diary, EVERY_S, START + 61 * SECOND + ALLOWED).ok


def test_a_failing_apply_is_no_sign_of_life_and_is_the_reason_given() -> None:
    diary = Diary(START)
    diary.enter(ran(Half.APPLY, START))
    diary.enter(ran(Half.APPLY, START + ALLOWED, Outcome.FAILED, "the store is damaged: restore it from a backup"))
    unwell = health(diary, EVERY_S, START + ALLOWED + SECOND)
    assert not unwell.ok
    assert "since 2026-03-02T08:00:00Z" in unwell.reason
    assert "the store is damaged" in unwell.reason


def test_an_apply_that_another_process_does_is_no_sign_of_our_life() -> None:
    diary = Diary(START)
    diary.enter(ran(Half.APPLY, START + ALLOWED, Outcome.SKIPPED, "another apply run is at work on this store; nothing was done"))
    unwell = health(diary, EVERY_S, START + ALLOWED + SECOND)
    assert not unwell.ok
    assert "another apply run" in unwell.reason


def test_a_replica_that_stands_by_is_well_as_long_as_it_finds_the_lease_of_another_good() -> None:
    diary = Diary(START)
    diary.stand_by(START + 600 * SECOND)
    well = health(diary, EVERY_S, START + 600 * SECOND + ALLOWED)
    assert (well.ok, well.reason) == (True, "standing by: another replica has the lease")
    assert not health(diary, EVERY_S, START + 601 * SECOND + ALLOWED).ok
    diary.enter(ran(Half.APPLY, START + 660 * SECOND))
    assert health(diary, EVERY_S, START + 660 * SECOND).reason == "the last apply succeeded"


def test_a_partly_failed_apply_is_a_sign_of_life() -> None:
    diary = Diary(START)
    diary.enter(ran(Half.APPLY, START + ALLOWED, Outcome.PARTLY))
    assert health(diary, EVERY_S, START + ALLOWED + SECOND).ok


def test_a_forecast_that_fails_leaves_us_well_and_shows_its_age() -> None:
    diary = Diary(START)
    diary.enter(ran(Half.APPLY, START + ALLOWED))
    diary.found(Half.FORECAST, START - timedelta(hours=5))
    diary.enter(ran(Half.FORECAST, START, Outcome.FAILED))
    shown = health(diary, EVERY_S, START + ALLOWED).to_json()
    assert shown["ok"] is True
    assert shown["last_forecast"] == "2026-03-02T03:00:00Z"
    assert shown["last_forecast_age_s"] == 5 * 3_600 + ALLOWED.total_seconds()


def test_an_older_trace_in_the_store_hides_no_newer_run() -> None:
    diary = Diary(START)
    diary.enter(ran(Half.FORECAST, START))
    diary.found(Half.FORECAST, START - timedelta(hours=1))
    assert diary.succeeded_at(Half.FORECAST) == START


def test_outcomes_say_what_the_exit_codes_of_the_commands_say() -> None:
    assert outcome_of(failures=0, done=0) is Outcome.DONE
    assert outcome_of(failures=1, done=3) is Outcome.PARTLY
    assert outcome_of(failures=1, done=0) is Outcome.FAILED
