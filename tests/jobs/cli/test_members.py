"""How review says why each member of a forecast has the share that it has."""

import json
from dataclasses import replace

import pytest

from connectors.stores.memory import MemoryStore
from forecaster.forecast import Forecast, MemberScore, TrackRecord
from forecaster.reasons import Code, Reason
from forecaster.series import Window
from jobs.cli.members import best_member, gain_sentence, history_words, members_table, record_sentence
from jobs.cli.review import print_page, sentences
from jobs.cli.review_json import reviews_json
from jobs.views.review import Review, review
from tests.jobs.review_values import HOUR, NOW, forecast, kept_of, measured, member_of

RIDGE = MemberScore(name="ridge_slow", weight_ratio=0.25, loss_ratio=0.75, days=14)
PROFILE = MemberScore(name="profile", weight_ratio=0.75, loss_ratio=0.6, days=14)
WATCHED = MemberScore(name="prophet", weight_ratio=0.0, loss_ratio=0.9, days=3)
UNSCORED = MemberScore(name="sarimax", weight_ratio=0.0, loss_ratio=None)
RECORD = TrackRecord(days=14, pinball=6.0, naive_pinball=10.0, coverage=0.942, drift_log=0.0296, loss_ratio=0.54)


def said(*members: MemberScore, record: TrackRecord | None = RECORD, notes: tuple[Reason, ...] = ()) -> Forecast:
    return replace(forecast(NOW - HOUR), model="ensemble", members=members, record=record, notes=notes)


def test_history_under_two_days_is_told_in_hours() -> None:
    issued = forecast(NOW - HOUR)
    assert history_words(issued) == "14 days"
    short = replace(issued, trained_on=Window(start=issued.start - 12 * HOUR, end=issued.start))
    assert history_words(short) == "12 hours"


def reviewed(issued: Forecast) -> Review:
    store = MemoryStore()
    store.append_history("chat", measured(NOW - 9 * 24 * HOUR, NOW))
    store.append_forecasts([("chat", issued)])
    return review(kept_of(member_of(), store))


def test_members_stand_by_share_with_loss_and_what_is_scored_without_a_say() -> None:
    rows = members_table(said(UNSCORED, RIDGE, WATCHED, PROFILE)).rows
    shown = [tuple(getattr(cell, "words", cell) for cell in row) for row in rows]
    assert shown == [
        ("profile", "75%", "0.60 x", ""),
        ("ridge_slow", "25%", "0.75 x", ""),
        ("prophet", "0.0%", "0.90 x", "scored on 3 days, not used"),
        ("sarimax", "0.0%", None, "not scored yet, not used"),
    ]


def test_a_member_that_speaks_before_it_was_scored_says_so() -> None:
    ((_, _, loss, note),) = members_table(said(replace(PROFILE, weight_ratio=1.0, loss_ratio=None, days=0))).rows
    assert (loss, note) == (None, "not scored yet")


def test_one_lucky_day_makes_nobody_the_best_member() -> None:
    lucky = replace(WATCHED, loss_ratio=0.1, days=1)
    assert best_member((RIDGE, lucky, PROFILE, UNSCORED)) == PROFILE
    assert best_member((UNSCORED,)) is None


def test_the_gain_is_told_against_the_best_member_and_against_yesterday() -> None:
    assert gain_sentence(said(RIDGE, PROFILE, WATCHED)) == (
        "Its median errs 10% less than profile, its best member, and 46% less than the same time yesterday; "
        "its quantiles lose 40% less than naive ones."
    )


def test_a_forecast_that_gains_nothing_says_so() -> None:
    worse = replace(RECORD, pinball=12.0, loss_ratio=1.1)
    naive = MemberScore(name="naive_day", weight_ratio=1.0, loss_ratio=1.0, days=14)
    told = gain_sentence(said(naive, record=worse))
    assert told == "Its median errs 10% more than the same time yesterday; its quantiles lose 20% more than naive ones."
    alike = replace(RECORD, pinball=10.0, loss_ratio=None)
    assert gain_sentence(said(naive, record=alike)) == "Its quantiles lose as much as naive ones."


@pytest.mark.parametrize("record", [None, replace(RECORD, naive_pinball=0.0, loss_ratio=None)])
def test_what_was_not_scored_has_no_gain(record: TrackRecord | None) -> None:
    assert not gain_sentence(said(PROFILE, record=record))


def test_the_track_record_states_coverage_against_what_is_meant_and_drift() -> None:
    assert record_sentence(RECORD) == (
        "Track record of 14 days: P95 covered 94.2% of the load (95% is meant), the load was 3.0% above the median over the last 3."
    )
    steady = replace(RECORD, days=1, coverage=float("nan"), drift_log=0.001)
    assert record_sentence(steady) == "Track record of 1 day: without drift."
    assert not record_sentence(None)


def test_notes_of_a_degraded_forecast_show_each_on_its_line() -> None:
    notes = (Reason(code=Code.YOUNG_HISTORY, detail="chat has 3.0 days of history"), Reason(code=Code.MEMBER_FAILED, detail="prophet: no"))
    found = reviewed(said(PROFILE, notes=notes))
    told = sentences(found, found.signals[0])
    assert told[-2:] == ["young-history: chat has 3.0 days of history.", "member-failed: prophet: no."]


def test_the_page_and_the_json_show_members_and_record(capsys: pytest.CaptureFixture[str]) -> None:
    found = reviewed(said(RIDGE, PROFILE, WATCHED))
    print_page(found, 80, "")
    page = capsys.readouterr().out
    assert "Members for rpm, with their loss against that of the same time yesterday" in page
    assert "scored on 3 days, not used" in page
    (signal,) = json.loads(json.dumps(reviews_json((found,), NOW, ahead=False), default=str))["workloads"][0]["signals"]
    assert [(member["name"], member["scored_days"], member["used"]) for member in signal["members"]] == [
        ("profile", 14, True),
        ("ridge_slow", 14, True),
        ("prophet", 3, False),
    ]
    assert (signal["record"]["p95_coverage"], signal["record"]["p95_nominal"], signal["record"]["loss_ratio"]) == (0.942, 0.95, 0.54)


def test_a_forecast_of_no_members_has_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_page(reviewed(said(record=None)), 80, "")
    assert "Members for" not in capsys.readouterr().out
