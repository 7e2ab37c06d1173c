"""What every model promises, whatever it is made of: one suite over all of them."""

import zlib
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from forecaster.errors import ModelFailed, NotEnoughHistory
from forecaster.forecast import STANDARD_LEVELS, Forecast, Issued, State
from forecaster.models.ensemble import Ensemble
from forecaster.reasons import Code
from forecaster.series import Series
from forecaster.units import DAY_S, WEEK_S
from tests.asking import answers, asked, forecast, issued
from tests.contracts.models import ALL, DEMANDING, EXACT, QUICK, any_model
from tests.traces import MONDAY, horizon, panel, series_of, usual_rpm

DAY = timedelta(days=1)


@pytest.fixture(params=ALL)
def each_model(request: pytest.FixtureRequest) -> Ensemble:
    """All of them, for the questions that break libraries."""
    return any_model(request.param)


@pytest.fixture(params=QUICK)
def quick_model(request: pytest.FixtureRequest) -> Ensemble:
    """Those that answer in milliseconds."""
    return any_model(request.param)


def assert_equal(a: Forecast, b: Forecast, *, rtol: float = 0.0) -> None:
    np.testing.assert_allclose(a.values, b.values, rtol=rtol)
    np.testing.assert_allclose(a.window_max, b.window_max, rtol=rtol)
    for one, other in zip(a.daily_peaks, b.daily_peaks, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=rtol)
    assert a.coverage == (b.coverage if rtol == 0 else pytest.approx(b.coverage))


def with_more(load: Series, more: list[float]) -> Series:
    """The same load, with what came after it."""
    return replace(load, mean=np.concatenate((load.mean, more)), peak=np.concatenate((load.peak, more)))


def test_a_forecast_answers_what_was_asked(each_model: Ensemble) -> None:
    ahead = horizon(steps=30, window_steps=3)
    answer = forecast(each_model, panel(usual_rpm(20)), asked(ahead))
    assert (answer.start, answer.end, answer.step_s, answer.issued_at) == (ahead.start, ahead.end, ahead.step_s, ahead.issued_at)
    assert answer.levels == STANDARD_LEVELS
    assert answer.window_s == 3 * 3_600
    assert answer.model == each_model.name
    assert answer.trained_on.end == ahead.start
    assert answer.trained_on.start == ahead.start - 20 * DAY
    assert [peak.day.isoformat() for peak in answer.daily_peaks] == ["2026-03-02", "2026-03-03"]


def test_any_levels_may_be_asked(quick_model: Ensemble) -> None:
    load, few = panel(usual_rpm(20)), (0.5, 0.9)
    answer = forecast(quick_model, load, asked(levels=few))
    assert answer.levels == few
    np.testing.assert_allclose(answer.at_level(0.5), forecast(quick_model, load).at_level(0.5), rtol=0.02)


def test_equal_input_gives_equal_bytes(each_model: Ensemble) -> None:
    load = panel(usual_rpm(16))
    first, second = (issued(each_model, load)[0] for _ in range(2))
    assert first.forecast.values.tobytes() == second.forecast.values.tobytes()
    assert_equal(first.forecast, second.forecast)
    assert first.state == second.state
    assert isinstance(first.state, State)


def test_the_shares_of_members_add_up_to_one(each_model: Ensemble) -> None:
    answer = forecast(each_model, panel(usual_rpm(20)))
    assert [one.name for one in answer.members] == [voice.member.name for voice in each_model.voices]
    assert sum(one.weight_ratio for one in answer.members) == pytest.approx(1)


def test_a_maximum_is_never_below_the_buckets_that_it_covers(quick_model: Ensemble) -> None:
    answer = forecast(quick_model, panel(usual_rpm(20, noise_ratio=0.4)), asked(horizon(steps=48, window_steps=3)))
    for later in range(3):
        assert (answer.window_max[:, : 48 - later] >= answer.values[:, later:]).all()


def test_a_daily_peak_is_never_below_a_bucket_of_its_day(quick_model: Ensemble) -> None:
    answer = forecast(quick_model, panel(usual_rpm(20, noise_ratio=0.4)), asked(horizon(steps=48)))
    for day, peak in enumerate(answer.daily_peaks):
        assert (peak.values >= answer.values[:, 24 * day : 24 * (day + 1)].max(axis=1)).all()


