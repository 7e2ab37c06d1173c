"""Which source a pool's capacity follows: configured figures, else the first that can be believed, else the first there is."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.capacity import Capacity
from forecaster.demand import carry_of
from forecaster.estimate import Terms
from forecaster.profile import Origin
from forecaster.profile_best import Asked, Choice, Follows, Source, choose
from forecaster.profile_carried import Carried, Confidence, carried
from forecaster.series import Signal
from forecaster.workload import Policy
from tests.profiles import MEASURED, SLO, point, profile

HIGH, MEDIUM, LOW = Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW
BEST = Asked(follows=Follows.BEST, terms=Terms(output_tokens_s=35, coefficient=0.1))
IMPORTED = Asked(follows=Follows.IMPORTED)
MEASURED_ORIGINS = (Origin.REPLAY, Origin.FILE, Origin.PRODUCTION)


def source(origin: Origin, confidence: Confidence = HIGH, *, days: float = 0, stale: tuple[str, ...] = (), better: float = 1.0) -> Source:
    """A source that was measured so many days after the first, on replicas that carry so many times as much."""
    at = MEASURED + timedelta(days=days)
    steps = (point(600 * better), point(660 * better, ttft_s=0.8))
    if origin is Origin.ESTIMATE:
        found = carried(profile(steps, measured_at=None), SLO)
        return Source(origin=origin, found=found, confidence=LOW, doubts=("a rule of thumb",))
    found = carried(profile(steps, measured_at=at, origin=origin), SLO)
    assert isinstance(found, Carried)
    return Source(origin=origin, found=found, at=at, confidence=confidence, stale=stale)


def unproven(origin: Origin) -> Source:
    return Source(origin=origin, found="the sweep never broke the SLO", at=MEASURED, confidence=LOW)


def used(asked: Asked, *sources: Source) -> Origin | None:
    chosen = choose(sources, asked).used
    return None if chosen is None else chosen.origin


def why(choice: Choice) -> dict[Origin, str]:
    return {each.origin: told for each, told in choice.beside}


ALL = tuple(source(origin) for origin in (Origin.ESTIMATE, Origin.PRODUCTION, Origin.FILE, Origin.REPLAY))


def test_configured_figures_win_over_everything() -> None:
    choice = choose(ALL, replace(BEST, figures=Capacity(rpm=100)))
    assert choice.used is not None
    assert (choice.used.origin, choice.used.capacity) == (Origin.CONFIGURED, Capacity(rpm=100))
    assert set(why(choice).values()) == {"figures in the configuration win"}


def test_among_those_that_can_be_believed_replay_goes_before_file_before_production_before_estimate() -> None:
    for first in range(len(ALL)):
        assert used(BEST, *ALL[: first + 1]) is ALL[first].origin


def test_medium_confidence_is_enough_to_keep_the_place() -> None:
    assert used(BEST, source(Origin.REPLAY, MEDIUM), source(Origin.FILE, HIGH, days=5)) is Origin.REPLAY


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (source(Origin.FILE, LOW), source(Origin.PRODUCTION, MEDIUM, days=1), Origin.PRODUCTION),
        (source(Origin.FILE, LOW, stale=("precision was fp16 and is int8",)), source(Origin.PRODUCTION, HIGH, days=1), Origin.PRODUCTION),
        (source(Origin.FILE, LOW, days=9), source(Origin.PRODUCTION, MEDIUM, days=1), Origin.FILE),
        (source(Origin.FILE, LOW), source(Origin.PRODUCTION, LOW, days=1), Origin.FILE),
        (source(Origin.FILE, LOW), source(Origin.ESTIMATE), Origin.FILE),
    ],
    ids=["low gives way", "stale gives way", "not to an older one", "not to one that is no better", "never to an estimate"],
)
def test_one_of_low_confidence_gives_way_to_a_fresher_one_that_is_better(first: Source, second: Source, expected: Origin) -> None:
    assert used(BEST, first, second) is expected


def test_what_gave_way_says_so_and_what_waits_says_what_goes_before_it() -> None:
    choice = choose([source(Origin.REPLAY, LOW), source(Origin.FILE, MEDIUM, days=1), source(Origin.PRODUCTION)], BEST)
    assert why(choice) == {
        Origin.REPLAY: "of low confidence, and the load test is fresher and of medium confidence",
        Origin.PRODUCTION: "the load test goes before it",
    }


def test_what_proves_nothing_is_passed_over_and_says_why() -> None:
    choice = choose([unproven(Origin.REPLAY), source(Origin.PRODUCTION)], BEST)
    assert choice.used is not None
    assert choice.used.origin is Origin.PRODUCTION
    assert why(choice) == {Origin.REPLAY: "proves no capacity: the sweep never broke the SLO"}
    assert used(BEST, unproven(Origin.FILE)) is None


def test_imported_follows_the_fresher_one_of_replay_and_file_and_nothing_that_nobody_measured() -> None:
    assert used(IMPORTED, source(Origin.REPLAY), source(Origin.FILE, LOW, days=1)) is Origin.FILE
    assert used(IMPORTED, source(Origin.REPLAY, LOW, days=1), source(Origin.FILE)) is Origin.REPLAY
    assert used(IMPORTED, source(Origin.REPLAY), source(Origin.FILE)) is Origin.REPLAY
    choice = choose([source(Origin.PRODUCTION)], IMPORTED)
    assert choice.used is None
    assert why(choice)[Origin.PRODUCTION] == "`profile: imported` follows replays and files alone; `profile: best` follows it as well"


def test_an_estimate_alone_is_followed_alone() -> None:
    alone = Asked(terms=BEST.terms)
    choice = choose([source(Origin.FILE), source(Origin.ESTIMATE)], alone)
    assert choice.used is not None
    assert choice.used.origin is Origin.ESTIMATE
    assert why(choice) == {Origin.FILE: "the pool does not ask for it: write `capacity: {profile: best}`"}


def test_a_pool_that_asks_for_nothing_follows_nothing() -> None:
    assert used(Asked(), *ALL) is None
    assert Asked().is_open is False
    assert replace(BEST, figures=Capacity(rpm=1)).is_open is False
    assert BEST.is_open


sources = st.builds(
    source,
    st.sampled_from(MEASURED_ORIGINS),
    st.sampled_from((HIGH, MEDIUM, LOW)),
    days=st.floats(0, 300),
)


@given(st.lists(sources, max_size=3, unique_by=lambda each: each.origin), st.permutations(range(3)))
def test_the_choice_does_not_depend_on_the_order_and_leaves_no_source_out(many: list[Source], order: list[int]) -> None:
    shuffled = [many[i] for i in order if i < len(many)]
    choice = choose(many, BEST)
    assert choose(shuffled, BEST) == choice
    assert {each.origin for each, _ in choice.beside} | ({choice.used.origin} if choice.used else set()) == {s.origin for s in many}
    assert all(told for _, told in choice.beside)


@given(st.lists(sources, min_size=1, max_size=3, unique_by=lambda each: each.origin))
def test_nothing_fresher_and_better_is_ever_passed_over_for_one_of_low_confidence(many: list[Source]) -> None:
    chosen = choose(many, BEST).used
    assert chosen is not None
    if chosen.confidence is LOW:
        after = [s for s in many if s.confidence is not LOW and MEASURED_ORIGINS.index(s.origin) > MEASURED_ORIGINS.index(chosen.origin)]
        assert not [s for s in after if instant(s) > instant(chosen)]


def instant(of: Source) -> datetime:
    assert of.fresh_at is not None
    return of.fresh_at


@given(st.floats(0.5, 20), st.floats(0.5, 4), st.floats(10, 1e5), st.sampled_from(MEASURED_ORIGINS), st.sampled_from(MEASURED_ORIGINS))
def test_ten_times_the_load_on_a_best_source_twice_as_good_is_five_times_the_replicas_before_rounding(
    growth: float, better: float, load_rpm: float, before: Origin, after: Origin
) -> None:
    old, new = choose([source(before)], BEST).used, choose([source(after, days=30, better=better)], BEST).used
    assert old is not None
    assert new is not None
    assert old.capacity is not None
    assert new.capacity is not None
    replicas = load_rpm / carry_of(old.capacity, Signal.RPM, Policy())
    grown = growth * load_rpm / carry_of(new.capacity, Signal.RPM, Policy())
    assert grown == pytest.approx(replicas * growth / better)
