"""The frontier of each pool, from the newest of its profiles that tells enough; what is missing is a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from forecaster.errors import ConfigRejected, NothingKept
from forecaster.profile import Origin, Point, Profile, Setup, Slo, Spread
from jobs.capacity.batch import Batches, batches
from jobs.fleet import Fleet
from tests.jobs.world import NOW, World
from tests.profiles import entry, profile

LATER = NOW + timedelta(hours=1)


def step(batch: float) -> Point:
    """A step of an engine of 20 ms and 0.5 ms a request, 101 tokens and a prefill of 200 ms, at this batch."""
    tpot_s = 0.02 + 0.0005 * batch
    e2e_s = 0.2 + 100 * tpot_s
    return Point(
        offered_rpm=60 * batch / e2e_s,
        achieved_rpm=60 * batch / e2e_s,
        ttft=Spread(mean_s=0.2, p95_s=0.3),
        tpot=Spread(mean_s=tpot_s, p95_s=1.2 * tpot_s),
        e2e=Spread(mean_s=e2e_s, p95_s=2 * e2e_s),
        error_ratio=0.0,
        input_tokens=400,
        input_std=0,
        output_tokens=101,
        output_std=0,
    )


STEPS = profile([step(batch) for batch in (2, 16, 48)], setup=Setup(max_batch=64))


@contextmanager
def fleet(world: World, *profiles: Profile, pool: str = "gpu", serving: dict[str, Any] | None = None) -> Iterator[Fleet]:
    """A workload whose pool, or variant, has these profiles, one an hour."""
    world.workload("chat")
    workloads: Any = world.config["workloads"]
    workloads[-1]["pools"][0]["serving"] = serving or {}
    workloads[-1]["variants"] = [{"name": "int8"}]
    with world.fleet() as at:
        at.store.append_profiles([("chat", pool, entry(NOW + timedelta(hours=i), each)) for i, each in enumerate(profiles)])
        yield at


def found(at: Fleet, pool: str | None = None, slo: Slo | None = None) -> Batches:
    (only,) = batches(at.store, at.members, pool, slo, LATER).pools
    return only


def test_the_frontier_is_that_of_the_newest_profile_with_what_carries_most_and_where_the_engine_stands(world: World) -> None:
    with fleet(world, profile([step(2), step(4)]), STEPS) as at:
        shown = found(at)
    assert shown.engine.batches == pytest.approx((2, 48))
    assert shown.now is not None
    assert shown.now.batch == 64
    assert shown.best in shown.frontier
    assert [point.rpm for point in shown.rows] == sorted(point.rpm for point in shown.rows)
    assert any("batches end at 64: its max_batch" in sentence for sentence in shown.told)


def test_a_newer_profile_of_production_without_times_a_token_leaves_that_of_a_file_in_its_place(world: World) -> None:
    bare = replace(
        STEPS, origin=Origin.PRODUCTION, points=tuple(replace(point, output_tokens=None, output_std=None) for point in STEPS.points)
    )
    with fleet(world, STEPS, bare) as at:
        assert found(at).engine.batches == pytest.approx((2, 48))


def test_an_engine_that_stands_beside_the_frontier_is_shown_beside_it(world: World) -> None:
    with fleet(world, STEPS, serving={"max_batch": 1, "kv_tokens": 501 * 64}) as at:
        shown = found(at)
    assert shown.now is not None
    assert shown.now not in shown.frontier
    assert shown.now in shown.rows
    assert max(point.batch for point in shown.rows) == 64
    assert any("its profile is stale, since max batch was 64 and is 1" in sentence for sentence in shown.told)


def test_where_nobody_says_max_batch_nobody_knows_where_the_engine_stands(world: World) -> None:
    with fleet(world, replace(STEPS, setup=Setup())) as at:
        shown = found(at)
    assert shown.now is None
    assert any("say `serving.max_batch` of the pool" in sentence for sentence in shown.told)
    assert any("batches end at 48: the largest that was measured" in sentence for sentence in shown.told)


def test_an_slo_that_is_said_holds_in_place_of_that_of_the_profile(world: World) -> None:
    with fleet(world, STEPS) as at:
        assert found(at).slo == entry(NOW).slo
        strict = found(at, slo=Slo(e2e_p95_s=0.5))
    assert strict.best is None
    assert any("no batch keeps P95 E2E 0.5 s, at however small a load" in sentence for sentence in strict.told)


def test_a_limit_that_the_profile_says_nothing_of_is_told_as_such(world: World) -> None:
    bare = replace(STEPS, points=tuple(replace(point, ttft=Spread(mean_s=0.2)) for point in STEPS.points))
    with fleet(world, bare) as at:
        shown = found(at, slo=Slo(ttft_p95_s=1))
    assert shown.best is None
    assert any("cannot be told: the smallest load tells no mean and P95 of TTFT" in sentence for sentence in shown.told)


def test_steps_on_no_line_are_doubted(world: World) -> None:
    low, _, high = STEPS.points
    odd = replace(step(16), tpot=Spread(mean_s=0.05), e2e=Spread(mean_s=5.2, p95_s=10), offered_rpm=None)
    with fleet(world, replace(STEPS, points=(low, odd, high))) as at:
        assert any("the steps lie on no line" in sentence for sentence in found(at).told)


def test_a_variant_has_a_frontier_of_its_own_and_pools_without_a_profile_are_left_out_with_a_sentence(world: World) -> None:
    with fleet(world, STEPS, pool="int8") as at:
        shown = batches(at.store, at.members, None, None, LATER)
        assert [each.pool for each in shown.pools] == ["int8"]
        (sentence,) = shown.left_out
        assert "chat/gpu: it has no profile; run `forecaster capacity import FILE... --workload chat --pool gpu`" in sentence
        assert found(at, pool="int8").pool == "int8"
        with pytest.raises(NothingKept, match="there is no frontier to tell: chat/gpu: it has no profile"):
            found(at, pool="gpu")
        with pytest.raises(ConfigRejected, match="there is no pool 'cpu'; chat has: gpu, int8"):
            found(at, pool="cpu")


def test_a_profile_that_lacks_what_is_needed_is_named_with_what_it_lacks(world: World) -> None:
    with fleet(world, profile([step(16)])) as at, pytest.raises(NothingKept, match=r"run\.json: its load steps have one batch size"):
        found(at)
