"""Admission follows ready capacity: paid before free, by weight, with a queue and a breaker that fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.admission import Limits, Service, Tenant, limits_of, replicas_that_count

FREE = Tenant(name="free")


def service(*tenants: Tenant, rpm: float = 60, concurrency: float = 8, slo_s: float = 10, service_s: float = 4) -> Service:
    return Service(rpm=rpm, concurrency=concurrency, slo_s=slo_s, service_s=service_s, tenants=tenants)


def rates(limits: Limits) -> dict[str, int]:
    return {limit.tenant: limit.rate_rpm for limit in limits.tenants}


def test_the_figures_of_ten_replicas() -> None:
    limits = limits_of(service(Tenant(name="a", weight=3), FREE), 10)
    assert rates(limits) == {"a": 450, "free": 150}
    assert [limit.burst for limit in limits.tenants] == [60, 20]
    assert limits.queue_timeout_s == 6  # the SLO of 10 s less 4 s of service
    assert limits.queue_length == 60  # 600 a minute are 10 a second, for 6 s
    assert limits.breaker == 80


def test_paid_tenants_come_first_each_up_to_what_it_bought() -> None:
    tenants = (
        FREE,
        Tenant(name="gold", paid=True, weight=2, bought_rpm=300),
        Tenant(name="silver", paid=True, bought_rpm=200),
        Tenant(name="trial"),
    )
    assert rates(limits_of(service(*tenants), 10)) == {"free": 50, "gold": 300, "silver": 200, "trial": 50}
    assert rates(limits_of(service(*tenants), 5)) == {"free": 0, "gold": 200, "silver": 100, "trial": 0}


def test_what_one_cannot_use_goes_to_the_others_by_weight() -> None:
    tenants = (Tenant(name="small", bought_rpm=60), Tenant(name="a", weight=2), Tenant(name="b"))
    assert rates(limits_of(service(*tenants), 11)) == {"small": 60, "a": 400, "b": 200}


def test_what_caches_answer_is_let_in_on_top_and_waits_for_nobody() -> None:
    free, paid = Tenant(name="free"), Tenant(name="paid", paid=True, bought_rpm=500)
    plain, beside = limits_of(service(free, paid), 10), limits_of(service(free, paid), 10, left_ratio=0.6)
    assert rates(beside) == {"paid": 500, "free": 500}  # 10 x 60 / 0.6 are let in, 500 of them bought
    assert (beside.queue_length, beside.breaker) == (plain.queue_length, plain.breaker)


def test_without_replicas_nothing_is_let_in() -> None:
    limits = limits_of(service(FREE), 0)
    assert (rates(limits), limits.tenants[0].burst, limits.queue_length, limits.breaker) == ({"free": 0}, 0, 0, 0)


@pytest.mark.parametrize(
    ("ready", "floor", "coming", "count"),
    [
        (None, 5, 5, None),  # unknown: what stands is kept
        (5, 8, 8, 5),  # three are asked for and not ready
        (5, None, None, 5),
        (8, 8, 3, 3),  # a drain is coming
        (8, 8, 9, 8),  # a raise is coming, and is not ready
        (10, 8, 3, 10),  # load holds two more than the floor, so its fall drains nothing
        (6, 8, 7, 6),
        (0, 1, 1, 0),
    ],
)
def test_those_that_count_are_ready_and_will_stay(ready: int | None, floor: int | None, coming: int | None, count: int | None) -> None:
    assert replicas_that_count(ready, floor=floor, coming=coming) == count


@given(ready=st.integers(0, 50), floor=st.integers(0, 50), coming=st.integers(0, 50))
def test_limits_never_rest_on_more_than_is_ready(ready: int, floor: int, coming: int) -> None:
    count = replicas_that_count(ready, floor=floor, coming=coming)
    assert count is not None
    assert 0 <= count <= ready


@given(
    replicas=st.integers(0, 200),
    bought=st.lists(st.one_of(st.none(), st.floats(1, 5_000)), min_size=1, max_size=6),
    weights=st.lists(st.floats(0.1, 10), min_size=6, max_size=6),
)
def test_rates_never_add_up_to_more_than_is_ready_and_more_replicas_never_take_from_anybody(
    replicas: int, bought: list[float | None], weights: list[float]
) -> None:
    tenants = [
        Tenant(name=str(i), weight=weight, paid=most is not None, bought_rpm=most)
        for i, (most, weight) in enumerate(zip(bought, weights, strict=False))
    ]
    of = service(*tenants)
    less, more = rates(limits_of(of, replicas)), rates(limits_of(of, replicas + 1))
    assert sum(less.values()) <= replicas * of.rpm + 1e-6
    assert all(less[name] <= more[name] + 1 for name in less)  # one for rounding down


def test_service_that_takes_the_whole_slo_leaves_no_queue_and_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing may wait"):
        service(FREE, slo_s=4, service_s=4)


def test_a_paid_tenant_without_a_limit_beside_a_free_one_is_refused() -> None:
    with pytest.raises(ValueError, match="gold has no limit"):
        service(FREE, Tenant(name="gold", paid=True))
    assert rates(limits_of(service(Tenant(name="gold", paid=True)), 1)) == {"gold": 60}
