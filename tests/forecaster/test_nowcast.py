"""The quantile of the largest load ahead: rises with level and live load, scales with the load, and stops where experience does."""

import math
import pickle
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.nowcast import HOURS, Nowcast, Seen
from tests.forecaster.nowcasts import DAY_START, LEVELS, TAILS, nowcast_of, nowcasts
from tests.values import NOW

USUAL = Seen(deviations=(0.0, 0.0, 0.0), load=100.0)
DEVIATIONS = st.tuples(*[st.floats(-7, 7)] * 3)
QUANTILES = st.floats(0.001, 0.999)
MEDIANS = st.floats(0, 5_000)
LOADS = st.floats(0, 10_000)
instants = st.integers(-400, 400).map(lambda hours: NOW + timedelta(hours=hours))


def test_at_the_median_of_a_usual_hour_the_largest_is_the_largest_median() -> None:
    assert nowcast_of().largest_at(0.5, NOW, 100.0, USUAL) == pytest.approx(100.0)


def test_the_formula_in_figures() -> None:
    """P95 is two sigmas of a tenth up; half of a deviation of the last 5 minutes lasts; what is usual beside the median is the base."""
    found = nowcast_of(base=0.05).largest_at(0.95, NOW, 100.0, replace(USUAL, deviations=(0.3, -9.0, 9.0)))
    assert found + 0.5 == pytest.approx(100.5 * math.exp(0.05 + 0.5 * 0.3 + 0.1 * 2.0))


@pytest.mark.parametrize("span", range(3))
def test_each_span_counts_with_its_own_weight(span: int) -> None:
    weights = tuple(0.8 if i == span else 0.0 for i in range(3))
    seen = replace(USUAL, deviations=tuple(0.25 if i == span else -3.0 for i in range(3)))
    found = nowcast_of(weights=weights).largest_at(0.5, NOW, 100.0, seen)
    assert found + 0.5 == pytest.approx(100.5 * math.exp(0.8 * 0.25))


def test_sigma_follows_the_load() -> None:
    """By night there is relatively more room than by day."""
    falling = nowcast_of(spread=(0.0, -0.5))
    room = [falling.largest_at(0.95, NOW, median, USUAL) / median for median in (100.0, 400.0)]
    assert [math.log(ratio) for ratio in room] == pytest.approx([0.2, 0.1], rel=0.02)


@given(nowcasts(), QUANTILES, QUANTILES, MEDIANS, DEVIATIONS, LOADS, instants)
def test_a_higher_level_never_asks_for_less(  # noqa: PLR0917  one argument a strategy
    nowcast: Nowcast, one: float, other: float, median: float, deviations: tuple[float, ...], load: float, now: datetime
) -> None:
    low, high = (nowcast.largest_at(level, now, median, Seen(deviations=deviations, load=load)) for level in sorted((one, other)))
    assert high >= low


@given(nowcasts(), QUANTILES, MEDIANS, DEVIATIONS, DEVIATIONS, LOADS, LOADS)
def test_more_live_load_never_asks_for_less(  # noqa: PLR0917  one argument a strategy
    nowcast: Nowcast, level: float, median: float, one: tuple[float, ...], more: tuple[float, ...], load: float, other: float
) -> None:
    raised = tuple(max(a, b) for a, b in zip(one, more, strict=True))
    low = nowcast.largest_at(level, NOW, median, Seen(deviations=one, load=load))
    assert nowcast.largest_at(level, NOW, median, Seen(deviations=raised, load=max(load, other))) >= low


@given(nowcasts(), QUANTILES, MEDIANS, DEVIATIONS, LOADS)
def test_it_is_never_below_0_nor_beyond_experience(
    nowcast: Nowcast, level: float, median: float, deviations: tuple[float, ...], load: float
) -> None:
    found = nowcast.largest_at(level, NOW, median, Seen(deviations=deviations, load=load))
    assert 0 <= found <= max(1.2 * nowcast.most, 1.2 * median, 1.5 * load)


@pytest.mark.parametrize(
    ("most", "median", "load", "cap"),
    [(1_000.0, 100.0, 100.0, 1_200.0), (50.0, 100.0, 10.0, 120.0), (50.0, 100.0, 300.0, 450.0)],
    ids=["the largest minute of the week", "the median", "live load"],
)
def test_a_tail_that_is_arithmetic_ends_at_whichever_is_most(most: float, median: float, load: float, cap: float) -> None:
    endless = nowcast_of(tails=np.tile([0.0, 1.0, 9_999.0], (HOURS, 1)), most=most)
    assert endless.largest_at(0.95, NOW, median, Seen(deviations=(0.0, 0.0, 0.0), load=load)) == pytest.approx(cap)


def test_a_load_that_vanished_asks_for_nothing_below_0() -> None:
    gone = nowcast_of(weights=(1.0, 1.0, 1.0))
    nothing = Seen(deviations=(gone.deviation(0.0, 1e6),) * 3, load=0.0)
    assert gone.largest_at(0.05, NOW, 1.0, nothing) == 0.0


