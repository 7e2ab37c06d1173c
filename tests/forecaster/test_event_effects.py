"""What events do to forecasts and to history."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.event_effects import ordinary, strength, with_events
from forecaster.events import Event, Every
from forecaster.forecast import STANDARD_LEVELS, DailyPeak, Forecast
from forecaster.reasons import Code
from forecaster.series import Floats, Series, Signal, Window
from forecaster.units import epoch_s

START = datetime(2026, 3, 2, tzinfo=UTC)
STEP_S = 300
DAY = 288
MEDIAN = STANDARD_LEVELS.index(0.5)


def event(first_h: float, last_h: float, **more: object) -> Event:
    """From `first_h` to `last_h` hours after START; threefold load unless said otherwise."""
    begin = START.replace(tzinfo=None)
    stated: dict[str, object] = {"name": "launch", "zone": "UTC", "factor": 3.0, **more}
    return Event(start=begin + timedelta(hours=first_h), end=begin + timedelta(hours=last_h), **stated)  # type: ignore[arg-type]  # as the test varies


def told(first_h: float, last_h: float, load: float, **more: object) -> Event:
    return event(first_h, last_h, factor=None, load=load, signal=Signal.RPM, workloads=("chat",), **more)


def forecast(load: Floats | float = 100.0, *, signal: Signal = Signal.RPM, days: int = 2, start: datetime = START) -> Forecast:
    """Medians as given, the levels from half to twice of it, window maxima a tenth and peaks a fifth above."""
    spread = np.exp(np.linspace(-0.7, 0.7, len(STANDARD_LEVELS)))
    spread /= spread[MEDIAN]
    values = spread[:, None] * np.broadcast_to(np.asarray(load, dtype=np.float64), (days * DAY,))
    peaks = []
    for d in range(days):
        covers = Window(start=start + timedelta(days=d), end=start + timedelta(days=d + 1))
        day = values[:, d * DAY : (d + 1) * DAY]
        at = covers.start + timedelta(seconds=STEP_S * int(day[MEDIAN].argmax()))
        peak = DailyPeak(day=covers.start.date(), zone="UTC", covers=covers, levels=STANDARD_LEVELS, values=day.max(axis=1) * 1.2, at=at)
        peaks.append(peak)
    return Forecast(
        signal=signal,
        issued_at=start,
        start=start,
        step_s=STEP_S,
        levels=STANDARD_LEVELS,
        values=values,
        window_max=values * 1.1,
        window_s=900,
        daily_peaks=tuple(peaks),
        model="test",
        trained_on=Window(start=start - timedelta(days=7), end=start),
        coverage=(None,) * len(STANDARD_LEVELS),
    )


def felt(of: Event, n: int = DAY) -> Floats:
    return strength(of, epoch_s(START), STEP_S, n)


# how much of an event is felt


def test_an_event_is_felt_wholly_between_its_ends_and_nowhere_else() -> None:
    part = felt(event(9, 17))
    assert (part[9 * 12 : 17 * 12] == 1).all()
    assert part.sum() == 8 * 12


def test_a_ramp_is_linear_and_lies_outside_of_the_event() -> None:
    part = felt(event(9, 10, ramp_up_s=3_600.0, ramp_down_s=1_800.0))
    assert part[8 * 12 : 9 * 12] == pytest.approx((np.arange(12) + 0.5) / 12)
    assert (part[9 * 12 : 10 * 12] == 1).all()
    assert part[10 * 12 : 10 * 12 + 6] == pytest.approx((5.5 - np.arange(6)) / 6)
    assert not part[: 8 * 12].any()
    assert not part[10 * 12 + 6 :].any()


def test_an_event_that_begins_within_a_bucket_is_felt_for_its_share_of_it() -> None:
    assert felt(event(9 + 1 / 60, 10))[9 * 12] == pytest.approx(0.8)


def test_occurrences_that_overlap_are_felt_once() -> None:
    long = event(0, 30, every=Every.DAY)
    assert felt(long, 3 * DAY).max() == 1


# ahead


def test_a_launch_without_precedent_multiplies_the_load_while_it_lasts() -> None:
    plain = forecast()
    launched = with_events(plain, "chat", [event(9, 17)])
    ratio = launched.values / plain.values
    assert ratio[:, 9 * 12 : 17 * 12] == pytest.approx(3)
    assert (np.delete(ratio, np.s_[9 * 12 : 17 * 12], axis=1) == 1).all()


def test_an_event_counts_in_every_lead_window_that_reaches_it() -> None:
    plain = forecast()
    ratio = with_events(plain, "chat", [event(9, 17)]).window_max / plain.window_max
    assert ratio[:, 9 * 12 - 2 : 17 * 12] == pytest.approx(3)  # 15 minutes: the bucket itself and the two before it
    assert (ratio[:, : 9 * 12 - 2] == 1).all()
    assert (ratio[:, 17 * 12 :] == 1).all()


def test_the_peak_of_its_day_grows_moves_and_leaves_the_other_day_alone() -> None:
    load = np.tile(100 + 50 * np.sin(np.arange(DAY) / DAY * 2 * np.pi), 2)  # largest at 6:00
    plain = forecast(load)
    launched = with_events(plain, "chat", [event(20, 21)])
    first, second = launched.daily_peaks
    largest = launched.values[MEDIAN, :DAY].max()
    assert first.values / plain.daily_peaks[0].values == pytest.approx(largest / 150)
    assert START + timedelta(hours=20) <= first.at < START + timedelta(hours=21)
    assert second is plain.daily_peaks[1]


def test_an_event_below_the_peak_of_the_day_leaves_the_peak() -> None:
    load = np.where(np.arange(2 * DAY) % DAY < 72, 10.0, 100.0)
    plain = forecast(load)
    first, _ = with_events(plain, "chat", [event(1, 2)]).daily_peaks
    assert np.array_equal(first.values, plain.daily_peaks[0].values)
    assert first.at == plain.daily_peaks[0].at


def test_an_absolute_load_stands_at_every_level() -> None:
    closed_then_busy = with_events(forecast(), "chat", [told(0, 12, 0.0), told(12, 24, 5_000.0, name="test")])
    assert not closed_then_busy.values[:, : 12 * 12].any()
    assert (closed_then_busy.values[:, 12 * 12 : DAY] == 5_000).all()
    assert not closed_then_busy.window_max[:, : 12 * 12 - 2].any()
    assert (closed_then_busy.window_max[:, 12 * 12 - 2 : DAY - 2] == 5_000).all()
    assert (closed_then_busy.daily_peaks[0].values == 5_000).all()


def test_an_absolute_load_is_of_its_own_signal_and_workload() -> None:
    concurrency = forecast(signal=Signal.CONCURRENCY)
    assert with_events(concurrency, "chat", [told(0, 12, 9.0)]) is concurrency
    plain = forecast()
    assert with_events(plain, "embed", [told(0, 12, 9.0)]) is plain


def test_a_factor_on_load_leaves_the_length_of_requests_alone() -> None:
    length = forecast(signal=Signal.INPUT_LENGTH)
    assert with_events(length, "chat", [event(0, 12)]) is length


def test_factors_multiply_and_of_absolute_loads_the_largest_stands() -> None:
    both = with_events(forecast(), "chat", [event(0, 2), event(1, 3, name="b", factor=2.0)])
    assert both.values[MEDIAN, [0, 12, 24, 36]] == pytest.approx([300, 600, 200, 100])
    loads = with_events(forecast(), "chat", [told(0, 2, 50.0), told(1, 3, 70.0, name="b")])
    assert loads.values[MEDIAN, [0, 12, 24, 36]] == pytest.approx([50, 70, 70, 100])


def test_events_without_a_workload_are_for_all_and_others_for_theirs() -> None:
    plain = forecast()
    assert with_events(plain, "chat", [event(1, 2, workloads=("embed",))]) is plain
    assert with_events(plain, "embed", [event(1, 2, workloads=("embed",))]) is not plain


def test_without_events_or_with_those_of_other_times_the_forecast_is_the_same_object() -> None:
    plain = forecast()
    assert with_events(plain, "chat", []) is plain
    assert with_events(plain, "chat", [event(-10, -2), event(48, 50)]) is plain


def test_each_event_leaves_a_note_that_names_it() -> None:
    (note,) = with_events(forecast(), "chat", [event(9, 17, name="spring launch")]).notes
    assert note.code is Code.EVENT
    assert note.detail == "spring launch: load x 3 from 2026-03-02T09:00:00Z to 2026-03-02T17:00:00Z"
    (note,) = with_events(forecast(), "chat", [told(9, 17, 5_000.0)]).notes
    assert note.detail == "launch: rpm is 5,000 requests/min from 2026-03-02T09:00:00Z to 2026-03-02T17:00:00Z"


loads = st.lists(st.one_of(st.just(0.0), st.floats(0.01, 1e6)), min_size=4, max_size=4)
drawn = st.builds(
    lambda first, length, up, effect: event(first, first + length, ramp_up_s=up, ramp_down_s=up, **effect),
    st.floats(-5, 50),
    st.floats(0.01, 30),
    st.sampled_from([0.0, 100.0, 7_200.0]),
    st.one_of(
        st.floats(0.01, 50).map(lambda factor: {"factor": factor}),
        st.floats(0, 1e6).map(lambda load: {"factor": None, "load": load, "signal": Signal.RPM, "workloads": ("chat",)}),
    ),
)


@given(load=loads, events=st.lists(drawn, max_size=4))
def test_whatever_is_entered_the_forecast_stays_one(load: list[float], events: list[Event]) -> None:
    changed = with_events(
        forecast(np.repeat(load, DAY // 2)), "chat", events
    )  # its checks: finite, at least 0, not decreasing in the level
    assert all(peak.covers.start <= peak.at < peak.covers.end for peak in changed.daily_peaks)


@given(load=loads, first=st.floats(0, 40), factor=st.floats(1, 20), more=st.floats(1, 5))
def test_a_larger_factor_never_lowers_anything(load: list[float], first: float, factor: float, more: float) -> None:
    plain = forecast(np.repeat(load, DAY // 2))
    small, large = (with_events(plain, "chat", [event(first, first + 3, factor=f, ramp_up_s=3_600.0)]) for f in (factor, factor * more))
    slack = 1 + 1e-9
    for low, high in ((plain, small), (small, large)):
        assert (low.values <= high.values * slack).all()
        assert (low.window_max <= high.window_max * slack).all()
        assert all((a.values <= b.values * slack).all() for a, b in zip(low.daily_peaks, high.daily_peaks, strict=True))


@given(weeks=st.integers(-30, 30), first=st.floats(0, 40))
def test_a_shift_by_whole_weeks_changes_nothing_else(weeks: int, first: float) -> None:
    shift = timedelta(weeks=weeks)
    here = with_events(forecast(), "chat", [event(first, first + 5)])
    there = with_events(forecast(start=START + shift), "chat", [event(first + weeks * 168, first + weeks * 168 + 5)])
    assert np.allclose(there.values, here.values)
    assert np.allclose(there.window_max, here.window_max)


# behind


def history(days: int = 14, load: float = 100.0) -> Series:
    values = np.full(days * DAY, load)
    return Series(signal=Signal.RPM, start=START, step_s=STEP_S, mean=values, peak=values * 1.5)


def test_past_events_are_not_learned_from() -> None:
    left = ordinary(history(), "chat", [event(9, 17, ramp_up_s=3_600.0)])
    assert np.isnan(left.mean[8 * 12 : 17 * 12]).all()
    assert np.isnan(left.mean).sum() == np.isnan(left.peak).sum() == 9 * 12


def test_what_comes_again_is_divided_by_its_factor_so_that_a_wrong_factor_does_no_harm() -> None:
    weekly = event(9, 17, every=Every.WEEK)
    left = ordinary(history(load=300.0), "chat", [weekly])
    assert left.mean[9 * 12] == pytest.approx(100)
    assert left.mean[0] == 300
    again = with_events(forecast(left.mean[: 2 * DAY]), "chat", [weekly])
    assert again.values[MEDIAN] == pytest.approx(300)


def test_history_keeps_its_events_where_too_little_would_be_left() -> None:
    short = history(days=4)
    assert ordinary(short, "chat", [event(0, 36)]) is short


def test_events_of_others_and_of_other_signals_leave_history_as_it_is() -> None:
    measured = history()
    assert ordinary(measured, "chat", [event(1, 2, workloads=("embed",)), event(-9, -3)]) is measured
    tokens = Event(**{**{f: getattr(told(1, 2, 5.0), f) for f in Event.__dataclass_fields__}, "signal": Signal.TOKENS})
    assert ordinary(measured, "chat", [tokens]) is measured


def test_an_empty_history_has_no_events() -> None:
    nothing = Series(signal=Signal.RPM, start=START, step_s=STEP_S, mean=np.zeros(0), peak=np.zeros(0))
    assert ordinary(nothing, "chat", [event(1, 2)]) is nothing


def test_a_day_is_a_local_day_of_the_zone_of_its_event() -> None:
    tokyo = Event(name="a", zone="Asia/Tokyo", start=datetime(2026, 3, 3), end=datetime(2026, 3, 4), factor=2.0)  # noqa: DTZ001 - wall time
    raised = np.flatnonzero(felt(tokyo, 2 * DAY))
    assert (raised[0], raised[-1]) == (15 * 12, 39 * 12 - 1)
    assert date(2026, 3, 3) == tokyo.start.date()
