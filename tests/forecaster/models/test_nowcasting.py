"""What is learned of live load from past days: how much of a deviation lasts, how wide the rest is, and when it surges."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecaster.models.catalogue import DEFAULT_MODEL, model
from forecaster.models.nowcasting import LEVELS, Days, learn_each
from forecaster.nowcast import HOURS, SPANS_S, Nowcast, Seen
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S
from tests.asking import forecast
from tests.traces import panel, usual_rpm

STEP_S = 300
PER_DAY = DAY_S // STEP_S
END = datetime(2026, 3, 2, tzinfo=UTC)
WINDOW = 3


def usual(days: int, *, step_s: int = STEP_S) -> Floats:
    """A swing by the day around 1000, (days x slots,)."""
    return 1_000.0 - 600.0 * np.cos(2 * np.pi * np.arange(days * DAY_S // step_s) * step_s / DAY_S)


def days_of(came: Floats, said: Floats | None = None, largest: Floats | None = None, *, step_s: int = STEP_S, window: int = WINDOW) -> Days:
    """Days of several series, (series, slots), that end at END."""
    rows = np.atleast_2d(came)
    return Days(
        said=np.broadcast_to(usual(rows.shape[1] * step_s // DAY_S, step_s=step_s) if said is None else said, rows.shape),
        came=rows,
        largest=rows if largest is None else np.atleast_2d(largest),
        step_s=step_s,
        window_steps=window,
        end=END,
    )


def learned(days: Days) -> Nowcast:
    """The nowcast of the only series."""
    (found,) = learn_each(days)
    assert found is not None
    return found


def noise(days: int, seed: int = 0, *, sigma: float = 0.1, step_s: int = STEP_S) -> Floats:
    """Load that strays from the usual anew in each bucket."""
    rng = np.random.default_rng(seed)
    return usual(days, step_s=step_s) * np.exp(rng.normal(0, sigma, days * DAY_S // step_s))


def lasting(days: int, seed: int = 0, *, half_life_s: float = 12 * HOUR_S, sigma: float = 0.3, step_s: int = STEP_S) -> Floats:
    """Load whose deviation fades with a half-life."""
    rng, kept, now = np.random.default_rng(seed), 0.5 ** (step_s / half_life_s), 0.0
    line = np.empty(days * DAY_S // step_s)
    for i, shock in enumerate(rng.normal(0, sigma * math.sqrt(1 - kept**2), line.size)):
        now = kept * now + shock
        line[i] = now
    return usual(days, step_s=step_s) * np.exp(line)


def surging(days: int, seed: int = 0, *, hour: int = 9) -> Floats:
    """On one day in four three times as much at some quarter of that hour."""
    came, rng = noise(days, seed, sigma=0.03).reshape(days, PER_DAY), np.random.default_rng(seed)
    for day in range(days):
        if rng.random() < 0.25:
            first = (hour * HOUR_S + int(rng.integers(4)) * 900) // STEP_S
            came[day, first : first + 3] *= 3.0
    return came.ravel()


def same(one: Nowcast | None, other: Nowcast | None) -> bool:
    """Whether all that two nowcasts ask for is equal."""
    if one is None or other is None:
        return one is other
    plain = [(n.weights, n.base, n.spread, n.levels, n.offset, n.most, n.day_start, n.days) for n in (one, other)]
    return plain[0] == plain[1] and np.array_equal(one.tails, other.tails)


# weights


def test_where_deviations_last_live_load_is_followed() -> None:
    found = learned(days_of(lasting(28)))
    assert sum(found.weights) == pytest.approx(1.0, abs=0.1)
    assert found.weights[2] < 0.15  # what is there now is all that counts


@pytest.mark.parametrize("window", [1, WINDOW])
def test_where_deviations_are_noise_the_forecast_is_followed(window: int) -> None:
    """Had an example seen the bucket that it is asked about, the weight of the last 5 minutes would be 1 with a window of one bucket."""
    assert sum(learned(days_of(noise(28, sigma=0.4), window=window)).weights) < 0.15


@pytest.mark.parametrize("kind", [noise, lasting])
def test_the_size_of_deviations_does_not_matter(kind: Callable[..., Floats]) -> None:
    small, large = (learned(days_of(kind(28, sigma=sigma))) for sigma in (0.02, 0.2))
    assert small.weights == pytest.approx(large.weights, abs=0.1)


def test_noise_around_a_day_that_is_busier_as_a_whole_is_judged_by_the_longest_span() -> None:
    rng = np.random.default_rng(0)
    busier = np.repeat(np.exp(rng.normal(0, 0.3, 28)), PER_DAY)
    found = learned(days_of(noise(28, sigma=0.15) * busier))
    assert sum(found.weights) == pytest.approx(1.0, abs=0.15)
    assert found.weights[2] == max(found.weights)


def test_a_load_that_turns_over_is_not_followed_the_other_way() -> None:
    """A swing of half an hour: what is above now will be below, and no weight says so."""
    slots = np.arange(14 * PER_DAY)
    found = learned(days_of(usual(14) * np.exp(0.2 * np.sin(2 * np.pi * slots / 6))))
    assert min(found.weights) >= 0
    assert sum(found.weights) < 0.2


odd_loads = st.one_of(st.floats(0, 1e6), st.sampled_from([math.nan, 0.0, 1e-300, 1e12]))


@settings(max_examples=60)
@given(arrays(np.float64, (2, 3, 2 * 24), elements=odd_loads), st.integers(1, 3))
def test_whatever_was_measured_a_nowcast_makes_sense(lines: Floats, window: int) -> None:
    said, came, largest = lines.transpose(1, 0, 2)
    unmeasured = np.isnan(came) | np.isnan(largest)
    came, largest = (np.where(unmeasured, np.nan, of) for of in (came, np.fmax(came, largest)))
    for found in learn_each(days_of(came, said, largest, step_s=3_600, window=window)):
        if found is None:
            continue
        assert min(found.weights) >= 0
        assert np.isfinite([*found.weights, found.base, *found.spread, found.offset, found.most]).all()
        assert np.isfinite(found.tails).all()
        asked = [found.largest_at(level, END, 100.0, Seen(deviations=(0.0, 0.0, 0.0), load=100.0)) for level in LEVELS]
        assert asked == sorted(asked)


# tails


def test_an_hour_that_surges_on_some_days_has_a_longer_tail_there() -> None:
    found = learned(days_of(surging(28)))
    high = found.tails[:, LEVELS.index(0.99)]
    assert high[9] == high.max()
    assert set(np.flatnonzero(high > 2 * np.median(high)).tolist()) == {8, 9, 10}
    before, after = (found.largest_at(0.99, END + timedelta(hours=h), 1_000.0, Seen(deviations=(0.0,) * 3, load=1_000.0)) for h in (9, 15))
    assert before > 1.3 * after


def test_a_load_that_is_relatively_calmer_by_day_has_less_room_there() -> None:
    rng = np.random.default_rng(0)
    came = usual(28) * np.exp(rng.normal(0, 1, 28 * PER_DAY) * 3.0 / np.sqrt(usual(28)))
    found = learned(days_of(came))
    assert found.spread[1] == pytest.approx(-0.5, abs=0.15)


def test_the_tails_rise_with_the_level_and_know_the_levels_of_a_backtest() -> None:
    found = learned(days_of(noise(28)))
    assert found.levels == LEVELS
    assert found.tails.shape == (HOURS, len(LEVELS))
    assert (np.diff(found.tails, axis=1) >= 0).all()


def test_a_minute_within_a_bucket_counts_and_not_its_mean_alone() -> None:
    came = noise(14, sigma=0.02)
    calm, bursty = (learned(days_of(came, largest=came * factor)) for factor in (1.0, 1.5))
    asked = [n.largest_at(0.5, END, 1_000.0, Seen(deviations=(0.0, 0.0, 0.0), load=1_000.0)) for n in (calm, bursty)]
    assert asked[1] / asked[0] == pytest.approx(1.5, rel=0.02)


def test_most_is_the_largest_minute_of_the_last_week() -> None:
    came = noise(28, sigma=0.02)
    came[5 * PER_DAY], came[24 * PER_DAY + 7] = 90_000.0, 5_000.0
    assert learned(days_of(came)).most == 5_000.0


# what is not known


def test_days_that_were_not_measured_are_left_out() -> None:
    came = lasting(28, half_life_s=2 * HOUR_S)
    holes = came.reshape(28, PER_DAY).copy()
    holes[::2] = np.nan
    gone = np.delete(came.reshape(28, PER_DAY), np.arange(0, 28, 2), axis=0)
    holed, whole = learned(days_of(holes.ravel())), learned(days_of(came))
    assert holed.days == pytest.approx(14, abs=0.3)
    assert whole.days == pytest.approx(28, abs=0.3)
    assert holed.weights == pytest.approx(learned(days_of(gone.ravel())).weights, abs=0.05)


def test_days_of_which_nothing_was_said_teach_nothing() -> None:
    came, said = noise(14), usual(14)
    said[: 7 * PER_DAY] = np.nan
    came[: 7 * PER_DAY] = came.max()
    recent = learned(days_of(came, said))
    came[: 7 * PER_DAY] = np.nan
    unmeasured = learned(days_of(came, said))
    assert recent.days == unmeasured.days
    assert recent.weights == unmeasured.weights
    assert recent.days == pytest.approx(7, abs=0.2)


@pytest.mark.parametrize(("measured_h", "known"), [(0, False), (20, False), (24, True)])
def test_with_less_than_a_day_nothing_is_learned(measured_h: int, known: bool) -> None:
    came = np.full(7 * PER_DAY, np.nan)
    if measured_h:
        came[-PER_DAY - measured_h * 12 :] = noise(7)[-PER_DAY - measured_h * 12 :]
        came[-PER_DAY:] = np.nan
    (found,) = learn_each(days_of(came))
    assert (found is not None) is known


def test_a_load_that_has_always_been_nothing_has_no_nowcast() -> None:
    assert learn_each(days_of(np.zeros(7 * PER_DAY))) == (None,)


def test_no_series_gives_no_nowcast() -> None:
    assert learn_each(days_of(np.empty((0, 7 * PER_DAY)))) == ()


# nothing that a chunk holds moves another series


@pytest.mark.parametrize("size", [1, 7, 32, 33])
def test_no_series_of_a_chunk_depends_on_the_others_nor_on_how_many_there_are(size: int) -> None:
    lines = np.stack([(lasting if i % 2 else noise)(7, seed=i) for i in range(40)])
    lines[3] = np.nan
    lines[4] *= 1e6
    lines[5, 1_000:1_500] = np.nan
    together = learn_each(days_of(lines))
    parted = [found for first in range(0, 40, size) for found in learn_each(days_of(lines[first : first + size]))]
    assert len(together) == len(parted) == 40
    assert all(same(one, other) for one, other in zip(together, parted, strict=True))


def test_load_and_unit_do_not_matter() -> None:
    came = lasting(14)
    plain, thousands = learned(days_of(came)), learned(days_of(came / 1_000, usual(14) / 1_000))
    assert thousands.weights == pytest.approx(plain.weights, rel=1e-6)
    scaled = plain.times(0.001)
    assert thousands.spread == pytest.approx(scaled.spread, rel=1e-6)
    assert thousands.offset == pytest.approx(scaled.offset)
    assert thousands.most == pytest.approx(scaled.most)
    assert thousands.tails == pytest.approx(plain.tails, abs=1e-4)


# no peeking


def test_an_example_ends_where_its_window_does() -> None:
    """Today has nothing yet: examples whose window reaches into it are not known, and what is to come of it moves nothing."""
    came = noise(8)
    came[7 * PER_DAY + 100 :] = np.nan
    known = learned(days_of(came))
    (alone,) = learn_each(days_of(np.append(came[: 7 * PER_DAY + 100], np.full(PER_DAY - 100, np.nan))))
    assert same(known, alone)
    last = 7 * PER_DAY + 100
    assert known.days == pytest.approx((last - WINDOW - 1) // 3 * 3 / PER_DAY, abs=0.02)


def test_a_forecast_carries_what_was_learned_and_not_what_came_after_it() -> None:
    load = usual_rpm(20)  # and no more: the panel ends where the forecast begins
    found, again = (forecast(model(DEFAULT_MODEL), panel(load)).nowcast for _ in range(2))
    assert found is not None
    assert same(found, again)
    assert 12 < found.days <= 28
    assert found.most <= np.nanmax(load.peak) * 1.001


# coverage


def deviations_at(nowcast: Nowcast, came: Floats, said: Floats, i: int) -> tuple[float, ...]:
    spans = (max(1, span_s // STEP_S) for span_s in SPANS_S)
    return tuple(nowcast.deviation(came[i - n : i].mean(), said[i - n : i].mean()) for n in spans)


@pytest.mark.parametrize("kind", [noise, lasting, surging])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_on_days_not_learned_from_a_level_is_exceeded_as_often_as_it_says(kind: Callable[..., Floats], level: float) -> None:
    said, exceeded, asked = usual(28), 0, 0
    for seed in range(4):
        found, came = learned(days_of(kind(28, seed))), kind(28, 100 + seed)
        for i in range(PER_DAY, came.size - WINDOW, 5):
            seen = Seen(deviations=deviations_at(found, came, said, i), load=float(came[i - 3 : i].mean()))
            now = END + timedelta(seconds=i * STEP_S)
            exceeded += came[i : i + WINDOW].max() > found.largest_at(level, now, float(said[i : i + WINDOW].max()), seen)
            asked += 1
    assert exceeded / asked == pytest.approx(1 - level, abs=0.25 * (1 - level))


def test_where_deviations_last_the_quantile_is_narrower_than_without_looking() -> None:
    """At P95 the room above what came is what looking saves."""
    came, said = lasting(28, 7), usual(28)
    found = learned(days_of(lasting(28, 1)))
    blind = replace(found, weights=(0.0, 0.0, 0.0))
    at = range(PER_DAY, came.size - WINDOW, 7)
    tops, largest = np.array([said[i : i + WINDOW].max() for i in at]), np.array([came[i : i + WINDOW].max() for i in at])
    looking = [
        found.largest_at(0.95, END, top, Seen(deviations=deviations_at(found, came, said, i), load=1e6))
        for i, top in zip(at, tops, strict=True)
    ]
    room = np.log(np.array(looking) / largest)
    spread = np.log(tops / largest)
    assert blind.weights == (0.0, 0.0, 0.0)
    assert room.std() < 0.4 * spread.std()


# long buckets


@pytest.mark.parametrize("step_s", [60, 300, 600, 900, 1_800, 3_600, 7_200])
def test_any_step_that_divides_a_day_will_do(step_s: int) -> None:
    found = learned(days_of(lasting(14, step_s=step_s), step_s=step_s, window=max(1, 900 // step_s)))
    assert found.days == pytest.approx(14, abs=0.4)
    assert sum(found.weights) == pytest.approx(1.0, abs=0.25)
