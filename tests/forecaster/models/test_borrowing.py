"""A young series lives on days of similar older ones, says so, and on nobody's where none is similar."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError, NotEnoughHistory
from forecaster.forecast import Forecast, Issued, State
from forecaster.models.borrowing import Borrowed, borrowed
from forecaster.models.catalogue import model
from forecaster.models.past import Past, past_of
from forecaster.reasons import Code
from forecaster.series import Floats, Panel, panel_of
from forecaster.units import DAY_S, HOUR_S
from tests.asking import answers, asked
from tests.traces import MONDAY, horizon, series_of, usual_rpm

DAYS = 42
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
SATURDAY = MONDAY - 2 * DAY
CORE = model("ensemble", members=("naive_day", "naive_week", "profile", "ridge_slow"))


def usual(level: float = 1.0, *, seed: int = 0, end: datetime = MONDAY, zone_s: int = 0, noise_ratio: float = 0.05) -> Floats:
    return level * usual_rpm(DAYS, end=end, seed=seed, zone_s=zone_s, noise_ratio=noise_ratio).mean


def born(load: Floats, hours: int) -> Floats:
    """The load of a service that is so many hours old."""
    return np.where(np.arange(load.size) < load.size - hours, np.nan, load)


def chunk(end: datetime = MONDAY, **loads: Floats) -> Panel:
    return panel_of({name: series_of(load, end=end) for name, load in loads.items()})


def past(**loads: Floats) -> Past:
    return past_of(chunk(MONDAY, **loads), MONDAY, Calendar())


def lent(**loads: Floats) -> Borrowed:
    return borrowed(past(**loads))


def answer(load: Panel, name: str, state: State | None = None) -> Issued | ForecasterError:
    states = [state if each == name else None for each in load.names]
    found = answers(CORE, load, asked(horizon(start=load.end, steps=48)), states)
    return found[load.names.index(name)]


def forecast(load: Panel, name: str = "young") -> Forecast:
    found = answer(load, name)
    assert isinstance(found, Issued), found
    return found.forecast


# who lends


def test_where_nobody_is_young_the_very_same_past_comes_back() -> None:
    known = past(a=usual(), b=usual(seed=1))
    assert borrowed(known).past is known


def test_days_before_the_first_measured_bucket_are_filled_in_and_others_stay() -> None:
    young = born(usual(3, seed=9), 60)
    young[-30:-20] = np.nan
    found, known = lent(old=usual(seed=1), young=young), past(old=usual(seed=1), young=young)
    assert not np.isnan(found.past.lines[1, -28 * 24 : -60]).any()
    np.testing.assert_array_equal(found.past.lines[1, -60:], known.lines[1, -60:])
    np.testing.assert_array_equal(found.past.lines[0], known.lines[0])


def test_borrowed_days_have_the_lenders_shape_at_the_young_ones_level() -> None:
    whole = usual(3, seed=9)
    loads = np.exp(lent(old=usual(seed=1), young=born(whole, 60)).past.lines[1]) - lent(old=usual(), young=born(whole, 60)).past.offset[1]
    np.testing.assert_allclose(loads[-28 * 24 : -60], whole[-28 * 24 : -60], rtol=0.35)
    assert abs(np.log(loads[-28 * 24 : -60] / whole[-28 * 24 : -60]).mean()) < 0.05


def test_of_two_colours_one_lends_to_the_other() -> None:
    assert lent(blue=usual(seed=1), green=born(usual(0.1, seed=9), 30)).lenders == {"green": (("blue", 1.0),)}


def test_shares_of_lenders_add_up_and_who_fits_best_lends_most() -> None:
    rough, like = usual(seed=1, noise_ratio=0.3), {f"old{i}": usual(i + 1, seed=i) for i in range(10)}
    found = lent(rough=rough, **like, young=born(usual(seed=99), 60)).lenders["young"]
    shares = [share for _, share in found]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert 2 <= len(shares) <= 6
    assert "rough" not in dict(found)


def test_who_is_busy_when_the_young_one_sleeps_lends_nothing() -> None:
    awake, asleep = usual(seed=1), usual(seed=2, zone_s=DAY_S // 2)
    for hours in (12, 60, 200):
        assert dict(lent(awake=awake, asleep=asleep, young=born(usual(seed=9), hours)).lenders["young"]) == {"awake": pytest.approx(1)}
        assert not lent(asleep=asleep, young=born(usual(seed=9), hours)).lenders


def test_a_flat_load_borrows_from_nobody() -> None:
    flat = 50 * np.random.default_rng(5).lognormal(0, 0.05, DAYS * 24)
    assert not lent(**{f"old{i}": usual(seed=i) for i in range(20)}, young=born(flat, 60)).lenders


def test_chance_alone_lends_nothing_however_many_are_asked() -> None:
    rng = np.random.default_rng(7)
    noise = {f"noise{i}": 50 * rng.lognormal(0, 0.5, DAYS * 24) for i in range(60)}
    assert not lent(**noise, young=born(50 * rng.lognormal(0, 0.5, DAYS * 24), 12)).lenders


def test_a_series_that_is_hardly_older_has_nothing_to_lend() -> None:
    assert not lent(old=born(usual(seed=1), 24 * 8), young=born(usual(seed=9), 60)).lenders
    assert lent(old=born(usual(seed=1), 24 * 10), young=born(usual(seed=9), 60)).lenders


def test_who_was_not_measured_or_not_in_use_meanwhile_lends_nothing() -> None:
    gone, off = usual(seed=1), usual(seed=2)
    gone[-40:], off[-60:] = np.nan, 0.0
    assert not lent(gone=gone, off=off, young=born(usual(seed=9), 60)).lenders


def test_what_lenders_did_not_measure_is_not_lent() -> None:
    old = usual(seed=1)
    old[-300:-250] = np.nan
    line = lent(old=old, young=born(usual(seed=9), 60)).past.lines[1]
    assert np.isnan(line[-300:-250]).all()
    assert not np.isnan(line[-250:]).any()


def test_less_is_borrowed_the_older_a_series_gets_and_nothing_from_two_weeks_on() -> None:
    def days(age: int) -> float:
        line = lent(old=usual(seed=1), young=born(usual(2, seed=9), age * 24)).past.lines[1]
        return float(np.count_nonzero(~np.isnan(line)) / 24 - age)

    assert [days(age) for age in (2, 7, 9, 11, 13, 14, 20)] == [28, 28, 20, 12, 4, 0, 0]


def test_what_was_borrowed_on_an_earlier_day_does_not_know_later_ones() -> None:
    old, young, other = usual(seed=1), born(usual(2, seed=9), 120), usual(seed=3, zone_s=9 * HOUR_S)
    known = borrowed(past(old=old, other=other, young=young).earlier(2))
    old[-48:], other[-48:], young[-48:] = usual(seed=5)[-48:] * 7, np.nan, 1.0
    again = past(old=old, other=other, young=young).earlier(2)
    np.testing.assert_allclose(
        np.exp(borrowed(again).past.lines[2]) - again.offset[2], np.exp(known.past.lines[2]) - known.past.offset[2], 0.1
    )


def test_some_of_a_chunk_borrow_from_all_of_it() -> None:
    known = past(old=usual(seed=1), young=born(usual(seed=9), 60))
    part = borrowed(known, np.array([1]))
    assert part.past.names == ("young",)
    np.testing.assert_array_equal(part.past.lines[0], borrowed(known).past.lines[1])


# what comes of it


def test_k12_a_service_that_is_three_days_old_knows_its_first_weekend_and_says_from_whom() -> None:
    load = usual(4, seed=9, end=MONDAY)
    known = load[:-48]
    old = {f"chat-{zone}": usual(i + 1, seed=i)[:-48] for i, zone in enumerate(("eu", "us", "in", "br"))}
    found, alone = forecast(chunk(SATURDAY, **old, young=born(known, 72))), forecast(chunk(SATURDAY, young=born(known, 72)))
    off, off_alone = (np.abs(each.at_level(0.5) - load[-48:]).mean() for each in (found, alone))
    assert off < 0.3 * off_alone
    assert 0.8 <= np.mean(load[-48:] <= found.at_level(0.95)) <= 1
    note = next(note for note in found.notes if note.code is Code.BORROWED_SHAPE)
    assert note.detail.startswith("young has 3.0 days of history; its days ahead lean on the shape of chat-")
    assert note.detail.endswith(" and 2 more")
    assert [each.code for each in found.notes] == [Code.YOUNG_HISTORY, Code.BORROWED_SHAPE]
    assert Code.BORROWED_SHAPE not in [each.code for each in alone.notes]
    assert found.trained_on == alone.trained_on


@pytest.mark.parametrize("hour", [0, 9])
def test_l17_a_few_hours_are_enough_where_somebody_lends_and_the_margin_is_wide(hour: int) -> None:
    end = MONDAY - DAY + hour * HOUR  # a Sunday
    cut = -24 + hour
    load = usual(5, seed=9)
    old = {f"old{i}": usual(i + 1, seed=i)[:cut] for i in range(8)}
    found = forecast(chunk(end, **old, young=born(load[:cut], 8)))
    later = forecast(chunk(end, **old, young=born(load[:cut], 24 * 6)))
    ahead = load[cut:]
    assert np.abs(found.at_level(0.5)[:-cut] / ahead - 1).mean() < 0.3
    assert np.mean(ahead <= found.at_level(0.95)[:-cut]) > 0.9
    wide, narrow = (np.mean(each.at_level(0.95) / each.at_level(0.5)) - 1 for each in (found, later))
    assert wide > 1.5 * narrow
    assert Code.BORROWED_SHAPE in [note.code for note in found.notes]
    assert found.trained_on.length_s == 8 * HOUR_S


@pytest.mark.parametrize("hours", [0, 2])
def test_under_three_hours_nobody_can_be_said_to_be_similar(hours: int) -> None:
    found = answer(chunk(old=usual(seed=1), young=born(usual(seed=9), hours)), "young")
    assert isinstance(found, NotEnoughHistory)


def test_a_few_hours_among_strangers_are_not_enough() -> None:
    found = answer(chunk(asleep=usual(seed=1, zone_s=DAY_S // 2), young=born(usual(seed=9), 9)), "young")
    assert isinstance(found, NotEnoughHistory)


def test_a_young_one_among_strangers_is_forecast_as_if_it_were_alone() -> None:
    young = born(usual(2, seed=9), 96)
    alone, among = forecast(chunk(young=young)), forecast(chunk(asleep=usual(seed=1, zone_s=DAY_S // 2), young=young))
    np.testing.assert_allclose(among.at_level(0.5), alone.at_level(0.5), rtol=1e-3)


def test_lenders_know_nothing_of_who_borrows() -> None:
    old = usual(seed=1)
    alone, lending = forecast(chunk(old=old), "old"), forecast(chunk(old=old, young=born(usual(40, seed=9), 60)), "old")
    assert lending.values.tobytes() == alone.values.tobytes()


def test_a_series_that_began_with_hours_goes_on_with_what_was_kept() -> None:
    load, old = usual(5, seed=9), usual(seed=1)
    state, record = None, None
    for day in (5, 4, 3, 2):
        end, cut = MONDAY - day * DAY, -24 * day
        found = answer(chunk(end, old=old[:cut], young=born(load[:cut], 24 * (5 - day) + 8)), "young", state)
        assert isinstance(found, Issued)
        state, record = found.state, found.forecast.record
    assert record is not None
    assert record.days == 2
    assert record.coverage > 0.8