@given(nowcasts(), QUANTILES, MEDIANS, LOADS, LOADS, st.floats(0.01, 100), instants)
def test_a_share_of_the_load_has_that_share_of_the_quantile(  # noqa: PLR0917  one argument a strategy
    nowcast: Nowcast, level: float, median: float, five: float, rest: float, ratio: float, now: datetime
) -> None:
    scaled = nowcast.times(ratio)
    found = []
    for of, by in ((nowcast, 1.0), (scaled, ratio)):
        deviations = (of.deviation(five * by, median * by), *[of.deviation(rest * by, median * by)] * 2)
        found.append(of.largest_at(level, now, median * by, Seen(deviations=deviations, load=rest * by)))
    assert found[1] == pytest.approx(found[0] * ratio, rel=1e-6, abs=1e-6 * (nowcast.offset + median) * ratio)


def test_a_deviation_is_the_logarithm_of_load_over_median_each_with_the_offset() -> None:
    plain = nowcast_of(offset=0.5)
    assert plain.deviation(200.0, 100.0) == pytest.approx(math.log(200.5 / 100.5))
    assert plain.deviation(100.0, 100.0) == 0
    assert plain.deviation(0.0, 1e9) == -7.0  # a load that vanished has a logarithm, too


@pytest.mark.parametrize("hour", [0, 7, 23])
def test_the_tails_are_those_of_the_local_hour(hour: int) -> None:
    """`day_start` is a local midnight, wherever that lies in UTC, and days before and after it count the same."""
    india = datetime(2026, 3, 1, 18, 30, tzinfo=NOW.tzinfo)
    tails = np.tile(TAILS, (HOURS, 1))
    tails[hour] = [-1.0, 0.0, 9.0]
    surging = replace(nowcast_of(tails=tails), day_start=india)
    usual, surge = (surging.largest_at(0.95, india + timedelta(hours=h, minutes=59), 100.0, USUAL) for h in (hour + 1, hour))
    assert surge > 1.9 * usual
    for days in (-3, 1, 40):
        assert surging.largest_at(0.95, india + timedelta(days=days, hours=hour), 100.0, USUAL) == surge


@pytest.mark.parametrize(("level", "sigmas"), [(0.05, -1.0), (0.275, -0.5), (0.725, 1.0), (0.95, 2.0), (0.01, -1.0), (0.999, 2.0)])
def test_between_levels_a_tail_is_a_straight_line_and_beyond_them_the_outermost(level: float, sigmas: float) -> None:
    found = nowcast_of().largest_at(level, NOW, 100.0, USUAL)
    assert math.log((found + 0.5) / 100.5) == pytest.approx(0.1 * sigmas)


def test_a_single_level_is_the_same_at_every_level() -> None:
    single = replace(nowcast_of(), levels=(0.9,), tails=np.full((HOURS, 1), 1.0))
    assert len({single.largest_at(level, NOW, 100.0, USUAL) for level in (0.1, 0.9, 0.99)}) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": (0.5, 0.5)}, "nowcast.weights must be 3, finite and at least 0"),
        ({"weights": (0.5, 0.5, -0.1)}, "nowcast.weights must be 3, finite and at least 0"),
        ({"tails": np.zeros((HOURS, 2))}, "nowcast.tails must rise along 3 levels in each of 24 hours"),
        ({"tails": np.zeros((23, 3))}, "nowcast.tails must rise along 3 levels in each of 24 hours"),
        ({"tails": np.tile([1.0, 0.0, 2.0], (HOURS, 1))}, "nowcast.tails must rise along 3 levels"),
        ({"tails": np.zeros(3)}, r"nowcast.tails must have 2 dimension\(s\)"),
        ({"levels": (0.05, 0.95, 0.5)}, "nowcast.levels must increase"),
        ({"levels": (0.05, 0.5, 1.0)}, "nowcast.levels must be a quantile level"),
        ({"offset": 0.0}, "nowcast.offset must be above 0"),
        ({"most": -1.0}, "nowcast.most must be at least 0"),
        ({"most": math.nan}, "nowcast.most must be at least 0"),
        ({"day_start": DAY_START.replace(tzinfo=None)}, "nowcast.day_start must be an aware UTC instant"),
    ],
)
def test_a_nowcast_that_makes_no_sense_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(nowcast_of(), **change)  # type: ignore[arg-type]  # one field each


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_no_load_is_so_many_times_another(ratio: float) -> None:
    with pytest.raises(ValueError, match="ratio must be above 0"):
        nowcast_of().times(ratio)


def test_a_nowcast_comes_out_of_a_pickle_read_only() -> None:
    back = pickle.loads(pickle.dumps(nowcast_of()))  # noqa: S301  our own bytes
    assert back.levels == LEVELS
    with pytest.raises(ValueError, match="read-only"):
        back.tails[0, 0] = 5.0


def test_a_gauge_that_reads_zero_takes_a_floor_no_further_than_the_lulls_that_were_seen() -> None:
    nowcast = nowcast_of(weights=(1.0, 0.0, 0.0), lulls=(-0.3, -0.2, -0.1))
    zero, lull = Seen(deviations=(-6.0, -1.0, -0.1), load=0.0), Seen(deviations=(-0.3, -1.0, -0.1), load=0.0)
    assert nowcast.largest_at(0.95, NOW, 100.0, zero) == nowcast.largest_at(0.95, NOW, 100.0, lull)
