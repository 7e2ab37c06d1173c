"""The frontier over batch size and wait: what an engine's steps say, held against an engine that is played event by event."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecaster.batch_delay import Gathered, Load, Shape
from forecaster.batching import (
    UTILISATION_RATIO,
    WAITS_S,
    BatchPoint,
    Engine,
    best_within,
    engine_of,
    frontier,
    line,
    most_batch,
    point_of,
    sizes,
)
from forecaster.profile import Point, Setup, Slo, Spread
from tests.forecaster.step_engine import StepEngine
from tests.profiles import profile

PLAYED = StepEngine()
ENGINES = st.builds(
    Engine,
    alpha_s=st.floats(1e-3, 0.1),
    beta_s=st.floats(0, 0.01),
    prefill_s=st.floats(0.01, 2),
    tokens=st.floats(2, 1_000),
    batches=st.just((2.0, 50.0)),
    e2e=st.builds(Shape, sigma=st.floats(0, 1.2)),
    ttft=st.builds(Shape, sigma=st.floats(0, 1.2)),
)
BATCHES, SLOW = st.integers(1, 200), settings(max_examples=40, deadline=None)


def points(engine: Engine, most: int = 64) -> list[BatchPoint]:
    return [point_of(engine, batch, wait_s) for batch in sizes(most, None) for wait_s in WAITS_S]


def step(rpm: float, tpot_s: float, *, tokens: float | None = 101, ttft_s: float | None = 0.2) -> Point:
    e2e_s = 0.2 + 100 * tpot_s
    return Point(
        achieved_rpm=rpm,
        ttft=Spread(mean_s=ttft_s),
        tpot=Spread(mean_s=tpot_s),
        e2e=Spread(mean_s=e2e_s, p95_s=2 * e2e_s),
        output_tokens=tokens,
    )


def on_a_line(*batches: float) -> list[Point]:
    """Steps of 20 ms and 0.5 ms for each request in them, by Little's law at these batches."""
    times = [0.02 + 0.0005 * batch for batch in batches]
    return [step(60 * batch / (0.2 + 100 * tpot_s), tpot_s) for batch, tpot_s in zip(batches, times, strict=True)]


def test_the_line_of_steps_is_found_again_with_prefill_and_tokens_of_the_smallest_load() -> None:
    found = engine_of(profile(on_a_line(2, 20, 60)))
    assert isinstance(found, Engine)
    assert (found.alpha_s, found.beta_s) == pytest.approx((0.02, 0.0005))
    assert (found.prefill_s, found.tokens) == (0.2, 101)
    assert found.batches == pytest.approx((2, 60))
    assert found.residual_ratio == pytest.approx(0, abs=1e-9)


def test_a_queue_before_the_engine_is_no_batch_and_no_more_than_max_batch_are_in_one() -> None:
    queued = replace(on_a_line(2, 20)[1], ttft=Spread(mean_s=30.0), e2e=Spread(mean_s=33.0))
    full = replace(queued, achieved_rpm=4 * queued.achieved_rpm)
    found = engine_of(profile([on_a_line(2)[0], queued, full], setup=Setup(max_batch=40)))
    assert isinstance(found, Engine)
    assert found.batches == pytest.approx((2, 40))


def test_what_the_line_misses_is_told() -> None:
    low, middle, high = on_a_line(2, 20, 60)
    found = engine_of(profile([low, step(middle.achieved_rpm, 0.04), high]))
    assert isinstance(found, Engine)
    assert 0.05 < found.residual_ratio < 0.5


@pytest.mark.parametrize(
    ("batches", "times", "expected"),
    [([1, 2, 3], [3, 2, 1], (2, 0)), ([1, 2, 4], [0, 2, 8], (0, 36 / 21)), ([1, 3], [2, 4], (1, 1))],
)
def test_neither_the_step_of_an_empty_batch_nor_the_slope_is_below_zero(
    batches: Sequence[float], times: Sequence[float], expected: tuple[float, float]
) -> None:
    assert line(np.array(batches, dtype=float), np.array(times, dtype=float)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([step(60, 0.02, tokens=None), step(90, 0.03, tokens=None)], "no time a token beside TTFT and generated tokens"),
        ([step(60, 0.02, tokens=1), step(90, 0.03, tokens=1)], "no time a token"),
        ([step(60, 0.02, ttft_s=None)], "no time a token"),
        ([step(60, 0.02), step(61, 0.02)], "one batch size, and a line needs two"),
        (on_a_line(20), "one batch size"),
        ([replace(each, e2e=Spread()) for each in on_a_line(2, 20)], "neither mean and P95 of E2E nor the spread of generated tokens"),
    ],
)
def test_a_profile_that_does_not_tell_what_is_needed_says_what_is_missing(steps: list[Point], said: str) -> None:
    found = engine_of(profile(steps))
    assert isinstance(found, str)
    assert said in found


