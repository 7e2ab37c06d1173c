"""What is kept of a series: a row a day, drawn once, as it was known at that day's midnight."""

import json
from datetime import timedelta

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.forecast import STANDARD_LEVELS, Forecast, State
from forecaster.models.catalogue import DEFAULT_MEMBERS, member, model
from forecaster.models.ensemble import Ensemble
from forecaster.models.kept import DAYS, PENDING, Form, Kept, recalled
from forecaster.units import DAY_S, epoch_s
from tests.asking import asked, issued, run
from tests.forecaster.models.broken import Counted, ensemble_of
from tests.traces import MONDAY, panel, series_of, usual_rpm

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LOAD = usual_rpm(40, end=MONDAY + 5 * DAY, noise_ratio=0.1)
DRAWN_FIRST, HEARD, CALIBRATED = 14, 2, 5


def counting() -> tuple[Ensemble, Counted]:
    """An ensemble of two, one of which counts."""
    counted = Counted(main=member("profile"))
    return ensemble_of(counted, member("naive_week")), counted


def days_asked(counted: Counted) -> list[int]:
    """The local days whose midnights were drawn since the last time, the oldest first, a day by its distance from MONDAY."""
    found = sorted((at - epoch_s(MONDAY)) / DAY_S for at, _ in counted.asked)
    counted.asked.clear()
    assert all(day == int(day) for day in found)
    return [int(day) for day in found]


def kept_of(state: State | None) -> Kept:
    """What a state holds, as of the day that it was kept on."""
    assert state is not None
    rest = state.payload[4:]
    head = json.loads(rest[4 : 4 + int.from_bytes(rest[:4], "little")])
    form = Form(
        step_s=head["step_s"],
        zone=head["zone"],
        members=tuple(head["members"]),
        levels=tuple(head["levels"]),
        per_day=head["per_day"],
        parts=head["parts"],
    )
    return recalled((state,), form, head["today"])


def assert_near(one: Forecast, other: Forecast, rtol: float) -> None:
    np.testing.assert_allclose(one.values, other.values, rtol=rtol)
    np.testing.assert_allclose(one.window_max, other.window_max, rtol=rtol)
    for mine, theirs in zip(one.daily_peaks, other.daily_peaks, strict=True):
        np.testing.assert_allclose(mine.values, theirs.values, rtol=rtol)


# one run after another


def test_the_first_run_draws_two_weeks_and_hears_members_of_two_days_before() -> None:
    main, counted = counting()
    run(LOAD, MONDAY, main=main)
    assert days_asked(counted) == list(range(1 - DRAWN_FIRST - HEARD, 1))


def test_a_second_run_at_midnight_draws_today_alone() -> None:
    main, counted = counting()
    first = run(LOAD, MONDAY, main=main)
    counted.asked.clear()
    run(LOAD, MONDAY, first.state, main=main)
    assert days_asked(counted) == [0]


@pytest.mark.parametrize("hours", [0, 7.5])
@pytest.mark.parametrize("days_before", [None, 1, 4])
def test_a_run_that_is_done_again_from_its_own_state_gives_equal_bytes(hours: float, days_before: int | None) -> None:
    """So that a restart at any instant gives the same floors."""
    load, at = usual_rpm(40, end=MONDAY + 5 * DAY, step_s=900), MONDAY + hours * HOUR
    before = None if days_before is None else run(load, at - days_before * DAY).state
    first = run(load, at, before)
    again = run(load, at, first.state)
    assert again.forecast.values.tobytes() == first.forecast.values.tobytes()
    assert again.forecast.window_max.tobytes() == first.forecast.window_max.tobytes()
    assert [peak.values.tolist() for peak in again.forecast.daily_peaks] == [peak.values.tolist() for peak in first.forecast.daily_peaks]
    assert (again.forecast.members, again.forecast.record) == (first.forecast.members, first.forecast.record)
    assert again.state == first.state


