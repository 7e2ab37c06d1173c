"""What caches take off a load, and that they never ask for more."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.caches import EMPTY, Caches, Counted, Hits
from forecaster.capacity import Capacity
from forecaster.decision import Observation
from forecaster.demand import demand
from forecaster.plan import plan
from forecaster.reasons import Code
from forecaster.series import Floats, Series, Signal
from forecaster.units import DAY_S
from forecaster.warmth import felt
from forecaster.workload import Pool
from tests.forecaster.test_demand import forecast_of
from tests.values import NOW, pool_of, workload_of

ratios = st.floats(0, 1)
known = st.one_of(st.none(), ratios)
both = st.builds(Hits, responses=known, prefix=known)
STEP_S = 300


@st.composite
def caches(draw: st.DrawFn) -> Caches:
    """Measured cold, with any hits."""
    return Caches(
        responses=draw(st.one_of(st.none(), st.just(Counted()))),
        prefix=draw(st.one_of(st.none(), st.just(Counted()))),
        prefill_ratio=draw(ratios),
        hits=draw(both),
    )


def pool_with(found: Caches) -> Pool:
    return replace(pool_of(), capacity=Capacity(rpm=10, concurrency=30, tokens=50), caches=found)


def floors(found: Caches, rpm: float, in_flight: float) -> list[int]:
    pool = pool_with(found)
    needed = demand((forecast_of(rpm, steps=12), forecast_of(in_flight, Signal.CONCURRENCY, steps=12)), pool, workload_of().policy)
    assert needed is not None
    return [floor.replicas for floor in plan(needed, workload_of(), pool, NOW).floors]


def hits_of(values: Floats | list[float], signal: Signal = Signal.PREFIX_HITS, step_s: int = STEP_S) -> Series:
    array = np.asarray(values, dtype=float)
    return Series(signal=signal, start=NOW - timedelta(seconds=step_s * array.size), step_s=step_s, mean=array, peak=array)


@given(caches(), st.floats(0, 5_000), st.floats(0, 500))
def test_hits_never_raise_a_floor_and_never_take_more_than_they_are(found: Caches, rpm: float, in_flight: float) -> None:
    bare = max(floors(Caches(), rpm, in_flight))
    relieved = max(floors(found, rpm, in_flight))
    left = (1 - (found.hits.responses or 0.0)) * (1 - (found.hits.prefix or 0.0))
    assert relieved <= bare
    assert relieved >= max(floors(Caches(), rpm * left * (1 - 1e-9), in_flight * left))


@given(caches(), both, st.floats(0, 5_000))
def test_more_hits_never_raise_a_floor(found: Caches, fewer: Hits, rpm: float) -> None:
    less = replace(found, hits=found.hits.lowered(fewer))
    assert max(floors(less, rpm, 0.0)) >= max(floors(found, rpm, 0.0))


@given(caches(), st.sampled_from(Signal))
def test_what_is_not_known_takes_nothing_off(found: Caches, signal: Signal) -> None:
    assert replace(found, hits=Hits()).left(signal) == 1.0
    assert replace(found, hits=EMPTY).left(signal) == 1.0
    assert Caches(hits=found.hits).left(signal) == 1.0


@given(caches(), st.sampled_from(Signal))
def test_something_is_always_left(found: Caches, signal: Signal) -> None:
    assert replace(found, hits=Hits(responses=1.0, prefix=1.0)).left(signal) >= 0.01


@given(caches())
def test_requests_in_flight_are_short_of_hits_already(found: Caches) -> None:
    assert found.left(Signal.CONCURRENCY) == 1.0


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (Caches(), 17),
        (Caches(responses=Counted(), hits=Hits(responses=0.4)), 10),
        (Caches(prefix=Counted(), prefill_ratio=0.3, hits=Hits(prefix=0.5)), 15),
        (Caches(prefix=Counted(), prefill_ratio=0.0, hits=Hits(prefix=0.5)), 17),
        (Caches(responses=Counted(), prefix=Counted(), prefill_ratio=0.3, hits=Hits(responses=0.4, prefix=0.5)), 9),
    ],
)
def test_the_table_of_the_page_is_true(found: Caches, asked: int) -> None:
    assert -(-1_000 * found.left(Signal.RPM) // 60) == asked


@given(caches(), both)
def test_a_flush_never_lowers_a_floor_and_costs_nothing_where_no_hits_are_known(found: Caches, usual: Hits) -> None:
    for signal in (Signal.RPM, Signal.TOKENS, Signal.CONCURRENCY):
        assert found.emptied(usual).left(signal) >= found.left(signal)
        assert replace(found, hits=Hits()).emptied(Hits()).left(signal) == 1.0


def test_what_is_measured_behind_a_cache_comes_back_once_it_is_emptied() -> None:
    gone = Caches(responses=Counted(), prefix=Counted(), prefill_ratio=0.5).emptied(Hits(responses=0.5, prefix=0.4))
    assert gone.left(Signal.RPM) == 1.0
    assert gone.left(Signal.TOKENS) == 2.0
    assert gone.left(Signal.CONCURRENCY) == pytest.approx(2 / 0.8)


def test_a_capacity_that_was_measured_warm_counts_its_hits_once_and_costs_more_once_they_are_gone() -> None:
    warm = Caches(prefix=Counted(), prefill_ratio=0.5, measured=Hits(prefix=0.4), hits=Hits(prefix=0.4))
    assert warm.left(Signal.RPM) == pytest.approx(1.0)
    assert replace(warm, hits=EMPTY).left(Signal.RPM) == pytest.approx(1 / 0.8)


@given(caches(), both)
def test_of_a_capacity_that_production_taught_nothing_comes_off_until_hits_are_gone(found: Caches, live: Hits) -> None:
    taught = replace(found, taught=True).counting(found.hits)
    assert {taught.left(signal) for signal in (Signal.RPM, Signal.TOKENS, Signal.CONCURRENCY)} == {1.0}
    now = replace(taught, hits=taught.hits.lowered(live))
    assert now.left(Signal.RPM) >= 1.0


def test_a_capacity_that_production_taught_needs_more_once_its_cache_is_empty() -> None:
    taught = Caches(responses=Counted(), taught=True).counting(Hits(responses=0.5))
    assert replace(taught, hits=EMPTY).left(Signal.RPM) == 2.0
    (reason,) = taught.reasons
    assert (
        reason.detail
        == "caches answer 50% of requests (P5 of 7 days): capacity was learned from production with them, so nothing more comes off"
    )


@given(st.lists(ratios, min_size=300, max_size=400), st.floats(0, 0.5))
def test_what_is_counted_on_was_measured_and_all_but_a_few_buckets_had_more(values: list[float], quantile: float) -> None:
    found = Counted(quantile=quantile).of(hits_of(values))
    assert found in values
    assert np.mean(np.asarray(values) < found) <= quantile


def test_less_than_a_day_of_hits_is_not_known_and_unmeasured_buckets_are_no_hits_either_way() -> None:
    day = DAY_S // STEP_S
    assert Counted().of(hits_of([0.5] * (day - 1))) is None
    assert Counted().of(hits_of([np.nan] * day + [0.5] * day)) == 0.5
    assert Counted().of(hits_of([np.nan] * 7 * day)) is None


@pytest.mark.parametrize("wrong", [{"responses": 1.1}, {"prefix": -0.1}, {"prefix": float("nan")}])
def test_a_share_of_hits_lies_within_0_and_1(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must lie within 0 and 1"):
        Hits(**wrong)


class TestLive:
    CACHES = Caches(responses=Counted(), prefix=Counted(), prefill_ratio=0.5)

    def seen(self, responses: list[float], prefix: list[float] | None = None) -> Observation:
        live = (hits_of(responses, Signal.RESPONSE_HITS, 60),)
        return Observation(at=NOW, live=live if prefix is None else (*live, hits_of(prefix, Signal.PREFIX_HITS, 60)))

    def planned(self, hits: Hits) -> Pool:
        return pool_with(replace(self.CACHES, hits=hits))

    def now(self, hits: Hits | None, observation: Observation) -> tuple[Hits, set[Code]]:
        pool = self.planned(Hits())
        made = None
        if hits is not None:
            needed = demand((forecast_of(100),), self.planned(hits), workload_of().policy)
            assert needed is not None
            made = plan(needed, workload_of(), pool, NOW)
        found = felt(pool, made, observation)
        return found.pool.caches.hits, {reason.code for reason in found.reasons}

    def test_live_load_is_less_what_the_plan_counts_on_while_there_is_as_much(self) -> None:
        assert self.now(Hits(responses=0.4, prefix=0.2), self.seen([0.6] * 30, [0.9] * 30)) == (Hits(responses=0.4, prefix=0.2), set())

    def test_fewer_hits_than_planned_are_what_there_is_and_are_told_once_they_matter(self) -> None:
        assert self.now(Hits(responses=0.4), self.seen([0.39] * 30)) == (Hits(responses=0.39), set())
        assert self.now(Hits(responses=0.4), self.seen([0.6] * 25 + [0.0] * 5)) == (Hits(responses=0.0), {Code.CACHE_COLD})

    def test_what_is_not_measured_live_is_what_was_planned(self) -> None:
        planned = Hits(responses=0.4, prefix=0.2)
        assert self.now(planned, Observation(at=NOW)) == (planned, set())
        assert self.now(planned, self.seen([0.0] * 20 + [np.nan] * 10)) == (planned, set())

    def test_a_plan_without_hits_takes_nothing_off_live_load_either(self) -> None:
        assert self.now(Hits(), self.seen([0.6] * 30)) == (Hits(), set())

    def test_without_a_plan_live_load_is_less_what_there_is(self) -> None:
        assert self.now(None, self.seen([0.5] * 30)) == (Hits(responses=0.5), set())
