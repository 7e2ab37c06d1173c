"""Members together: one that fails costs its own say, and all of them make a forecast that fits the clock on the wall."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.errors import ModelFailed
from forecaster.forecast import Forecast, Issued
from forecaster.models.catalogue import DEFAULT_MEMBERS, member, model
from forecaster.models.chunk import forecast_chunk
from forecaster.reasons import Code
from forecaster.series import Floats, Series
from tests.asking import answers, asked, forecast, issued, run
from tests.forecaster.models.broken import Counted, Flat, Raises, ensemble_of
from tests.traces import MONDAY, horizon, packaged_trace, panel, series_of, usual_rpm

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
SPEAK = tuple(member(name) for name in ("profile", "naive_week", "slot_quantile"))


def shares(answer: Forecast) -> dict[str, float]:
    return {one.name: one.weight_ratio for one in answer.members}


# a member that raises


def test_a_member_that_raises_loses_its_say_for_that_run_and_is_named() -> None:
    answer = forecast(ensemble_of(*SPEAK, Raises()), panel(usual_rpm(20)))
    assert shares(answer)["raises"] == 0
    (note,) = answer.notes
    assert note.code is Code.MEMBER_FAILED
    assert note.detail == "raises failed on a with FloatingPointError: matrix is singular"


def test_the_others_draw_what_they_would_have_drawn_without_it() -> None:
    load = panel(usual_rpm(20))
    with_it, without = (forecast(ensemble_of(*SPEAK, *more), load) for more in ((Raises(),), ()))
    np.testing.assert_array_equal(with_it.values, without.values)
    np.testing.assert_array_equal(with_it.window_max, without.window_max)


def test_a_member_that_raises_on_one_series_has_its_say_on_the_others() -> None:
    main, load = ensemble_of(*SPEAK, Raises(on=("b",))), panel(*(usual_rpm(20, seed=seed) for seed in range(3)))
    first, second, third = (one.forecast for one in issued(main, load))
    assert shares(first)["raises"] > 0
    assert shares(third)["raises"] > 0
    assert shares(second)["raises"] == 0
    assert [len(one.notes) for one in (first, second, third)] == [0, 1, 0]


def test_a_member_that_raised_yesterday_speaks_again_today() -> None:
    load = usual_rpm(21, end=MONDAY + DAY)
    before = run(load, MONDAY, main=ensemble_of(*SPEAK, Raises(name="naive_day")))
    after = run(load, MONDAY + DAY, before.state, main=ensemble_of(*SPEAK, member("naive_day")))
    assert shares(before.forecast)["naive_day"] == 0
    assert shares(after.forecast)["naive_day"] > 0


def test_when_all_members_fail_the_answer_is_a_typed_error_and_the_fallback_speaks() -> None:
    load, main = panel(usual_rpm(20)), ensemble_of(Raises(), Raises(name="too"))
    (answer,) = answers(main, load)
    assert isinstance(answer, ModelFailed)
    assert str(answer) == (
        "no member of ensemble has an opinion on a: raises failed on a with FloatingPointError: matrix is singular; "
        "too failed on a with FloatingPointError: matrix is singular"
    )
    (instead,) = forecast_chunk(load, (None,), asked(), main, model("seasonal_naive"))
    assert isinstance(instead, Issued)
    assert instead.forecast.model == "seasonal_naive"
    assert instead.forecast.notes[0].code is Code.MODEL_FAILED
    assert "matrix is singular" in instead.forecast.notes[0].detail


def test_a_member_without_an_opinion_changes_nothing_and_is_no_failure() -> None:
    load = panel(usual_rpm(20))
    answer = forecast(ensemble_of(*SPEAK, Flat(load=np.nan)), load)
    assert answer.notes == ()
    assert shares(answer)["flat"] == 0
    np.testing.assert_array_equal(answer.values, forecast(ensemble_of(*SPEAK), load).values)


def test_a_bad_member_says_next_to_nothing_after_two_weeks() -> None:
    assert shares(forecast(ensemble_of(*SPEAK, Flat(load=20.0)), panel(usual_rpm(20))))["flat"] < 1e-3


# what it is made of


def test_every_member_is_shown_with_its_share_and_its_loss_over_that_of_yesterdays_load() -> None:
    members = forecast(model("ensemble"), panel(usual_rpm(28))).members
    assert [one.name for one in members] == [name for name in DEFAULT_MEMBERS if name in {each.name for each in members}]
    of = {one.name: one for one in members}
    assert of["naive_day"].loss_ratio == 1
    assert of["profile"].loss_ratio is not None
    assert of["profile"].loss_ratio < 0.7
    assert of["profile"].weight_ratio > of["naive_week"].weight_ratio > of["naive_day"].weight_ratio


def test_without_the_naive_one_no_loss_is_told() -> None:
    assert all(one.loss_ratio is None for one in forecast(ensemble_of(*SPEAK), panel(usual_rpm(20))).members)


def test_the_ensemble_is_no_worse_than_its_members_on_a_real_week() -> None:
    """Over the last three days of the packaged week, each from what was known at its midnight: near the best, which nobody knew before."""
    load = packaged_trace().series().coarser(300)
    first = load.start + timedelta(seconds=-load.start.timestamp() % 86_400)
    losses = {}
    for name in ("ensemble", "naive_day", "profile", "ridge_slow", "holt_winters"):
        errors = []
        for day in (4, 5, 6):
            at = first + day * DAY
            came = load.between(at, at + DAY).mean
            errors.append(np.abs(run(load, at, main=model(name), steps=came.size).forecast.at_level(0.5) - came).mean())
        losses[name] = np.mean(errors)
    best = min(loss for name, loss in losses.items() if name != "ensemble")
    assert losses["ensemble"] < losses["naive_day"]
    assert losses["ensemble"] < 1.15 * best


# young series


def noisy(days: int, seed: int, ratio: float) -> Series:
    return usual_rpm(days, seed=seed, noise_ratio=ratio)


def chunk(young: Series, *older: Series) -> Forecast:
    """The forecast of a young series in a chunk with older ones."""
    length = max(len(one) for one in (young, *older))
    padded = [series_of(np.concatenate((np.full(length - len(one), np.nan), one.mean))) for one in (young, *older)]
    return issued(model("profile"), panel(*padded))[0].forecast


def margin(answer: Forecast) -> float:
    return float((answer.at_level(0.95) / answer.at_level(0.5)).mean())


def test_a_young_series_borrows_the_size_of_errors_of_at_least_five_older_ones_of_its_chunk() -> None:
    young = noisy(1, 0, 0.1)
    alone, few, wild, calm = (
        margin(chunk(young, *(noisy(28, 1 + i, ratio) for i in range(count)))) for count, ratio in ((0, 0), (4, 0.8), (5, 0.8), (5, 0.02))
    )
    assert few == alone
    assert calm < alone < wild


def test_a_week_old_one_borrows_nothing() -> None:
    old = noisy(8, 0, 0.1)
    assert margin(chunk(old, *(noisy(28, 1 + i, 0.8) for i in range(6)))) == pytest.approx(margin(chunk(old)))


def test_under_a_week_of_history_it_says_what_it_does_not_know() -> None:
    for days, codes in ((1, [Code.YOUNG_HISTORY]), (6, [Code.YOUNG_HISTORY]), (7, [])):
        assert [note.code for note in forecast(model("ensemble"), panel(usual_rpm(days))).notes] == codes


# by the clock on the wall


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/New_York"])
def test_a_run_at_noon_and_one_at_midnight_agree_on_tomorrow(zone: str) -> None:
    """Within the noise of half a day, wherever midnight is: 15 minutes past the hour of UTC in Nepal."""
    calendar = Calendar(zone=zone)
    midnight = MONDAY - timedelta(seconds=int(calendar.offsets_s(np.array([int(MONDAY.timestamp())]))[0])) + 3 * DAY
    load = usual_rpm(30, end=midnight, step_s=900, noise_ratio=0.05, zone_s=int((MONDAY + 3 * DAY - midnight).total_seconds()))
    at_noon = run(load, midnight - 12 * HOUR, calendar=calendar, steps=6 * 24)
    at_midnight = run(load, midnight, at_noon.state, calendar=calendar, steps=4 * 24)
    noon, later = at_noon.forecast, at_midnight.forecast
    same = noon.index(midnight)
    assert same == 48
    np.testing.assert_allclose(noon.at_level(0.5)[same : same + 96], later.at_level(0.5)[:96], rtol=0.06)
    np.testing.assert_allclose(noon.at_level(0.95)[same : same + 96], later.at_level(0.95)[:96], rtol=0.15)
    peaks = [next(peak for peak in one.daily_peaks if peak.covers.start == midnight) for one in (noon, later)]
    assert peaks[0].at_level(0.95) == pytest.approx(peaks[1].at_level(0.95), rel=0.15)
    assert abs(peaks[0].at - peaks[1].at) < 2 * HOUR


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Australia/Eucla", "Pacific/Chatham"])
def test_local_days_of_quarter_hour_zones_have_their_peaks_at_the_local_noon(zone: str) -> None:
    calendar = Calendar(zone=zone)
    offset_s = int(calendar.offsets_s(np.array([int(MONDAY.timestamp())]))[0])
    load = usual_rpm(21, end=MONDAY, step_s=900, noise_ratio=0.02, zone_s=offset_s)
    answer = run(load, MONDAY, calendar=calendar, steps=3 * 96).forecast
    whole = [peak for peak in answer.daily_peaks if peak.covers.length_s == 86_400]
    assert len(whole) >= 2
    for peak in whole:
        assert abs(calendar.local(peak.at).hour + calendar.local(peak.at).minute / 60 - 12) <= 2
        assert peak.at_level(0.5) == pytest.approx(300, rel=0.1)


@pytest.mark.parametrize("step_s", [3_600, 7_200])
def test_a_zone_whose_midnight_lies_within_a_step_is_forecast_too(step_s: int) -> None:
    """Hourly buckets in Nepal begin at a quarter to the hour on the wall."""
    calendar = Calendar(zone="Asia/Kathmandu")
    load = usual_rpm(20, step_s=step_s, zone_s=20_700)
    first = run(load, MONDAY - DAY, calendar=calendar)
    answer = run(load, MONDAY, first.state, calendar=calendar, steps=48 * 3_600 // step_s).forecast
    expected = usual_rpm(2, end=MONDAY + 2 * DAY, step_s=step_s, zone_s=20_700, noise_ratio=0.0).mean
    np.testing.assert_allclose(answer.at_level(0.5), expected, rtol=0.15)


def by_the_wall(at: datetime, calendar: Calendar, days: int) -> Series:
    """Hourly load that is busy from nine to five on the wall, whatever the season."""
    hours = [at + (i - days * 24) * HOUR for i in range(days * 24)]
    return series_of(busy(np.array([calendar.local(hour).hour for hour in hours])), end=at)


def busy(hours: Floats) -> Floats:
    return np.where((hours >= 9) & (hours < 17), 400.0, 100.0)


@pytest.mark.parametrize("change", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
@pytest.mark.parametrize("hours_before", [25, 12, 1, -5, -30])
def test_over_a_change_of_the_clock_the_day_keeps_its_hours_on_the_wall(change: datetime, hours_before: int) -> None:
    paris, at = Calendar(zone="Europe/Paris"), change - hours_before * HOUR
    load = by_the_wall(at, paris, 25)
    before = run(load, at - DAY, calendar=paris)
    answer = run(load, at, before.state, calendar=paris, steps=48).forecast
    wall = np.array([paris.local(at + i * HOUR).hour for i in range(48)])
    expected = busy(wall)
    edge = np.isin(wall, (8, 9, 16, 17))
    np.testing.assert_allclose(answer.at_level(0.5)[~edge], expected[~edge], rtol=0.25)
    assert answer.values.max() < 1_300


@pytest.mark.parametrize(("noon", "hours"), [(datetime(2026, 3, 29, 10, tzinfo=UTC), 23), (datetime(2026, 10, 25, 11, tzinfo=UTC), 25)])
def test_the_day_of_a_change_has_its_row_and_its_score(noon: datetime, hours: int) -> None:
    paris = Calendar(zone="Europe/Paris")
    load = by_the_wall(noon + 2 * DAY, paris, 30)
    before = run(load, noon - DAY, calendar=paris)
    answer = run(load, noon + DAY, run(load, noon, before.state, calendar=paris).state, calendar=paris).forecast
    assert answer.record is not None
    assert answer.record.coverage >= 0.8
    assert [peak.covers.length_s // 3_600 for peak in before.forecast.daily_peaks][1] == hours


# every run is a forecast on its own


def test_draws_are_asked_at_local_midnights() -> None:
    counted = Counted(main=member("profile"))
    calendar = Calendar(zone="Asia/Kathmandu")
    run(usual_rpm(20, step_s=900), MONDAY, main=ensemble_of(counted), calendar=calendar)
    *earlier, now = sorted({at for at, _ in counted.asked})
    assert all(at % 86_400 == 0 for at in earlier)
    assert now % 86_400 == 20_700


def test_one_bucket_a_day_and_two_week_horizons_are_forecast() -> None:
    load = series_of(np.tile([100.0, 110, 120, 130, 140, 60, 50], 8), step_s=86_400)
    answer = forecast(model("ensemble"), panel(load), asked(horizon(step_s=86_400, steps=14)))
    np.testing.assert_allclose(answer.at_level(0.5), load.mean[:14], rtol=0.2)
