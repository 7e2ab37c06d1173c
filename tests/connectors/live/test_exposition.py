"""What a page of metrics answers: sums, rates, shares and quantiles of what came since the look before; else nothing."""

import math

import pytest

from connectors.live.exposition import Sample, answer, counts_of, parse_question

P = "http://engine/metrics"


def asked(text: str, now: list[Sample], before: list[Sample] | None = None, elapsed_s: float = 5) -> float:
    question = parse_question(text)
    earlier = None if before is None else counts_of(question, before, page=P)
    return answer(question, counts_of(question, now, page=P), earlier, elapsed_s)


def waiting(a: float, b: float) -> list[Sample]:
    return [("vllm:num_requests_waiting", {"model_name": "a"}, a), ("vllm:num_requests_waiting", {"model_name": "b"}, b)]


def buckets(*counts: float, bounds: tuple[str, ...] = ("0.5", "1.0", "2.0", "+Inf")) -> list[Sample]:
    return [("latency_bucket", {"le": bound}, value) for bound, value in zip(bounds, counts, strict=True)]


def outcomes(failed: float, done: float) -> list[Sample]:
    return [("requests_total", {"code": "500"}, failed), ("requests_total", {"code": "200"}, done)]


def test_a_gauge_is_summed_over_its_samples_or_its_largest_is_taken() -> None:
    assert asked("vllm:num_requests_waiting", waiting(3, 4)) == 7
    assert asked('vllm:num_requests_waiting{model_name="b"}', waiting(3, 4)) == 4
    assert asked('vllm:num_requests_waiting{model_name=~"a|b"}', waiting(3, 4)) == 7
    assert asked("max(vllm:num_requests_waiting)", waiting(3, 4)) == 4


def test_a_rate_is_growth_a_second() -> None:
    assert asked("rate(requests_total)", outcomes(10, 40), outcomes(10, 20)) == 4


def test_a_ratio_is_growth_for_growth() -> None:
    assert asked('ratio(requests_total{code="500"}, requests_total)', outcomes(15, 35), outcomes(10, 20)) == 0.25


def test_a_quantile_is_of_what_came_since_and_linear_inside_of_its_bucket() -> None:
    assert asked("p50(latency)", buckets(60, 100, 100, 100), buckets(50, 50, 50, 50)) == 0.6875  # 15 of the 40 beyond 0.5
    assert asked("p99(latency)", buckets(0, 0, 0, 10), buckets(0, 0, 0, 0)) == 2.0  # beyond the largest bound


@pytest.mark.parametrize("text", ["p99(latency)", "rate(requests_total)", 'ratio(requests_total{code="500"}, requests_total)'])
def test_the_first_look_knows_no_growth(text: str) -> None:
    assert math.isnan(asked(text, [*buckets(1, 2, 3, 4), *outcomes(1, 2)]))


def test_where_nothing_came_in_between_quantile_and_ratio_are_unknown_and_not_zero() -> None:
    assert math.isnan(asked("p99(latency)", buckets(1, 2, 3, 4), buckets(1, 2, 3, 4)))
    assert math.isnan(asked('ratio(requests_total{code="500"}, requests_total)', outcomes(1, 2), outcomes(1, 2)))
    assert asked("rate(requests_total)", outcomes(1, 2), outcomes(1, 2)) == 0


def test_a_metric_that_is_not_on_the_page_is_unknown() -> None:
    assert math.isnan(asked("nothing", waiting(1, 2)))
    assert math.isnan(asked("max(nothing)", waiting(1, 2)))


def test_a_counter_that_began_again_grew_by_all_that_it_has() -> None:
    assert asked("rate(requests_total)", outcomes(5, 5), outcomes(100, 100)) == 2


def test_a_page_that_is_new_to_us_tells_no_growth_yet() -> None:
    question = parse_question("rate(requests_total)")
    before = counts_of(question, outcomes(1, 1), page="http://other/metrics")
    assert math.isnan(answer(question, counts_of(question, outcomes(500, 500), page=P), before, 5))


@pytest.mark.parametrize("text", ["", "p99()", "p0(x)", "ratio(a)", "rate(a, b)", "a b", "a{b=c}", "sum(a)"])
def test_what_is_no_question_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"question|names no metric|labels that cannot be read|outside of"):
        parse_question(text)