def test_later_runs_of_a_day_draw_from_where_they_stand_and_nothing_else() -> None:
    main, counted = counting()
    state = run(LOAD, MONDAY, main=main).state
    counted.asked.clear()
    for hour in (1, 9, 17):
        state = run(LOAD, MONDAY + hour * HOUR, state, main=main).state
    assert [at for at, _ in counted.asked] == [epoch_s(MONDAY + hour * HOUR) for hour in (1, 9, 17)]


def test_the_next_day_adds_its_row_and_no_other() -> None:
    main, counted = counting()
    state = run(LOAD, MONDAY, main=main).state
    counted.asked.clear()
    run(LOAD, MONDAY + DAY, state, main=main)
    assert days_asked(counted) == [1]


def test_after_two_days_away_the_missing_rows_are_drawn_as_they_would_have_been() -> None:
    main, counted = counting()
    state = run(LOAD, MONDAY, main=main).state
    away = state
    for day in (1, 2):
        state = run(LOAD, MONDAY + day * DAY, state, main=main).state
    counted.asked.clear()
    back = run(LOAD, MONDAY + 2 * DAY, away, main=main)
    assert days_asked(counted) == [1, 2]
    one, other = kept_of(back.state), kept_of(state)
    np.testing.assert_allclose(one.median, other.median, rtol=0.01)
    np.testing.assert_allclose(one.members, other.members, rtol=0.01)
    np.testing.assert_allclose(one.scores, other.scores, rtol=0.05, atol=0.05)


def test_after_days_for_which_no_quantiles_wait_rows_are_drawn_and_the_day_that_was_left_has_no_score() -> None:
    main, counted = counting()
    state = run(LOAD, MONDAY, main=main).state
    counted.asked.clear()
    back = kept_of(run(LOAD, MONDAY + PENDING * DAY, state, main=main).state)
    assert days_asked(counted) == [1, 2, 3]
    assert back.drawn[0, : PENDING + DRAWN_FIRST].all()
    scored = PENDING + DRAWN_FIRST - CALIBRATED
    assert np.flatnonzero(np.isnan(back.scores[0, :scored, 3])).tolist() == [0, PENDING]


def test_after_a_month_away_what_was_kept_says_nothing() -> None:
    state = run(LOAD, MONDAY - 33 * DAY, main=ensemble_of(member("profile"))).state
    later, fresh = (run(LOAD, MONDAY, each, main=ensemble_of(member("profile"))) for each in (state, None))
    np.testing.assert_allclose(later.forecast.at_level(0.5), fresh.forecast.at_level(0.5), rtol=0.01)
    assert_near(later.forecast, fresh.forecast, 0.05)  # but for the adaptive steps, which stay


def test_with_what_was_kept_a_forecast_is_nearly_that_without() -> None:
    """Kept as shares of the largest load in half precision: three digits."""
    state = run(LOAD, MONDAY).state
    for at in (MONDAY, MONDAY + 9 * HOUR):
        with_state, without = (run(LOAD, at, each) for each in (state, None))
        assert_near(with_state.forecast, without.forecast, 0.005)
        for mine, theirs in zip(with_state.forecast.members, without.forecast.members, strict=True):
            assert mine.weight_ratio == pytest.approx(theirs.weight_ratio, abs=0.02)


def test_a_run_for_an_instant_before_the_kept_day_ignores_it() -> None:
    later = run(LOAD, MONDAY + DAY).state
    with_state, without = (run(LOAD, MONDAY, each) for each in (later, None))
    assert_near(with_state.forecast, without.forecast, 0)
    assert with_state.state == without.state


def test_what_another_circle_of_members_or_other_levels_kept_is_of_no_use() -> None:
    others = ensemble_of(member("profile"), member("naive_day"))
    state = run(LOAD, MONDAY, main=others).state
    fresh, of_others = (run(LOAD, MONDAY, each, main=model("profile")) for each in (None, state))
    assert_near(of_others.forecast, fresh.forecast, 0)
    few = (0.5, 0.9, 0.99)
    load = panel(LOAD.known_at(MONDAY))
    request = asked(levels=few)
    plain, told = (issued(model("profile"), load, request, (each,))[0] for each in (None, fresh.state))
    assert_near(plain.forecast, told.forecast, 0)