def test_what_comes_after_the_start_is_not_looked_at(each_model: Ensemble) -> None:
    past = usual_rpm(16)
    assert_equal(forecast(each_model, panel(with_more(past, [9e6] * 24))), forecast(each_model, panel(past)))


def test_what_was_said_of_a_day_did_not_know_that_day(quick_model: Ensemble) -> None:
    """A flash crowd on the last day moves the forecast; the errors of the days before it stay what they were."""
    crowd = usual_rpm(20, noise_ratio=0.0).mean.copy()
    crowd[-24:] *= 50
    answer = forecast(quick_model, panel(series_of(crowd)), asked(horizon(steps=1)))
    assert answer.at_level(0.25)[0] < 50 * 200  # errors that had seen the crowd coming would have no downside


def test_a_shift_by_whole_weeks_moves_the_stamps_alone(each_model: Ensemble) -> None:
    here, there = MONDAY, MONDAY - timedelta(seconds=5 * WEEK_S)
    one, other = (forecast(each_model, panel(usual_rpm(16, end=at, seed=3)), asked(horizon(start=at))) for at in (here, there))
    assert_equal(one, other, rtol=1e-6)
    assert one.start - other.start == timedelta(weeks=5)


@pytest.mark.parametrize("name", EXACT)
def test_eight_times_the_load_is_eight_times_the_forecast(name: str) -> None:
    load, main = usual_rpm(20), any_model(name)
    one, eight = (forecast(main, panel(each)) for each in (load, series_of(load.mean * 8)))
    np.testing.assert_allclose(eight.values, one.values * 8, rtol=1e-6)
    np.testing.assert_allclose(eight.window_max, one.window_max * 8, rtol=1e-6)
    np.testing.assert_allclose(eight.daily_peaks[0].values, one.daily_peaks[0].values * 8, rtol=1e-6)


def test_gaps_are_left_out_and_not_read_as_zero(each_model: Ensemble) -> None:
    whole = usual_rpm(21, noise_ratio=0.02)
    holed = whole.mean.copy()
    holed[5 * 24 : 6 * 24 + 7] = np.nan
    holed[::17] = np.nan
    got, expected = (forecast(each_model, panel(load)).at_level(0.5) for load in (series_of(holed), whole))
    np.testing.assert_allclose(got, expected, rtol=0.15)


def test_an_outage_right_before_the_start_does_not_pull_the_forecast_down(each_model: Ensemble) -> None:
    whole = usual_rpm(21, noise_ratio=0.02)
    holed = whole.mean.copy()
    holed[-30:] = np.nan
    got, expected = (forecast(each_model, panel(load)).at_level(0.5) for load in (series_of(holed), whole))
    assert (got > 0.7 * expected).all()


def test_a_service_that_was_never_used_is_forecast_as_zero_and_says_so(each_model: Ensemble) -> None:
    (answer,) = issued(each_model, panel(series_of([0.0] * 24 * 9)))
    assert (answer.forecast.values == 0).all()
    assert (answer.forecast.window_max == 0).all()
    assert [note.code for note in answer.forecast.notes] == [Code.FLAT_ZERO]
    assert answer.state is None


@pytest.mark.parametrize("name", EXACT)
def test_a_constant_load_stays_what_it_is(name: str) -> None:
    answer = forecast(any_model(name), panel(series_of([40.0] * 24 * 20)))
    np.testing.assert_allclose(answer.at_level(0.5), 40, rtol=1e-3)
    np.testing.assert_allclose(answer.at_level(0.99), 40, rtol=0.02)


@pytest.mark.parametrize("hours", [0, 1, 23])
def test_less_than_a_day_of_history_is_not_enough_for_anybody(each_model: Ensemble, hours: int) -> None:
    load = np.full(24 * 3, np.nan)
    load[load.size - hours :] = 5.0
    (answer,) = answers(each_model, panel(series_of(load)))
    assert isinstance(answer, NotEnoughHistory)
    assert str(answer).startswith(f"a has {hours}.0 h of history of which {hours}.0 h were measured, and {each_model.name} needs 24 h")


def test_a_day_of_which_less_than_half_was_measured_is_not_enough_either(each_model: Ensemble) -> None:
    load = np.full(24, np.nan)
    load[::3] = 5.0
    assert isinstance(answers(each_model, panel(series_of(load)))[0], NotEnoughHistory)


