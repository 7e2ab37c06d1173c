"""Pools that contradict themselves, each other or their bounds: a sentence each, when the configuration is read."""

from dataclasses import replace

import pytest

from forecaster.always_on import incomparable
from forecaster.bulk import Bulk
from forecaster.capacity import Capacity
from forecaster.claim import Claim
from forecaster.workload import Policy, Pool
from tests.forecaster.pools import burst, of, reserved
from tests.values import pool_of


@pytest.mark.parametrize(
    ("pools", "told"),
    [
        (
            (reserved(), burst(after=("reservd",))),
            r"burst comes after reservd, .* always on: reserved \(`always_on: N`\)",
        ),
        ((pool_of(), burst(after=("main",))), r"burst comes after main, which is no always-on pool of the workload; always on: none"),
        ((reserved(), burst(after=("reserved", "reserved"))), "burst comes after a pool twice"),
        (
            (reserved(share_ratio=0.5), burst()),
            "reserved is always on before burst, .* take `share` out of reserved",
        ),
        (
            (reserved(), burst(), burst(name="third", after=(), stands_in_for="reserved")),
            "third stands in for reserved, which burst comes after and makes up for already",
        ),
        ((pool_of(), pool_of()), "workload chat has two pools named main: records and plans tell pools by their name"),
        ((), "workload chat has no pool: give it one"),
        ((burst(after=(), stands_in_for="mian"),), "must name a pool of the workload that stands in for none, got mian; there is none"),
        ((pool_of(), burst(after=(), stands_in_for="mian")), "that stands in for none, got mian; there is main"),
    ],
)
def test_pools_that_contradict_each_other_are_told(pools: tuple[Pool, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        of(*pools)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"after": ("other",)}, "reserved is always on and cannot come after another"),
        ({"after": ("reserved",)}, "reserved is always on and cannot come after another"),
        ({"stands_in_for": "other"}, "reserved is always on and stands in for none"),
        ({"spare": 8}, "reserved is always on with 8 replicas, of which 8 cannot be spare"),
        ({"replicas": -1}, "pool.always_on must be at least 0 replicas"),
        ({"spare": -1}, "pool.spare must be at least 0 replicas"),
    ],
)
def test_a_pool_that_contradicts_itself_is_told(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        reserved(**wrong)  # type: ignore[arg-type]  # a wrong value is the point


def test_a_pool_may_stand_in_for_the_one_that_it_comes_after_which_it_does_anyway() -> None:
    assert of(reserved(), burst(stands_in_for="reserved")).pools[1].after == ("reserved",)


@pytest.mark.parametrize("wrong", [{"always_on": 2}, {"after": ("reserved",)}, {"spare": 1}])
def test_bulk_work_follows_no_load_and_has_none_of_this(wrong: dict[str, object]) -> None:
    bulk = Bulk(work_s=3_600, daily_min=360)
    with pytest.raises(ValueError, match="pool burst has bulk work, which follows no load: take always_on, after and spare out"):
        burst(**{"after": (), "bulk": bulk, "claim": Claim(budget="h100"), **wrong})  # type: ignore[arg-type]  # a wrong value is the point


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (Policy(minimum=9), "reserved is always on with 8 replicas and min is 9: bounds outrank it"),
        (Policy(maximum=7), "reserved is always on with 8 replicas and max is 7: bounds outrank it"),
    ],
)
def test_bounds_that_contradict_what_is_always_on_are_told(policy: Policy, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        of(reserved(8), policy=policy)


def test_pools_without_a_signal_in_common_cannot_come_one_after_the_other() -> None:
    first, second = reserved(), replace(burst(), capacity=Capacity(tokens=1_000))
    assert incomparable(of(first, second)) == "pool burst comes after reserved, and no signal has a capacity in both: give both one"
    assert incomparable(of(first, burst())) is None
    assert incomparable(of(first, burst(rpm=None))) is None  # a profile may bring it
