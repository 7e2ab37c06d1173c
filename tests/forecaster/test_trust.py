"""When a forecast is believed, by how the earlier ones did."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.forecast import STANDARD_LEVELS, DailyPeak, Forecast, TrackRecord
from forecaster.reasons import ALERTS, Code
from forecaster.series import Series, Signal, Window
from forecaster.trust import Gate, Trust, Verdict, base_forecast, is_wide, reactive, spread_ratio, trust
from tests.forecaster.nowcasts import nowcast_of

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
WELL = TrackRecord(days=14, pinball=6.0, naive_pinball=10.0, coverage=0.95, drift_log=0.02)
GATE = Gate()


def forecast(record: TrackRecord | None = WELL, *, median: float = 100.0, upper_ratio: float = 1.5) -> Forecast:
    """A day at one load, P95 so many times the median."""
    levels = np.array(STANDARD_LEVELS)
    values = np.where(levels < 0.95, median, median * upper_ratio)
    grid = np.repeat(values[:, None], 288, axis=1)
    covers = Window(start=NOW, end=NOW + timedelta(days=1))
    peak = DailyPeak(day=NOW.date(), zone="UTC", covers=covers, levels=STANDARD_LEVELS, values=values, at=NOW)
    return Forecast(
        signal=Signal.RPM,
        issued_at=NOW,
        start=NOW,
        step_s=300,
        levels=STANDARD_LEVELS,
        values=grid,
        window_max=grid,
        window_s=900,
        daily_peaks=(peak,),
        model="profile",
        trained_on=Window(start=NOW - timedelta(days=28), end=NOW),
        coverage=(None,) * len(STANDARD_LEVELS),
        record=record,
    )


def judged(last: Verdict | None = None, gate: Gate = GATE, **record: float) -> Trust:
    return trust(forecast(replace(WELL, **record)), gate, last)  # type: ignore[arg-type]  # tests name the fields they vary


def test_a_forecast_that_beats_the_naive_one_is_trusted_without_a_word() -> None:
    found = judged()
    assert (found.verdict, found.reason) == (Verdict.TRUSTED, None)
    assert found.score == pytest.approx(0.9)
    assert found.sentence == (
        "rpm: trust 0.90 after 14 scored days: loss 0.60 x that of the same time earlier, P95 covered 95%, load +2% off the median lately"
    )


@pytest.mark.parametrize(("pinball", "score"), [(2.0, 1.0), (5.0, 1.0), (10.0, 0.5), (12.0, 0.3), (15.0, 0.0), (99.0, 0.0)])
def test_skill_is_half_where_the_naive_forecast_is_as_good(pinball: float, score: float) -> None:
    assert judged(pinball=pinball).score == pytest.approx(score)


@pytest.mark.parametrize(("coverage", "part"), [(1.0, 1.0), (0.9, 1.0), (0.75, 0.5), (0.6, 0.0), (0.1, 0.0)])
def test_a_p95_that_covers_too_little_costs_trust(coverage: float, part: float) -> None:
    assert judged(pinball=5.0, coverage=coverage).score == pytest.approx(part)


@pytest.mark.parametrize(("ratio", "part"), [(1.0, 1.0), (1.5, 1.0), (0.67, 1.0), (3.0, 0.0), (0.33, 0.0), (9.0, 0.0)])
def test_a_median_that_is_left_behind_costs_trust_on_either_side(ratio: float, part: float) -> None:
    assert judged(pinball=5.0, drift_log=float(np.log(ratio))).score == pytest.approx(part)


def test_a_drift_that_rounds_to_nothing_is_none() -> None:
    assert judged(drift_log=-0.001).sentence.endswith("no drift lately")


def test_below_the_gate_plans_rest_on_the_naive_forecast_and_a_person_hears_of_it() -> None:
    found = judged(pinball=12.0)
    assert found.verdict is Verdict.NAIVE
    assert found.reason is not None
    assert found.reason.code is Code.TRUST_NAIVE
    assert found.reason.code in ALERTS
    assert found.sentence.endswith("; below 0.4, so plans rest on the load at the same time earlier")


def test_a_score_near_the_gate_does_not_flap() -> None:
    near = 10.5  # a score of 0.45
    assert judged(last=None, pinball=near).verdict is Verdict.TRUSTED
    assert judged(last=Verdict.TRUSTED, pinball=near).verdict is Verdict.TRUSTED
    assert judged(last=Verdict.NAIVE, pinball=near).verdict is Verdict.NAIVE
    assert judged(last=Verdict.REACTIVE, pinball=near).verdict is Verdict.NAIVE
    assert judged(last=Verdict.NAIVE, pinball=9.9).verdict is Verdict.TRUSTED


def test_a_gate_of_0_trusts_everything() -> None:
    assert judged(gate=Gate(score=0.0), pinball=99.0, last=Verdict.NAIVE).verdict is Verdict.TRUSTED


def test_young_is_no_distrust_has_no_score_and_is_said() -> None:
    unscored = trust(forecast(None), GATE, None)
    early = judged(days=2, pinball=99.0)
    for found in (unscored, early, judged(days=0)):
        assert (found.score, found.is_judged) == (None, False)
        assert "not judged yet" in found.sentence
        assert found.verdict is Verdict.TRUSTED
        assert found.reason is not None
        assert found.reason.code is Code.TRUST_YOUNG
        assert found.reason.code not in ALERTS
    assert "after 2 scored days: loss 9.90 x" in early.sentence
    assert early.sentence.endswith("; 3 scored days are needed")
    assert judged().is_judged


def test_a_record_of_numbers_that_are_none_says_nothing() -> None:
    assert judged(pinball=float("nan")).score is None
    broken = judged(coverage=float("nan"), drift_log=float("nan"))
    assert (broken.coverage, broken.drift_log) == (None, None)
    assert broken.score == pytest.approx(0.9)


def test_a_loss_of_next_to_nothing_is_no_reason_for_distrust() -> None:
    constant = judged(pinball=0.001, naive_pinball=0.0)
    assert (constant.verdict, constant.score) == (Verdict.TRUSTED, 1.0)
    assert "a loss under 1% of the load" in constant.sentence
    lost = judged(pinball=30.0, naive_pinball=0.0)
    assert (lost.verdict, lost.pinball_ratio) == (Verdict.NAIVE, None)
    assert "a loss where the same time earlier had none" in lost.sentence


def test_a_forecast_is_wide_when_p95_asks_for_more_than_twice_the_median() -> None:
    assert [is_wide(forecast(upper_ratio=r), None) for r in (1.0, 1.9, 2.1)] == [False, False, True]
    assert [is_wide(forecast(upper_ratio=r), Verdict.REACTIVE) for r in (1.5, 1.9)] == [False, True]
    assert spread_ratio(forecast(median=0.0)) == 1.0
    idle = forecast(median=0.0)
    rare = replace(idle, values=np.where(np.array(STANDARD_LEVELS)[:, None] < 0.95, 0.0, 5.0) + idle.values)
    assert is_wide(rare, None)


def test_without_a_cycle_a_wide_forecast_is_reactive_only_and_an_unknown_cycle_is_no_reason() -> None:
    found = trust(forecast(upper_ratio=4.0), GATE, None)
    assert [reactive(found, ratio, None).verdict for ratio in (None, 0.1, 0.09, -0.3)] == [
        Verdict.TRUSTED,
        Verdict.TRUSTED,
        Verdict.REACTIVE,
        Verdict.REACTIVE,
    ]
    gone = reactive(found, 0.02, None)
    assert gone.reason is not None
    assert gone.reason.code is Code.TRUST_REACTIVE
    assert gone.reason.code in ALERTS
    assert "follows no daily or weekly cycle" in gone.sentence


def test_what_was_reactive_needs_a_clear_cycle_to_be_planned_again() -> None:
    found = trust(forecast(upper_ratio=4.0), GATE, Verdict.REACTIVE)
    assert [reactive(found, ratio, Verdict.REACTIVE).verdict for ratio in (0.15, 0.2)] == [Verdict.REACTIVE, Verdict.TRUSTED]


def history(mean: list[float]) -> Series:
    return Series(signal=Signal.RPM, start=NOW - timedelta(hours=len(mean)), step_s=3600, mean=np.array(mean), peak=np.array(mean))


def test_the_base_load_is_what_is_nearly_always_there() -> None:
    based = base_forecast(forecast(), history([900.0] * 50 + [80.0] * 20 + [float("nan")] * 10 + [500.0] * 80))
    assert set(based.values.ravel()) == set(based.window_max.ravel()) == {80.0}
    assert (based.daily_peaks, based.model) == ((), "base_load")


def test_what_was_learned_of_live_load_beside_another_median_is_not_said_of_the_base_load() -> None:
    """It would ask for the P95 that the base load was taken instead of."""
    assert base_forecast(replace(forecast(), nowcast=nowcast_of()), history([80.0] * 160)).nowcast is None


def test_the_base_load_is_never_nothing_where_there_is_traffic() -> None:
    assert float(base_forecast(forecast(), history([0.0] * 150 + [700.0] * 10)).values.max()) > 0
    assert float(base_forecast(forecast(), history([0.0] * 150)).values.max()) == 0
    assert float(base_forecast(forecast(), history([float("nan")] * 20)).values.max()) == 0


@pytest.mark.parametrize("wrong", [{"score": 1.1}, {"score": -0.1}, {"days": -1}])
def test_a_gate_that_means_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"trust\."):
        Gate(**wrong)  # type: ignore[arg-type]  # of any type