@pytest.mark.parametrize("name", [name for name in ALL if name not in DEMANDING])
def test_a_day_of_history_is_enough(name: str) -> None:
    answer = forecast(any_model(name), panel(usual_rpm(1)))
    assert answer.at_level(0.95).min() > answer.at_level(0.5).min() > 0
    assert answer.coverage == (None,) * len(STANDARD_LEVELS)
    assert answer.record is None
    assert answer.notes[0].code is Code.YOUNG_HISTORY


@pytest.mark.parametrize("name", DEMANDING)
def test_a_member_alone_that_has_no_opinion_says_so(name: str) -> None:
    (answer,) = answers(any_model(name), panel(usual_rpm(1)))
    assert isinstance(answer, ModelFailed)
    assert str(answer) == f"no member of {name} has an opinion on a: too little of its history is usable"


def test_series_of_a_chunk_do_not_know_each_other(each_model: Ensemble) -> None:
    one, other = usual_rpm(15, seed=1), series_of(usual_rpm(15, seed=2).mean * 30)
    nothing = series_of(np.full(15 * 24, np.nan))
    none, *together = answers(each_model, panel(nothing, one, other))
    assert isinstance(none, NotEnoughHistory)
    for answer, load in zip(together, (one, other), strict=True):
        assert isinstance(answer, Issued)
        assert_equal(answer.forecast, forecast(each_model, panel(load)), rtol=1e-6)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("days", [3, 9, 16])
def test_a_series_is_no_younger_or_older_for_the_others_of_its_chunk(name: str, days: int) -> None:
    """Days of strangers before it began change nothing for it, but that a tie in its coverage may fall either way with the last digit."""
    main, load = any_model(name), usual_rpm(days, seed=1)
    padded = series_of(np.concatenate((np.full((40 - days) * 24, np.nan), load.mean)))
    alone, (_, together) = forecast(main, panel(load)), issued(main, panel(usual_rpm(40, seed=2, zone_s=DAY_S // 2), padded))
    np.testing.assert_allclose(together.forecast.at_level(0.5), alone.at_level(0.5), rtol=1e-3)
    np.testing.assert_allclose(together.forecast.values, alone.values, rtol=0.1)
    assert together.forecast.trained_on == alone.trained_on
    assert together.forecast.notes == tuple(replace(note, detail=note.detail.replace("a has", "b has")) for note in alone.notes)


def test_the_state_of_yesterday_serves_today(each_model: Ensemble) -> None:
    load = usual_rpm(16)
    (before,) = issued(each_model, panel(load.known_at(MONDAY - DAY)), asked(horizon(start=MONDAY - DAY)))
    (with_state,) = issued(each_model, panel(load), None, (before.state,))
    (without,) = issued(each_model, panel(load))
    np.testing.assert_allclose(with_state.forecast.at_level(0.5), without.forecast.at_level(0.5), rtol=0.02)
    assert with_state.forecast.record is not None


def strangers(state: State) -> tuple[State, ...]:
    """States that are of no use: of others, of another version, torn, or of another making."""
    turned = bytearray(state.payload)
    turned[-40] ^= 1
    payloads = (
        b"",
        b"\x80torn",
        state.payload[:-1],
        state.payload[: len(state.payload) // 2],
        bytes(turned),
        *map(whole, (b"5", b"[]", b"{}", b"{", b'{"today":1e999}')),
    )
    return (
        replace(state, model="another"),
        replace(state, version=state.version + 1),
        *(replace(state, payload=payload) for payload in payloads),
    )


def whole(head: bytes) -> bytes:
    """A payload that is not torn, with another head."""
    rest = len(head).to_bytes(4, "little") + head
    return zlib.crc32(rest).to_bytes(4, "little") + rest


def test_k22_a_state_that_is_not_this_models_is_as_none(quick_model: Ensemble) -> None:
    load = panel(usual_rpm(9))
    (fresh,) = issued(quick_model, load)
    assert fresh.state is not None
    for stranger in strangers(fresh.state):
        (answer,) = issued(quick_model, load, None, (stranger,))
        assert_equal(answer.forecast, fresh.forecast)
        assert answer.state == fresh.state
