"""What one replica carries inside its SLO: the knee of a sweep, memory, and how far to believe it."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.demand import carry_of
from forecaster.profile import Point, Setup, Slo, Spread
from forecaster.profile_carried import Binds, Carried, Confidence, carried, confidence, requests_in_memory
from forecaster.series import Signal
from forecaster.units import DAY_S
from forecaster.workload import Policy
from tests.profiles import MEASURED, SETUP, SLO, point, profile, sweep


def found(*points: Point, setup: Setup = SETUP, slo: Slo = SLO) -> Carried:
    answer = carried(profile(points or sweep(), setup), slo)
    assert isinstance(answer, Carried), answer
    return answer


def test_capacity_is_the_largest_load_whose_p95_holds() -> None:
    assert found().capacity.rpm == 600
    assert found().broke == "P95 TTFT 1.6 s is above 1 s"


def test_the_three_figures_speak_of_one_load_by_littles_law() -> None:
    capacity = found().capacity
    assert capacity.concurrency == pytest.approx(600 / 60 * 4.0)
    assert capacity.tokens == pytest.approx(600 / 60 * 200)
    assert capacity.measured_at == MEASURED


def test_the_order_of_the_steps_does_not_matter() -> None:
    assert {found(*order).capacity for order in permutations(sweep())} == {found().capacity}


def test_what_was_served_counts_and_not_what_was_sent() -> None:
    assert found(point(300), point(600, served=0.96), point(900, served=0.7)).capacity.rpm == pytest.approx(576)


def test_a_step_that_serves_less_than_95_in_a_hundred_does_not_hold() -> None:
    answer = found(point(300), point(600, served=0.94))
    assert answer.capacity.rpm == 300
    assert answer.broke == "of 600 rpm sent 564 were served"


def test_a_step_with_more_than_one_error_in_a_hundred_does_not_hold() -> None:
    assert found(point(300, errors=0.01), point(600, errors=0.011)).broke == "1.1% of the requests failed"


def test_a_sweep_that_never_broke_proves_only_a_lower_bound() -> None:
    said = carried(profile([point(300), point(600)]), SLO)
    assert said == "the sweep never broke the SLO: at least 600 rpm; go on to larger loads"


def test_a_sweep_that_always_broke_proves_nothing() -> None:
    said = carried(profile([point(300, ttft_s=0.9), point(600, ttft_s=1.5)]), SLO)
    assert said == "the smallest load of the sweep, 300 rpm, already breaks the SLO: P95 TTFT 1.8 s is above 1 s; measure smaller ones"


def test_one_step_shows_no_knee() -> None:
    assert carried(profile([point(300)]), SLO) == "one load step shows no knee: measure at least two, one of which breaks the SLO"


def test_what_is_not_told_is_asked_for_and_never_taken_for_good() -> None:
    untold = replace(point(300), ttft=Spread())
    assert carried(profile([untold, point(660, ttft_s=0.8)]), SLO) == "P95 of TTFT is missing at 300 rpm"
    unknown = point(300, errors=None)
    assert carried(profile([unknown, point(660)]), SLO) == "how many requests failed is not told at 300 rpm"


@given(st.lists(st.floats(1, 1e4), min_size=2, max_size=8, unique=True), st.floats(1, 1e4))
def test_the_knee_is_never_above_a_load_that_breaks_for_an_engine_that_slows_down_with_load(loads: list[float], limit: float) -> None:
    answer = carried(profile([point(load, ttft_s=0.9 if load > limit else 0.2) for load in loads]), SLO)
    if isinstance(answer, Carried):
        assert answer.capacity.rpm == max(load for load in loads if load <= limit)
        assert answer.beyond is not None
        assert answer.beyond.load_rpm == min(load for load in loads if load > limit)


@given(st.floats(0.3, 3.0), st.floats(0.3, 3.0))
def test_a_tighter_slo_never_raises_capacity(a: float, b: float) -> None:
    steps = [point(load, ttft_s=float(0.1 * np.exp(load / 250)), e2e_s=9.0) for load in range(100, 1_000, 50)]
    tight, loose = (carried(profile(steps), Slo(ttft_p95_s=limit)) for limit in sorted((a, b)))
    if isinstance(tight, Carried) and isinstance(loose, Carried):
        assert tight.knee.achieved_rpm <= loose.knee.achieved_rpm


def test_memory_holds_kv_tokens_over_mean_and_two_sigma_of_a_requests_tokens() -> None:
    held, _ = requests_in_memory(replace(SETUP, kv_tokens=100_000), point(600))
    assert held == pytest.approx(100_000 / (700 + 2 * np.hypot(100, 50)))


def test_a_shared_prefix_takes_its_room_once_instead_of_once_a_request() -> None:
    held, _ = requests_in_memory(replace(SETUP, kv_tokens=100_000, shared_prefix_tokens=300), point(600))
    assert held == pytest.approx((100_000 - 300) / (700 + 2 * np.hypot(100, 50) - 300))


def test_where_memory_binds_all_three_figures_fall_in_proportion() -> None:
    answer, free = found(setup=replace(SETUP, kv_tokens=20_000)), found()
    held = 20_000 / (700 + 2 * np.hypot(100, 50))
    assert answer.binds is Binds.MEMORY
    assert answer.binds.advice == "memory binds: add KV memory or quantise"
    assert answer.capacity.concurrency == pytest.approx(held)
    assert answer.capacity.rpm == pytest.approx(held / 4.0 * 60)
    assert answer.capacity.tokens == pytest.approx(held / 4.0 * 200)
    assert free.binds.advice == "rate binds: add replicas"


@given(st.floats(2_000, 1e6), st.floats(0, 500))
def test_capacity_is_the_smaller_of_compute_and_memory(kv_tokens: float, prefix: float) -> None:
    answer = found(setup=replace(SETUP, kv_tokens=kv_tokens, shared_prefix_tokens=prefix))
    assert answer.memory_in_flight is not None
    assert answer.capacity.concurrency == pytest.approx(min(answer.memory_in_flight, 40.0))


@pytest.mark.parametrize(
    ("setup", "step", "why"),
    [
        (SETUP, point(600), "the KV tokens of a replica are not told"),
        (replace(SETUP, kv_tokens=1e5), replace(point(600), input_tokens=None), "the file tells no token lengths"),
        (replace(SETUP, kv_tokens=1e5), replace(point(600), output_std=None), "the file tells no spread of token lengths"),
        (replace(SETUP, kv_tokens=500), point(600), "KV tokens of 500 and a shared prefix of 0 do not fit its requests"),
    ],
)
def test_memory_that_is_not_known_binds_nothing_and_says_why(setup: Setup, step: Point, why: str) -> None:
    assert requests_in_memory(setup, step) == (None, why)


@pytest.mark.parametrize(
    ("served", "changed"),
    [
        (replace(SETUP, precision="int8"), "precision was fp16 and is int8"),
        (replace(SETUP, tensor_parallelism=2), "tensor parallelism was 1 and is 2"),
        (replace(SETUP, engine_version="0.12.0"), "engine version was 0.11.0 and is 0.12.0"),
        (replace(SETUP, max_batch=512), "max batch was 256 and is 512"),
    ],
)
def test_a_profile_is_stale_where_another_engine_is_served_and_names_what_changed(served: Setup, changed: str) -> None:
    assert SETUP.changed(served) == (changed,)


def test_what_one_side_does_not_tell_makes_nothing_stale() -> None:
    assert SETUP.changed(Setup(model="llama-8b")) == ()
    assert Setup().changed(SETUP) == ()
    assert Setup(model="x").filled(SETUP) == replace(SETUP, model="x")


def test_numbers_that_changed_are_spelled_as_everywhere() -> None:
    assert Setup(kv_tokens=400_000).changed(Setup(kv_tokens=40_000.0)) == ("kv tokens was 400,000 and is 40,000",)


def test_what_was_measured_in_days_to_come_is_of_medium_confidence_but_hours_may_be_a_zone() -> None:
    narrow = profile([point(300), point(360, ttft_s=2.0)])
    carries = carried(narrow, SLO)
    assert isinstance(carries, Carried)
    assert confidence(narrow, carries, (), MEASURED - timedelta(hours=14)) == (Confidence.HIGH, ())
    said = "measured 3 days from now, so that a clock was wrong"
    assert confidence(narrow, carries, (), MEASURED - timedelta(days=3)) == (Confidence.MEDIUM, (said,))


def test_confidence_falls_with_age_with_wide_steps_and_with_what_changed() -> None:
    narrow, wide = profile(), profile([point(300), point(400, ttft_s=0.8)])
    now = MEASURED + timedelta(days=1)
    assert confidence(narrow, found(), (), now) == (Confidence.HIGH, ())
    assert confidence(wide, found(*wide.points), (), now) == (Confidence.MEDIUM, ("the next step was 33% above",))
    assert confidence(narrow, found(), (), now + timedelta(days=100))[0] is Confidence.MEDIUM
    assert confidence(narrow, found(), (), now + timedelta(seconds=400 * DAY_S))[0] is Confidence.LOW
    assert confidence(narrow, found(), ("precision was fp16 and is int8",), now) == (Confidence.LOW, ("precision was fp16 and is int8",))


@given(st.floats(0.5, 20), st.floats(0.5, 4), st.floats(10, 1e5))
def test_ten_times_the_load_on_a_profile_twice_as_good_is_five_times_the_replicas_before_rounding(
    growth: float, better: float, load_rpm: float
) -> None:
    old = found().capacity
    steps = (point(600 * better), point(660 * better, ttft_s=0.8))
    new = found(*steps).capacity
    before = load_rpm / carry_of(old, Signal.RPM, Policy())
    after = growth * load_rpm / carry_of(new, Signal.RPM, Policy())
    assert after == pytest.approx(before * growth / better)
    assert carry_of(new, Signal.RPM, Policy()) == pytest.approx(carry_of(old, Signal.RPM, Policy(efficiency_ratio=better)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"achieved_rpm": 0.0}, "above 0"),
        ({"error_ratio": 1.5}, "0 to 1"),
        ({"ttft": Spread(p95_s=2e-4)}, "not plausible"),
        ({"tpot": Spread(mean_s=20.0)}, "not plausible"),
        ({"in_flight": 2_400.0}, "a rate a second is taken for one a minute"),
    ],
)
def test_a_step_that_contradicts_itself_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(point(600), **change)  # type: ignore[arg-type]  # the wrong values are the test


def test_percentiles_do_not_fall_and_an_slo_has_a_limit() -> None:
    with pytest.raises(ValueError, match="must not fall"):
        Spread(p50_s=2.0, p95_s=1.0)
    with pytest.raises(ValueError, match="at least one"):
        Slo()
    with pytest.raises(ValueError, match="above 0 seconds"):
        Slo(e2e_p95_s=0)
