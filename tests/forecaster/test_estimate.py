"""The last resort: tokens/s = batch x output speed / (1 + input / output x coefficient), by what is said and what is measured."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.estimate import NOBODY_MEASURED, Lengths, Terms, doubts, estimate
from forecaster.profile import Setup
from forecaster.profile_carried import Binds, Carried

SERVED = Setup(max_batch=64)
LENGTHS = Lengths(input_tokens=1_200, output_tokens=300)
TERMS = Terms(output_tokens_s=35, coefficient=0.1, lengths=LENGTHS)
UNKNOWN = Lengths(told="as measured over a day")


def made(terms: Terms = TERMS, setup: Setup = SERVED, measured: Lengths = UNKNOWN) -> Carried:
    found = estimate(terms, setup, measured)
    assert isinstance(found, Carried), found
    return found


def test_a_batch_at_its_speed_less_what_prompts_cost() -> None:
    capacity = made().capacity
    assert capacity.tokens == pytest.approx(64 * 35 / (1 + 1_200 / 300 * 0.1))
    assert capacity.rpm == pytest.approx(64 * 35 / 1.4 * 60 / 300)
    assert capacity.concurrency == 64
    assert made().binds is Binds.RATE


def test_the_source_says_the_formula_with_its_terms_and_nobody_measured_it() -> None:
    capacity = made().capacity
    assert capacity.source == "estimate: 64 at once x 35 tokens/s / (1 + 4 x 0.1), lengths as configured"
    assert capacity.measured_at is None
    assert doubts(TERMS, SERVED) == (NOBODY_MEASURED,)


speeds, coefficients, tokens = st.floats(5, 500), st.floats(0, 2), st.floats(10, 1e5)


@given(st.integers(1, 1_000), speeds, coefficients, tokens, tokens)
def test_by_littles_law_the_three_figures_speak_of_requests_that_generate_and_wait_for_prompts(
    batch: int, speed: float, coefficient: float, sent: float, generated: float
) -> None:
    lengths = Lengths(input_tokens=sent, output_tokens=generated)
    capacity = made(Terms(output_tokens_s=speed, coefficient=coefficient, lengths=lengths), Setup(max_batch=batch)).capacity
    assert capacity.rpm is not None
    assert capacity.concurrency is not None
    assert capacity.concurrency * 60 / capacity.rpm == pytest.approx((generated + sent * coefficient) / speed)


@given(coefficients, coefficients)
def test_prompts_that_cost_more_never_raise_capacity(a: float, b: float) -> None:
    cheap, dear = (made(replace(TERMS, coefficient=each)).capacity.rpm for each in sorted((a, b)))
    assert cheap is not None
    assert dear is not None
    assert dear <= cheap


def test_memory_that_holds_fewer_requests_than_the_batch_binds() -> None:
    spread = replace(LENGTHS, input_std=400, output_std=300)
    found = made(replace(TERMS, lengths=spread), replace(SERVED, kv_tokens=50_000))
    held = 50_000 / (1_500 + 2 * 500)
    assert found.binds is Binds.MEMORY
    assert found.memory_in_flight == pytest.approx(held)
    assert found.capacity.concurrency == pytest.approx(held)
    assert found.capacity.rpm == pytest.approx((made().capacity.rpm or 0) * held / 64)


def test_without_the_spread_of_lengths_memory_still_bounds_it_by_means_and_that_is_a_doubt() -> None:
    served = replace(SERVED, kv_tokens=60_000)
    assert made(setup=served).capacity.concurrency == pytest.approx(60_000 / 1_500)
    assert doubts(TERMS, served)[1] == "memory was judged by mean lengths, since their spread is not told"


def test_a_replica_that_holds_not_one_request_has_no_estimate() -> None:
    said = estimate(TERMS, replace(SERVED, kv_tokens=1_000), UNKNOWN)
    assert said == "the estimate holds not one request: KV tokens of 1,000 and a shared prefix of 0 do not fit its requests"


def test_lengths_that_are_not_said_are_those_that_are_measured() -> None:
    measured = Lengths(input_tokens=900, output_tokens=300, told="as measured over a day")
    found = made(replace(TERMS, lengths=Lengths(output_tokens=100)), measured=measured)
    assert (found.knee.input_tokens, found.knee.output_tokens) == (900, 100)
    assert found.capacity.source.endswith("(1 + 9 x 0.1), lengths as measured over a day")


def test_everything_that_is_missing_is_named_in_one_sentence() -> None:
    assert estimate(replace(TERMS, lengths=Lengths()), Setup(), UNKNOWN) == (
        "the estimate lacks serving.max_batch, estimate.input_tokens (or the signal input_length), "
        "estimate.output_tokens (or the signal output_length)"
    )


def test_figures_that_contradict_each_other_are_told_and_not_used() -> None:
    said = estimate(replace(TERMS, output_tokens_s=1e-4), SERVED, UNKNOWN)
    assert isinstance(said, str)
    assert said.startswith("the estimate contradicts itself: a capacity of")


@pytest.mark.parametrize(("speed", "coefficient"), [(0, 0.1), (35, -0.1), (float("nan"), 0.1), (35, float("inf"))])
def test_terms_are_finite_and_a_speed_is_above_zero(speed: float, coefficient: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        Terms(output_tokens_s=speed, coefficient=coefficient)