def test_the_result_of_a_tool_without_its_steps_tells_no_engine() -> None:
    found = engine_of(replace(profile(on_a_line(20)), proven=Slo(e2e_p95_s=1)))
    assert "a tool told its result and not its load steps" in str(found)


def test_the_time_a_token_follows_from_e2e_where_it_is_not_told_and_the_spread_from_tokens() -> None:
    bare = [replace(each, tpot=Spread(), e2e=Spread(mean_s=each.e2e.mean_s), output_std=50.5) for each in on_a_line(2, 20)]
    found = engine_of(profile(bare))
    assert isinstance(found, Engine)
    assert (found.alpha_s, found.beta_s) == pytest.approx((0.02, 0.0005))
    assert found.e2e == Shape.of_variation(0.5)


def test_batches_end_at_what_the_memory_holds_else_at_max_batch_else_at_what_was_measured() -> None:
    engine = engine_of(profile(on_a_line(2, 60)))
    assert isinstance(engine, Engine)
    lengths = replace(on_a_line(2)[0], input_tokens=100, input_std=0, output_std=0)
    assert most_batch([lengths], Setup(kv_tokens=20_200, max_batch=32), engine)[0] == 20_200 // 201
    assert most_batch(on_a_line(2), Setup(kv_tokens=20_200, max_batch=32), engine)[0] == 32
    assert most_batch(on_a_line(2), Setup(), engine)[0] == 60
    assert most_batch(on_a_line(2), Setup(max_batch=8_192), engine) == (4_096, "none that is larger is looked at")


def test_sizes_are_powers_of_two_up_to_the_most_and_where_the_engine_stands() -> None:
    assert sizes(100, 48) == (1, 2, 4, 8, 16, 32, 48, 64, 100)
    assert sizes(1, None) == (1,)
    assert sizes(64, 256) == (1, 2, 4, 8, 16, 32, 64)


@SLOW
@given(engine=ENGINES)
def test_a_request_alone_is_the_fastest_and_a_larger_batch_never_serves_it_sooner_nor_less_in_all(engine: Engine) -> None:
    services = [engine.service_s(batch) for batch in sizes(256, None)]
    assert services == sorted(services)
    throughputs = [engine.most_rpm(batch) for batch in sizes(256, None)]
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(throughputs))


@SLOW
@given(engine=ENGINES)
def test_on_the_frontier_more_throughput_costs_a_higher_p95_and_nothing_beats_it_in_both(engine: Engine) -> None:
    all_of = points(engine)
    found = frontier(all_of)
    assert found
    assert all(a.rpm < b.rpm and a.e2e_p95_s < b.e2e_p95_s for a, b in pairwise(found))
    assert not [1 for kept in found for other in all_of if other.rpm > kept.rpm and other.e2e_p95_s < kept.e2e_p95_s]
    beaten = [point for point in all_of if point not in found]
    assert all(any(kept.rpm >= point.rpm and kept.e2e_p95_s <= point.e2e_p95_s for kept in found) for point in beaten)


@SLOW
@given(engine=ENGINES, batch=BATCHES, wait_s=st.floats(0, 1), more=st.floats(0.01, 1))
def test_a_longer_wait_never_lowers_p95_nor_raises_throughput(engine: Engine, batch: int, wait_s: float, more: float) -> None:
    short, long = point_of(engine, batch, wait_s), point_of(engine, batch, wait_s + more)
    assert long.e2e_p95_s >= short.e2e_p95_s * (1 - 1e-6)
    assert long.ttft_p95_s is not None
    assert short.ttft_p95_s is not None
    assert long.ttft_p95_s >= short.ttft_p95_s * (1 - 1e-6)
    assert long.rpm == short.rpm


@SLOW
@given(engine=ENGINES, batch=BATCHES, low=st.floats(0.05, 0.9), more=st.floats(0.01, 0.09))
def test_a_higher_load_never_lowers_p95(engine: Engine, batch: int, low: float, more: float) -> None:
    assert point_of(engine, batch, 0, low).e2e_p95_s <= point_of(engine, batch, 0, low + more).e2e_p95_s * (1 + 1e-6)


def test_batches_beyond_those_measured_are_marked() -> None:
    engine = engine_of(profile(on_a_line(4, 60)))
    assert isinstance(engine, Engine)
    assert [batch for batch in (1, 2, 4, 32, 60, 64) if point_of(engine, batch, 0).is_extrapolated] == [1, 2, 64]


