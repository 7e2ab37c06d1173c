"""What review, status, explain and history find in the store: values by hand, so that every number can be checked by eye."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from connectors.stores.memory import MemoryStore
from forecaster.approval import PlanState
from forecaster.capacity import HOW_TO_TELL
from forecaster.decision import Paused, Ruling, RulingKind
from forecaster.errors import NothingKept
from forecaster.lineage import Lineage
from forecaster.marks import Mark, MarkKind
from forecaster.reasons import Code, Reason
from forecaster.series import Signal, Window
from forecaster.units import HOUR_S
from forecaster.workload import Mode
from jobs.cli.review import peaks_table, sentences
from jobs.views.attention import Attention
from jobs.views.days import local_day, measured_days
from jobs.views.review import Review, review, review_members
from jobs.views.signals import change_ratio
from tests.jobs.review_values import DAY, HOUR, NOW, PARIS, STEP_S, approval, forecast, kept_of, measured, member_of, plan


def codes(found: Review) -> list[Code]:
    return [item.code for item in found.attention]


def about(found: Review, code: Code) -> Attention:
    return next(item for item in found.attention if item.code is code)


def test_tomorrow_is_the_local_day_after_now() -> None:
    assert review(kept_of(member_of())).tomorrow == date(2026, 3, 5)
    late = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)  # already Thursday in Paris
    assert review(kept_of(member_of(), now=late)).tomorrow == date(2026, 3, 6)


def test_tomorrows_peak_stands_against_yesterday_and_the_same_weekday_of_last_week() -> None:
    signal = review(kept_of(member_of())).signals[0]
    assert signal.tomorrow is not None
    assert signal.yesterday is not None
    assert signal.last_week is not None
    assert (signal.tomorrow.at_level(0.5), signal.tomorrow.at_level(0.95)) == pytest.approx((220.0, 308.0))
    assert (signal.yesterday.day, signal.yesterday.peak) == (date(2026, 3, 3), 200.0)
    assert signal.last_week.day == date(2026, 2, 26)
    assert PARIS.local(signal.yesterday.peak_at or NOW).hour == 12
    assert change_ratio(signal.tomorrow, signal.yesterday) == pytest.approx(0.1)


def test_yesterdays_forecast_is_the_one_that_stood_when_the_day_began() -> None:
    scored = review(kept_of(member_of())).signals[0].scored
    assert scored is not None
    assert scored.forecast.issued_at == NOW - 2 * DAY
    # 282 buckets of 100 and 6 of 200 against 110: 282 x 10 + 6 x 90 over 29,400; P95 is 154, exceeded at noon
    assert scored.median_error_ratio == pytest.approx((282 * 10 + 6 * 90) / 29_400)
    assert scored.bias_ratio == pytest.approx((282 * 10 - 6 * 90) / 29_400)
    assert scored.above_upper_ratio == pytest.approx(6 / 288)
    assert scored.peak is not None
    assert scored.peak.day == date(2026, 3, 3)


def test_a_forecast_made_during_the_day_is_judged_from_there_on() -> None:
    kept = kept_of(member_of(), MemoryStore())
    kept.store.append_history("chat", measured(NOW - 3 * DAY, NOW))
    kept.store.append_forecasts([("chat", forecast(NOW - DAY))])
    scored = review(kept).signals[0].scored
    assert scored is not None
    assert (scored.covers.start, scored.covers.end) == (NOW - DAY, datetime(2026, 3, 3, 23, tzinfo=UTC))


def test_without_a_forecast_of_yesterday_nothing_is_judged() -> None:
    kept = kept_of(member_of(), MemoryStore())
    kept.store.append_history("chat", measured(NOW - 3 * DAY, NOW))
    kept.store.append_forecasts([("chat", forecast(NOW - HOUR))])
    assert review(kept).signals[0].scored is None


def test_a_forecast_after_now_is_not_looked_at() -> None:
    kept = kept_of(member_of())
    kept.store.append_forecasts([("chat", forecast(NOW + HOUR, peak=999.0))])
    found = review(kept).signals[0].forecast
    assert found is not None
    assert found.issued_at == NOW - HOUR


def test_what_was_not_measured_is_not_zero() -> None:
    kept = kept_of(member_of(), MemoryStore())
    kept.store.append_forecasts([("chat", forecast(NOW - HOUR))])
    found = review(kept)
    signal = found.signals[0]
    assert (signal.yesterday, signal.last_week, signal.scored) == (None, None, None)
    assert change_ratio(signal.tomorrow, signal.yesterday) is None
    assert about(found, Code.GAPS_IN_HISTORY).sentence == "no rpm was measured yesterday"


def test_a_day_of_which_half_is_missing_says_nothing_of_its_peak() -> None:
    midnight = local_day(PARIS, date(2026, 3, 3)).start
    series = measured(midnight, midnight + DAY)
    mean = np.where(np.arange(288) < 150, np.nan, series.mean)
    (day,) = measured_days(replace(series, mean=mean, peak=mean), PARIS)
    assert day.measured_ratio == pytest.approx(138 / 288)
    assert (day.enough, day.peak) == (False, 100.0)
    assert [(gap.start, gap.end) for gap in day.gaps] == [(midnight, midnight + timedelta(seconds=150 * STEP_S))]


def test_the_day_on_which_clocks_go_forward_has_23_hours() -> None:
    assert local_day(PARIS, date(2026, 3, 29)).length_s == 23 * HOUR_S
    assert local_day(PARIS, date(2026, 10, 25)).length_s == 25 * HOUR_S


def test_a_gap_in_yesterday_is_told_with_its_share() -> None:
    kept = kept_of(member_of(), MemoryStore())
    kept.store.append_history("chat", measured(NOW - 9 * DAY, NOW - DAY))
    kept.store.append_history("chat", measured(NOW - 15 * HOUR, NOW))
    kept.store.append_forecasts([("chat", forecast(NOW - HOUR))])
    assert about(review(kept), Code.GAPS_IN_HISTORY).sentence == "38% of yesterday's rpm was not measured"


def test_a_horizon_that_ends_before_tomorrow_does_is_told() -> None:
    kept = kept_of(member_of(), MemoryStore())
    kept.store.append_forecasts([("chat", forecast(NOW - HOUR, days=1))])
    found = review(kept)
    assert found.signals[0].tomorrow is not None
    assert not found.signals[0].whole
    assert "the forecast of rpm ends at 2026-03-05T08:00:00Z, before tomorrow does" in about(found, Code.PLAN_STALE).sentence


def test_a_good_day_needs_no_decision() -> None:
    found = review(kept_of(member_of()))
    assert found.attention == ()
    pool = found.pools[0]
    assert (pool.in_force.state, pool.floor, pool.floor_before) == (PlanState.FRESH, 24, 24)
    assert pool.replica_hours == pytest.approx(24 * 24)


def test_a_waiting_plan_comes_first_with_the_commands_that_judge_that_very_plan() -> None:
    found = review(kept_of(member_of(mode=Mode.REVIEW)))
    first = found.attention[0]
    assert first.code is Code.AWAITS_APPROVAL
    assert first.sentence == "chat/gpu@2026-03-04T08:00:00Z awaits approval: floor 24 at tomorrow's peak"
    assert first.commands == (
        "approve chat --plan chat/gpu@2026-03-04T08:00:00Z",
        "reject chat --plan chat/gpu@2026-03-04T08:00:00Z",
    )
    assert (found.pools[0].baseline, found.pools[0].floor_before, found.pools[0].replica_hours_before) == (None, None, None)


def test_a_waiting_plan_is_compared_with_the_one_that_a_person_approved() -> None:
    kept = kept_of(member_of(mode=Mode.REVIEW))
    old, inherits = plan(NOW - 3 * HOUR, 20), plan(NOW - 2 * HOUR, 21)
    kept.store.append_plans([old, inherits])
    kept.store.append_ruling(approval(old.id, NOW - 2.5 * HOUR, until=old.valid_until))
    kept.store.append_ruling(approval(inherits.id, NOW - 2 * HOUR, author="forecaster", until=old.valid_until))
    pool = review(kept).pools[0]
    assert pool.baseline is not None
    assert (pool.baseline.id, pool.floor, pool.floor_before) == (old.id, 24, 20)
    assert pool.approval is not None
    assert pool.approval.author == "ada"
    assert about(review(kept), Code.AWAITS_APPROVAL).sentence.endswith("floor 24 at tomorrow's peak, 20 in the approved plan")
    assert (pool.replica_hours, pool.replica_hours_before) == pytest.approx((576.0, 480.0))


def test_in_auto_a_held_plan_is_compared_with_the_plan_in_force() -> None:
    kept = kept_of(member_of())
    held = plan(NOW - HOUR / 2, 60, held=(Reason(code=Code.ENVELOPE, detail="the fleet's replica-hours change by 150%"),))
    kept.store.append_plans([held])
    found = review(kept)
    assert (found.pools[0].floor, found.pools[0].floor_before, found.pools[0].approval) == (60, 24, None)
    assert about(found, Code.ENVELOPE).sentence.endswith(
        "floor 60 at tomorrow's peak, 24 in the plan in force; the fleet's replica-hours change by 150%"
    )


def test_an_expired_plan_a_silent_applier_and_an_old_forecast_are_told_with_what_to_run() -> None:
    found = review(kept_of(member_of(), kept_of(member_of()).store, NOW + 30 * HOUR))  # type: ignore[arg-type]  # it is a MemoryStore
    assert {(item.code, item.commands) for item in found.attention} >= {
        (Code.PLAN_STALE, ("forecast",)),
        (Code.TARGET_FAILED, ("apply",)),
    }
    assert "the last decision for recording:chat is 30 h old, of 2026-03-04T08:30:00Z" in about(found, Code.TARGET_FAILED).sentence
    assert found.pools[0].floor is None


def test_a_pool_without_capacity_is_told_to_set_one() -> None:
    member = member_of()
    pool = replace(member.workload.pools[0], capacity=replace(member.workload.pools[0].capacity, rpm=None))
    found = review(kept_of(replace(member, workload=replace(member.workload, pools=(pool,)))))
    assert about(found, Code.NO_CAPACITY).sentence == f"pool gpu has no capacity for rpm: it is held where it is; {HOW_TO_TELL}"


def test_what_a_target_refused_and_what_alerted_is_told() -> None:
    kept = kept_of(member_of())
    (said,) = kept.last_records()
    alert = Reason(code=Code.CEILING_BELOW_FLOOR, detail="the target's own ceiling is 20, 24 were asked for", before=24, after=20)
    failed = replace(said, at=NOW, error="403: patch is not allowed", applied=None, decision=replace(said.decision, reasons=(alert,)))
    kept.store.append_records([failed])
    sentences = [item.sentence for item in review(kept).attention]
    assert sentences == [
        "recording:chat was not written: 403: patch is not allowed",
        "recording:chat: the target's own ceiling is 20, 24 were asked for",
    ]


def test_orders_are_told_with_author_end_and_the_command_that_ends_them() -> None:
    kept = kept_of(member_of())
    at, until = NOW - HOUR, NOW + HOUR
    kept.store.append_ruling(
        Ruling(at=at, workload="chat", kind=RulingKind.PAUSE, author="bob", reason="upgrade", paused=Paused.HOLD, until=until)
    )
    kept.store.append_ruling(Ruling(at=at, workload="chat", kind=RulingKind.OVERRIDE, author="eve", reason="launch", replicas=44))
    paused, overridden = review(kept).attention
    assert paused.sentence == "paused by bob since 2026-03-04T08:00:00Z, until 2026-03-04T10:00:00Z: upgrade"
    assert paused.commands == ("resume chat",)
    assert overridden.sentence == "floor set to 44 by eve since 2026-03-04T08:00:00Z, until it is taken back: launch"
    assert overridden.commands == ("override clear chat",)
    assert codes(review(replace(kept, now=until))) == [Code.OVERRIDDEN]


def test_a_day_whose_peak_was_not_the_demand_is_no_measure_of_tomorrow() -> None:
    kept = kept_of(member_of())
    week_ago = local_day(PARIS, date(2026, 2, 26))
    outage = Mark(kind=MarkKind.OUTAGE, span=Window(start=week_ago.start, end=week_ago.start + DAY / 2), signal=Signal.RPM, at=NOW - DAY)
    kept.store.append_marks("chat", [outage])
    found = review(kept)
    last_week = found.signals[0].last_week
    assert last_week is not None
    assert (last_week.marked, change_ratio(found.signals[0].tomorrow, last_week)) == (MarkKind.OUTAGE, None)
    assert sentences(found, found.signals[0])[0] == "Tomorrow's peak at P50 is +10% on yesterday's."
    assert peaks_table(found, found.signals[0]).rows[0][-1] == "a week before tomorrow, marked outage"


def test_a_mark_beside_the_peak_leaves_the_day_a_measure() -> None:
    kept = kept_of(member_of())
    night = local_day(PARIS, date(2026, 2, 26)).start
    said = Mark(kind=MarkKind.RESET, span=Window(start=night, end=night + HOUR), signal=Signal.RPM, at=NOW - DAY)
    kept.store.append_marks("chat", [said])
    assert change_ratio(review(kept).signals[0].tomorrow, review(kept).signals[0].last_week) == pytest.approx(0.1)


def test_whose_history_is_continued_is_told() -> None:
    older = Lineage(name="chat-v1", share_ratio=0.3)
    member = replace(member_of(), continues=(older,))
    found = review(kept_of(member))
    assert "Before its own first request its history is 0.3 x that of chat-v1." in sentences(found, found.signals[0])


def test_a_peak_like_yesterdays_is_level_with_it() -> None:
    kept = kept_of(member_of(), MemoryStore())
    kept.store.append_history("chat", measured(NOW - 2 * DAY, NOW, noon=220.0))
    kept.store.append_forecasts([("chat", forecast(NOW - HOUR))])
    found = review(kept)
    assert sentences(found, found.signals[0])[0] == "Tomorrow's peak at P50 is level with yesterday's."


def test_an_empty_store_is_one_sentence() -> None:
    sentence = r"nothing to review of chat: the store holds no forecast of the last two weeks; run `forecaster run` first, it says what"
    with pytest.raises(NothingKept, match=sentence):
        review_members(MemoryStore(), (member_of(),), NOW)
