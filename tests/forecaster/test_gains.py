"""How much of a deviation lasts is learned from past days, and never believed further than it helped."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecaster.gains import LEADS_S, LONG_S, SHORT_S, Gains, corrected, fading, learn, learn_each
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S, MINUTE_S

STEP_S = 300
PER_DAY = DAY_S // STEP_S
HALF = Gains(leads_s=(0, 600, 1_800), short=(0.6, 0.4, 0.2), long=(0.3, 0.3, 0.1), days=9, cut=(0.4, 0.3, 0.1))


def fading_noise(days: int, *, half_life_s: float, noise: float = 0.0, seed: int = 0, step_s: int = STEP_S) -> Floats:
    """Deviations that fade with a half-life (an autoregression of order one, of unit variance x 0.2), with noise of their own a bucket."""
    rng = np.random.default_rng(seed)
    kept = 0.5 ** (step_s / half_life_s)
    line = np.empty(days * DAY_S // step_s)
    now = 0.0
    for i, shock in enumerate(rng.normal(0, math.sqrt(1 - kept**2), line.size)):
        now = kept * now + shock
        line[i] = now
    return 0.2 * (line + noise * rng.normal(size=line.size))


def best_in_hindsight(line: Floats, lead_s: int) -> Floats:
    """The gains on both means that least squares finds with no prior at all."""
    means = [np.convolve(line, np.ones(n) / n, mode="valid") for n in (SHORT_S // STEP_S, LONG_S // STEP_S)]
    size = len(means[1]) - 1 - lead_s // STEP_S
    short, long = (mean[-1 - lead_s // STEP_S - size : -1 - lead_s // STEP_S] for mean in means)
    return np.linalg.lstsq(np.stack([short, long], axis=1), line[-size:], rcond=None)[0].astype(np.float64)


@pytest.mark.parametrize("lead_s", [0, 1_800, 3_600])
def test_the_gains_of_generated_deviations_are_found_again(lead_s: int) -> None:
    years = fading_noise(1_000, half_life_s=6 * HOUR_S, noise=0.5, seed=1)
    found = learn(fading_noise(28, half_life_s=6 * HOUR_S, noise=0.5), STEP_S)
    assert found is not None
    assert np.array(found.at(np.array([lead_s]))).ravel() == pytest.approx(best_in_hindsight(years, lead_s), abs=0.1)


def test_noise_from_bucket_to_bucket_gains_next_to_nothing() -> None:
    noise = np.random.default_rng(0).normal(0, 0.3, (40, 14 * PER_DAY))
    kept = np.array([found.kept(0) for found in learn_each(noise, STEP_S) if found is not None])
    assert kept.size == 40
    assert np.median(kept) == 0
    assert kept.max() < 0.12


def test_a_deviation_that_never_lasts_half_an_hour_is_not_carried_that_far() -> None:
    """Bursts of ten minutes at any time: what is up now is over before a replica is there."""
    rng = np.random.default_rng(0)
    starts = rng.random(14 * PER_DAY) < 0.02
    bursts = np.where(starts | np.roll(starts, 1), 0.7, 0.0) + rng.normal(0, 0.05, starts.size)
    found = learn(bursts, STEP_S)
    assert found is not None
    assert found.kept(30 * MINUTE_S) < 0.03


def test_gains_end_at_the_first_lead_at_which_days_left_out_would_have_lost() -> None:
    """A swing of four hours: an hour later the deviation is gone, two hours later it has turned over."""
    hours = np.arange(14 * PER_DAY) * STEP_S / HOUR_S
    found = learn(0.3 * np.sin(2 * np.pi * hours / 4) + np.random.default_rng(0).normal(0, 0.03, hours.size), STEP_S)
    assert found is not None
    assert found.kept(0) > 0.7
    assert found.kept(2 * HOUR_S) == 0
    lost = [lead for lead, cut in zip(found.leads_s, found.cut, strict=True) if cut <= 0]
    assert all(found.kept(lead) == 0 for lead in found.leads_s if lead >= lost[0])


def test_a_day_that_is_busier_as_a_whole_lasts_for_hours() -> None:
    rng = np.random.default_rng(0)
    days = np.repeat(rng.normal(0, 0.2, 28), PER_DAY) + rng.normal(0, 0.1, 28 * PER_DAY)
    found = learn(days, STEP_S)
    assert found is not None
    assert found.kept(3 * HOUR_S) > 0.6


def test_a_crash_and_a_flash_crowd_teach_next_to_nothing() -> None:
    usual = fading_noise(14, half_life_s=HOUR_S, noise=0.3)
    odd = usual.copy()
    odd[3 * PER_DAY : 3 * PER_DAY + 36] = -6.0
    odd[9 * PER_DAY + 100 : 9 * PER_DAY + 112] = 4.0
    calm, shaken = learn(usual, STEP_S), learn(odd, STEP_S)
    assert calm is not None
    assert shaken is not None
    for lead in (0, 600, 1_800):
        assert shaken.kept(lead) == pytest.approx(calm.kept(lead), abs=0.1)


def test_with_less_than_two_measured_days_half_the_prior_stands_and_with_none_nothing() -> None:
    day = np.full(7 * PER_DAY, np.nan)
    assert learn(day, STEP_S) is None
    assert learn(np.empty(0), STEP_S) is None
    day[-PER_DAY:] = np.random.default_rng(0).normal(0, 0.3, PER_DAY)
    young = learn(day, STEP_S)
    assert young is not None
    assert (young.days, young.cut) == (1, ())
    assert 0.3 < young.kept(0) < 0.5
    assert young.kept(HOUR_S) < young.kept(0)


@pytest.mark.parametrize("step_s", [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 86_400])
def test_any_step_that_divides_a_day_will_do(step_s: int) -> None:
    found = learn(fading_noise(14, half_life_s=6 * HOUR_S, step_s=step_s), step_s)
    assert found is not None
    assert found.days == 14
    assert all(lead % step_s == 0 for lead in found.leads_s)
    if step_s <= HOUR_S:
        assert found.kept(0) > 0.6


def test_a_step_that_does_not_divide_a_day_is_refused() -> None:
    with pytest.raises(ValueError, match="a step that divides a day"):
        learn(np.zeros(100), 7_000)


def test_half_of_the_buckets_are_enough() -> None:
    whole = fading_noise(28, half_life_s=2 * HOUR_S, noise=0.3)
    holes = np.where(np.random.default_rng(1).random(whole.size) < 0.5, np.nan, whole)
    full, sparse = learn(whole, STEP_S), learn(holes, STEP_S)
    assert full is not None
    assert sparse is not None
    assert sparse.days == pytest.approx(14, abs=1)
    assert sparse.kept(600) == pytest.approx(full.kept(600), abs=0.15)


def test_no_series_of_a_chunk_depends_on_the_others() -> None:
    lines = np.stack([fading_noise(7, half_life_s=hours * HOUR_S, noise=0.3, seed=hours) for hours in range(1, 21)])
    lines[3] = np.nan
    lines[4] *= 1e3
    assert learn_each(lines, STEP_S) == tuple(learn(line, STEP_S) for line in lines)


odd_floats = st.one_of(st.floats(-5, 5), st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0]))


@given(arrays(np.float64, st.integers(0, 100), elements=odd_floats), st.sampled_from([900, 3_600, 21_600]))
def test_whatever_was_measured_gains_lie_within_0_and_1_and_never_rise(line: Floats, step_s: int) -> None:
    found = learn(line, step_s)
    if found is None:
        assert not np.isfinite(line).any()
        return
    assert all(short + long <= 1.002 for short, long in zip(found.short, found.long, strict=True))
    assert all(math.isfinite(cut) for cut in found.cut)


def test_a_correction_moves_the_median_both_ways_and_fades_with_the_lead() -> None:
    path = np.full(12, 100.0)
    up, down = (corrected(path, HALF, sign * math.log(2), sign * math.log(2), STEP_S) for sign in (1, -1))
    assert up[[0, 2, 6]] == pytest.approx([100 * 2**0.9, 100 * 2**0.7, 100 * 2**0.3])
    assert (np.diff(up) <= 0).all()
    assert up * down == pytest.approx(path**2)
    assert up[-1] == 100  # beyond the last lead nothing of the deviation is believed


def test_a_correction_by_an_offset_never_falls_below_zero() -> None:
    assert corrected(np.array([1.0]), HALF, -9.0, -9.0, STEP_S, offset=5.0) == [0.0]


def test_no_deviation_corrects_nothing() -> None:
    path = np.array([5.0, 0.0, 7.0])
    assert corrected(path, HALF, 0.0, 0.0, STEP_S).tolist() == path.tolist()


def test_where_nothing_was_learned_half_of_the_deviation_has_gone_after_the_half_life() -> None:
    found = fading(HOUR_S)
    assert (found.kept(0), found.kept(HOUR_S), found.kept(2 * HOUR_S)) == (1.0, 0.5, 0.25)
    assert (found.leads_s, found.days, found.cut) == (LEADS_S, 0, ())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"leads_s": (300, 600, 900)}, "must increase from 0"),
        ({"leads_s": (0, 600, 600)}, "must increase from 0"),
        ({"short": (0.5, 0.5)}, "one short and one long gain a lead"),
        ({"cut": (0.5,)}, "one cut or none"),
        ({"short": (0.4, 0.5, 0.1)}, "gains.short must lie within 0 and 1 and not rise"),
        ({"long": (1.2, 0.5, 0.1)}, "gains.long must lie within 0 and 1 and not rise"),
        ({"long": (0.2, 0.1, -0.1)}, "gains.long must lie within 0 and 1 and not rise"),
        ({"days": -1}, r"gains\.days"),
    ],
)
def test_gains_that_make_no_sense_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(HALF, **change)  # type: ignore[arg-type]  # one field each