def test_what_carries_most_within_the_slo_may_be_a_batch_at_less_than_the_usual_load() -> None:
    engine = engine_of(profile(on_a_line(2, 60)))
    assert isinstance(engine, Engine)
    looked_at = sizes(64, None)
    generous, strict = (best_within(engine, looked_at, Slo(e2e_p95_s=limit_s)) for limit_s in (1_000, 5.2))
    assert generous is not None
    assert generous.batch == 64
    assert generous.utilisation_ratio == pytest.approx(UTILISATION_RATIO)
    assert strict is not None
    assert strict.e2e_p95_s <= 5.2
    assert strict.utilisation_ratio < UTILISATION_RATIO
    assert best_within(engine, looked_at, Slo(e2e_p95_s=1)) is None


def test_a_limit_that_nobody_can_judge_is_not_taken_for_kept() -> None:
    engine = engine_of(profile(on_a_line(2, 60)))
    assert isinstance(engine, Engine)
    found = point_of(engine, 8, 0)
    assert found.ttft_p95_s is None
    assert found.keeps(Slo(ttft_p95_s=10)) is None
    assert found.keeps(Slo(ttft_p95_s=10, e2e_p95_s=1)) is False
    assert best_within(engine, (8,), Slo(ttft_p95_s=10)) is None


def test_the_tail_gives_the_shape_and_no_lognormal_has_a_longer_one_than_3_87_times_the_mean() -> None:
    for ratio in (1.0, 1.5, 2.0, 3.5):
        assert Shape.of_tail(ratio).p95_s(7) == pytest.approx(7 * ratio)
    assert Shape.of_tail(10).p95_s(1) == pytest.approx(3.87, rel=1e-3)
    assert Shape.of_variation(0.5).squared_variation == pytest.approx(0.25)
    assert Shape.of_variation(0.5).quantiles_s(4).mean() == pytest.approx(4, rel=0.01)


def test_one_slot_waits_as_the_textbook_says() -> None:
    load = Load.of(0.5, [1.0], Shape.of_variation(1))  # M/M/1 at half load
    assert load.waits_ratio == pytest.approx(0.5)
    assert load.drain_s == pytest.approx(2)
    assert load.service_s == pytest.approx(1)
    with pytest.raises(ValueError, match="more than 1 slots of 1 s serve"):
        Load.of(1.0, [1.0], Shape(sigma=0))


def test_slots_of_one_pace_wait_as_erlang_says() -> None:
    load = Load.of(8.0, [1.0] * 10, Shape.of_variation(1))
    assert load.waits_ratio == pytest.approx(0.4092, abs=1e-4)  # Erlang C of 10 slots and 8 in service


def test_a_batch_that_is_full_waits_no_longer_and_one_of_one_never() -> None:
    assert Gathered.of(1.0, 5, batch=1).quantiles_s().tolist() == [0]
    assert Gathered.of(10.0, 5, batch=6).wait_s == pytest.approx(1)
    assert Gathered.of(0.5, 4, batch=100).quantiles_s().max() == pytest.approx(0.5)


@pytest.fixture(scope="module")
def engine() -> Engine:
    """What four load steps of the played engine come to."""
    rng = np.random.default_rng(7)
    found = engine_of(profile([PLAYED.measured(rate, 4_000, rng) for rate in (0.5, 2, 4, 5.5)]))
    assert isinstance(found, Engine)
    return found


def test_load_steps_of_a_played_engine_give_its_line_within_a_tenth(engine: Engine) -> None:
    assert (engine.alpha_s, engine.beta_s) == pytest.approx((PLAYED.alpha_s, PLAYED.beta_s), rel=0.1)
    assert engine.residual_ratio < 0.05


@pytest.mark.parametrize("slots", [8, 32, 128])
def test_throughput_is_that_of_the_played_engine_within_a_tenth(engine: Engine, slots: int) -> None:
    played = replace(PLAYED, slots=slots).most_rpm(4_000, np.random.default_rng(slots))
    assert engine.most_rpm(slots) == pytest.approx(played, rel=0.1)


@pytest.mark.parametrize("wait_s", [0.0, 0.2])
@pytest.mark.parametrize("slots", [8, 16, 32, 64, 128])
def test_p95_is_that_of_the_played_engine_within_15_percent_of_the_time_a_request_takes(engine: Engine, slots: int, wait_s: float) -> None:
    found = point_of(engine, slots, wait_s)
    ttft, e2e, tokens = replace(PLAYED, slots=slots).run(found.rpm / 60, 20_000, np.random.default_rng(slots), wait_s=wait_s)
    assert found.e2e_p95_s == pytest.approx(float(np.quantile(e2e, 0.95)), rel=0.15)
    assert found.ttft_p95_s == pytest.approx(float(np.quantile(ttft, 0.95)), abs=0.15 * float(e2e.mean()))
    assert found.tpot_p95_s == pytest.approx(float(np.quantile((e2e - ttft) / (tokens - 1), 0.95)), rel=0.15)