def test_what_was_kept_in_another_zone_is_of_no_use() -> None:
    state = run(LOAD, MONDAY, main=model("profile")).state
    paris = Calendar(zone="Europe/Paris")
    plain, told = (run(LOAD, MONDAY, each, main=model("profile"), calendar=paris) for each in (None, state))
    assert_near(plain.forecast, told.forecast, 0)


def test_a_chunk_in_which_some_are_new_draws_their_rows_alone() -> None:
    main, counted = counting()
    load = panel(LOAD.known_at(MONDAY), series_of(LOAD.known_at(MONDAY).mean * 3))
    known = issued(main, load)
    counted.asked.clear()
    issued(main, load, None, (known[0].state, None))
    hindcasts = [names for at, names in counted.asked if at < epoch_s(MONDAY)]
    assert set(hindcasts) == {("b",)}
    assert len(hindcasts) == DRAWN_FIRST + HEARD - 1


# what a day leaves behind


def test_a_record_appears_with_the_first_scored_day() -> None:
    young = series_of(LOAD.mean[: 24 * 4], end=LOAD.start + 4 * DAY)
    at = young.start + DAY
    first = run(young, at)
    assert first.forecast.record is None
    second = run(young, at + DAY, first.state)
    assert second.forecast.record is not None
    assert second.forecast.record.days == 1
    third = run(young, at + 2 * DAY, second.state)
    assert third.forecast.record is not None
    assert third.forecast.record.days == 2


def test_days_that_are_drawn_afterwards_without_any_to_calibrate_on_have_no_score() -> None:
    """A forecaster of that day had had them. A series that was too young to have them is scored from its second day on."""
    for days, scored in ((40, DRAWN_FIRST - 1 - CALIBRATED), (15, DRAWN_FIRST - 1 - CALIBRATED), (14, 13), (4, 3)):
        kept = kept_of(run(usual_rpm(days), MONDAY).state)
        assert np.count_nonzero(~np.isnan(kept.scores[0, :, 3])) == scored


def test_a_record_speaks_of_what_was_said_and_what_came() -> None:
    record = run(LOAD, MONDAY).forecast.record
    assert record is not None
    assert record.days == DRAWN_FIRST - 1 - CALIBRATED
    assert 0 < record.pinball < record.naive_pinball
    assert 0.85 <= record.coverage <= 1
    assert abs(record.drift_log) < 0.1


def test_what_was_said_is_scored_and_not_what_would_be_said_now() -> None:
    """Monday is forecast, comes at three times that, and is scored against what had been said of it."""
    state = run(LOAD, MONDAY).state
    surged = LOAD.mean.copy()
    first = int((MONDAY - LOAD.start) / HOUR)
    surged[first : first + 24] *= 3
    after = run(series_of(surged, end=LOAD.end), MONDAY + DAY, state)
    scores = kept_of(after.state).scores[0]
    assert scores[1, 2] == pytest.approx(np.log(3), abs=0.15)  # drift
    assert (scores[1, 3:] == 0).all()  # nothing was covered


def test_a_night_of_downtime_loses_no_score() -> None:
    """The quantiles of a day wait for its end for as long as they are kept."""
    state = run(LOAD, MONDAY).state
    late = kept_of(run(LOAD, MONDAY + (PENDING - 1) * DAY + 7 * HOUR, state).state)
    assert not np.isnan(late.scores[0, 1 : PENDING + 8]).any()


def test_a_day_is_scored_once_however_often_it_is_asked_for() -> None:
    """Also where the naive forecast of that day is not known, since the day before was not measured."""
    holed = LOAD.mean.copy()
    first = int((MONDAY - LOAD.start) / HOUR)
    holed[first - 24 : first] = np.nan
    load = series_of(holed, end=LOAD.end)
    state = run(load, MONDAY).state
    steps = []
    for hour in range(24, 30):
        state = run(load, MONDAY + hour * HOUR, state).state
        steps.append(kept_of(state).steps.tolist())
    assert all(each == steps[0] for each in steps)


