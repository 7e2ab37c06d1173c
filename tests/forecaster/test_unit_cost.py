"""Unit costs: ratios of what was paid to what was done; unknown stays unknown, and differences are split without a rest."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.unit_cost import (
    ABANDONED,
    CALLS,
    IDLE,
    INVALID,
    PRICE,
    RETRIES,
    SPENT,
    WORK,
    Counted,
    Paid,
    Task,
    Used,
    compared,
    days_that_count,
    per,
    summed,
    unit_cost,
)

positive = st.floats(0.01, 1e6)
share = st.floats(0, 0.95)
tasks = st.builds(
    Task,
    calls=st.floats(0.1, 100),
    rounds=st.floats(0.1, 20),
    completion_ratio=st.floats(0.05, 1),
    retry_ratio=share,
    invalid_ratio=share,
)
maybe_tasks = st.builds(
    Task, calls=st.floats(0.1, 100), completion_ratio=st.floats(0.05, 1), retry_ratio=st.none() | share, invalid_ratio=st.none() | share
)
useds = st.builds(Used, hours=positive, spend=positive | st.none(), busy_hours=positive | st.none(), requests=positive)


def day(**known: float) -> Used:
    return Used(**({"hours": 10.0, "spend": 25.0, "requests": 1_000.0} | known))


def test_a_call_costs_what_was_paid_over_the_requests_of_all_days_together() -> None:
    days = (day(), day(hours=30.0, spend=75.0, requests=9_000.0))
    found = unit_cost(days, Paid.SPEND, None)
    assert found.call == pytest.approx(100 / 10_000)
    assert unit_cost(days, Paid.HOURS, None).call == pytest.approx(40 / 10_000)
    assert found.task is None


@pytest.mark.parametrize("missing", [{"spend": None}, {"requests": None}, {"spend": None, "requests": None}])
def test_a_day_of_which_one_side_is_not_known_counts_for_neither(missing: dict[str, None]) -> None:
    lame = Used(**({"hours": 10.0, "spend": 1e9, "requests": 1e9} | missing))
    assert per((day(), lame), Paid.SPEND, Counted.REQUESTS) == pytest.approx(25 / 1_000)
    assert per((lame,), Paid.SPEND, Counted.REQUESTS) is None


def test_without_a_request_a_call_has_no_cost_rather_than_none_at_all() -> None:
    assert per((day(requests=0.0),), Paid.SPEND, Counted.REQUESTS) is None
    assert per((), Paid.SPEND, Counted.REQUESTS) is None


@given(into=positive, out=positive, paid=positive)
def test_input_output_and_all_tokens_each_bear_the_whole(into: float, out: float, paid: float) -> None:
    found = unit_cost((Used(hours=1, spend=paid, input_tokens=into, output_tokens=out, tokens=into + out),), Paid.SPEND, None)
    assert found.input_token is not None
    assert found.output_token is not None
    assert found.token is not None
    assert 1 / found.token == pytest.approx(1 / found.input_token + 1 / found.output_token)


@given(hours=positive, requests=positive, price=positive, task=tasks)
def test_half_again_the_price_at_half_the_calls_a_task_is_three_quarters_of_the_cost(
    hours: float, requests: float, price: float, task: Task
) -> None:
    plain = Used(hours=hours, spend=hours * price, requests=requests)
    dear = Used(hours=hours, spend=hours * price * 1.5, requests=requests)
    short = Task(
        calls=task.calls / 2,
        rounds=task.rounds,
        completion_ratio=task.completion_ratio,
        retry_ratio=task.retry_ratio,
        invalid_ratio=task.invalid_ratio,
    )
    found = compared((plain, task), (dear, short))
    assert found.of == "task"
    assert found.ratio == pytest.approx(0.75)
    ratios = {each.name: each.ratio for each in found.factors}
    assert ratios[PRICE] == pytest.approx(1.5)
    assert ratios[CALLS] == pytest.approx(0.5)


@given(task=tasks)
def test_useful_work_and_what_is_lost_make_up_the_whole_of_a_task(task: Task) -> None:
    found = unit_cost((day(),), Paid.SPEND, task)
    assert found.task is not None
    assert found.task == pytest.approx(0.025 * task.calls * task.rounds / task.completion_ratio)
    useful = found.task * task.completion_ratio * (1 - (task.retry_ratio or 0)) * (1 - (task.invalid_ratio or 0))
    assert useful + (found.abandoned or 0) + (found.retries or 0) + (found.invalid or 0) == pytest.approx(found.task)


def test_retries_that_nobody_counts_have_no_cost_and_not_a_cost_of_zero() -> None:
    found = unit_cost((day(),), Paid.SPEND, Task(calls=4))
    assert (found.retries, found.invalid, found.abandoned) == (None, None, 0)
    assert Task(calls=4).lost_share is None
    assert Task(calls=4, retry_ratio=0.0).lost_share == 0
    assert Task(calls=4, completion_ratio=0.8).lost_share == pytest.approx(0.2)


@given(first=useds, second=useds, one=maybe_tasks, other=maybe_tasks)
def test_the_factors_make_up_each_cost_and_explain_the_difference_without_a_rest(first: Used, second: Used, one: Task, other: Task) -> None:
    found = compared((first, one), (second, other))
    assert found.first is not None
    assert found.second is not None
    paid = Paid.HOURS if first.spend is None or second.spend is None else Paid.SPEND
    assert found.paid is paid
    assert found.first == pytest.approx(unit_cost((first,), paid, one).task)
    assert found.second == pytest.approx(unit_cost((second,), paid, other).task)
    assert math.prod(each.ratio or math.nan for each in found.factors) == pytest.approx(found.ratio)
    explained = sum(each.explains if each.explains is not None else math.nan for each in found.factors)
    assert explained == pytest.approx(found.second - found.first, abs=1e-6 * max(found.first, found.second))


@given(first=useds, second=useds, one=maybe_tasks)
def test_the_other_way_round_a_comparison_says_the_opposite(first: Used, second: Used, one: Task) -> None:
    there, back = compared((first, one), (second, one)), compared((second, one), (first, one))
    assert (there.ratio or 0) * (back.ratio or 0) == pytest.approx(1)


def test_idle_replicas_are_told_apart_where_it_is_known_how_full_both_are() -> None:
    full, idle = day(busy_hours=10.0), day(busy_hours=2.5)
    factors = {each.name: each.ratio for each in compared((full, None), (idle, None)).factors}
    assert factors == {PRICE: 1, WORK: pytest.approx(0.25), IDLE: 4}
    assert [each.name for each in compared((full, None), (day(), None)).factors] == [PRICE, SPENT]
    assert [each.name for each in compared((full, None), (day(busy_hours=0.0), None)).factors] == [PRICE, SPENT]


def test_where_one_side_says_nothing_of_tasks_calls_are_compared() -> None:
    found = compared((day(), Task(calls=4)), (day(), None))
    assert found.of == "call"
    assert found.ratio == 1


def test_what_only_one_side_counts_stays_within_its_calls() -> None:
    names = [each.name for each in compared((day(), Task(calls=4, retry_ratio=0.1)), (day(), Task(calls=4))).factors]
    assert names == [PRICE, SPENT, CALLS, ABANDONED]
    both = Task(calls=4, retry_ratio=0.1, invalid_ratio=0.1)
    assert [each.name for each in compared((day(), both), (day(), both)).factors][-4:] == [CALLS, RETRIES, INVALID, ABANDONED]


def test_without_requests_nothing_is_explained() -> None:
    found = compared((Used(hours=1, spend=1, tokens=5), None), (day(), None))
    assert (found.first, found.ratio) == (None, None)
    assert all(each.explains is None for each in found.factors)


def test_days_are_summed_where_both_sides_are_known_and_what_one_lacks_is_unknown() -> None:
    days = (day(tokens=5.0), day(), Used(hours=99.0), Used(requests=99.0))
    found = summed(days)
    assert (found.hours, found.requests, found.tokens) == (20, 2_000, None)
    assert len(days_that_count(days)) == 2
    assert summed(()) == Used()


def test_where_no_requests_are_told_of_tokens_make_a_day_count() -> None:
    assert summed((Used(hours=2, tokens=10), Used(hours=3))) == Used(hours=2, tokens=10)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"calls": 0}, "task.calls"),
        ({"calls": math.nan}, "task.calls"),
        ({"calls": 1, "rounds": -1}, "task.rounds"),
        ({"calls": 1, "completion_ratio": 0}, "task.completion"),
        ({"calls": 1, "completion_ratio": 1.5}, "task.completion"),
        ({"calls": 1, "retry_ratio": 1}, "task.retries"),
        ({"calls": 1, "invalid_ratio": math.nan}, "task.invalid"),
    ],
)
def test_a_task_that_cannot_be_is_refused_by_the_name_of_what_is_wrong(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Task(**wrong)