def test_a_day_that_was_not_measured_has_no_score_and_moves_no_step() -> None:
    state = run(LOAD, MONDAY).state
    holed = LOAD.mean.copy()
    first = int((MONDAY - LOAD.start) / HOUR)
    holed[first : first + 24] = np.nan
    after = kept_of(run(series_of(holed, end=LOAD.end), MONDAY + DAY, state).state)
    before = kept_of(state)
    assert np.isnan(after.scores[0, 1]).all()
    np.testing.assert_array_equal(after.steps, before.steps)


def test_where_nobody_had_an_opinion_nothing_is_scored() -> None:
    """Holt-Winters alone is silent on its first two days."""
    load = usual_rpm(4)
    kept = kept_of(run(load, MONDAY, main=model("holt_winters")).state)
    assert kept.drawn[0].tolist() == [True] * 3 + [False] * (DAYS - 3)
    assert np.isnan(kept.scores[0, 3:]).all()
    assert not np.isnan(kept.scores[0, 1:3, 3:]).any()


# as bytes


@pytest.mark.parametrize(("step_s", "most"), [(300, 60_000), (3_600, 25_000)])
def test_a_state_is_small_and_stays_so(step_s: int, most: int) -> None:
    load = usual_rpm(35, step_s=step_s)
    state = None
    for day in range(3):
        state = run(load, MONDAY - (2 - day) * DAY, state).state
    assert state is not None
    assert len(state.payload) < most


def test_rows_come_back_as_they_were_to_three_digits_and_scores_to_seven() -> None:
    rng = np.random.default_rng(1)
    form = Form(step_s=3_600, zone="UTC", members=("a", "b"), levels=STANDARD_LEVELS, per_day=24, parts=24)
    arrays = {name: rng.lognormal(5, 1, (2, *shape)) for name, shape in form.shapes().items()}
    arrays["median"][0, 5:9] = arrays["members"][1, 2, 1] = np.nan
    arrays["quantiles"][0, 1] = arrays["scores"][1, 20:] = np.nan
    kept = Kept(form=form, today=20_000, **arrays)
    back = recalled(kept.states(), form, 20_000)
    for name in ("median", "members", "quantiles"):
        np.testing.assert_allclose(getattr(back, name), arrays[name], rtol=1e-3)
    for name in ("scores", "steps"):
        np.testing.assert_allclose(getattr(back, name), arrays[name], rtol=1e-6)


def test_rows_move_back_as_days_go_by_and_the_last_ones_fall_off() -> None:
    form = Form(step_s=43_200, zone="UTC", members=("a",), levels=(0.5,), per_day=2, parts=2)
    arrays = {name: np.ones((1, *shape)) for name, shape in form.shapes().items()}
    arrays["median"][0] = np.arange(DAYS)[:, None]
    later = recalled(Kept(form=form, today=100, **arrays).states(), form, 103)
    assert np.isnan(later.median[0, :3]).all()
    np.testing.assert_allclose(later.median[0, 3:, 0], np.arange(DAYS - 3), rtol=1e-3)
    assert np.isnan(later.quantiles).all()  # three days on, none waits
    assert later.drawn[0].tolist() == [False] * 3 + [True] * (DAYS - 3)


def test_an_empty_series_of_states_is_no_row_at_all() -> None:
    form = Form(step_s=43_200, zone="UTC", members=("a",), levels=(0.5,), per_day=2, parts=2)
    nothing = recalled((None, None), form, 5)
    assert not nothing.drawn.any()
    assert not nothing.steps.any()
    again = recalled(nothing.states(), form, 5)
    assert not again.drawn.any()


def test_the_members_of_the_default_are_kept_by_name() -> None:
    """So that a fleet that gains or loses a member starts anew instead of mixing them up."""
    names = kept_of(run(LOAD, MONDAY).state).form.members
    assert names == tuple(voice.member.name for voice in model("ensemble").voices)
    assert set(names) <= set(DEFAULT_MEMBERS)


def test_of_a_series_that_is_zero_throughout_nothing_new_is_kept() -> None:
    """A service that is paused for longer than its history is not forgotten."""
    (answer,) = issued(model("ensemble"), panel(series_of([0.0] * 24 * 9)), None, (run(LOAD, MONDAY).state,))
    assert answer.state is None
