"""A ladder is taken step by step while a signal is too high, and back in reverse; what contradicts itself is refused."""

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.ladder import Ladder, LeverValue, Standing, Step, Tier, Trigger, move
from forecaster.reasons import Code

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
TICK_S = 5
STEPS = (
    Step(name="shorter batch wait", levers={"batch_wait_ms": 2}),
    Step(name="capped output", levers={"max_tokens": 512}),
    Step(name="cached answers", levers={"cache": True}),
    Step(name="less output still", levers={"max_tokens": 128}),
    Step(name="smaller model", levers={"model": "small"}),
)


def ladder(*, for_s: float = 5, calm_s: float = 10, expiry_s: float = 3_600, hold_s: float = 15, steps: tuple[Step, ...] = STEPS) -> Ladder:
    trigger = Trigger(signal="p99", above=2.0, below=1.5, for_s=for_s, calm_s=calm_s, expiry_s=expiry_s)
    return Ladder(name="degrade", tier=Tier.ACT, trigger=trigger, steps=steps, hold_s=hold_s)


def depths(of: Ladder, readings: list[float], start: Standing | None = None) -> list[int]:
    """The steps taken after each reading, one every tick."""
    standing, found = start or Standing(), []
    for i, reading in enumerate(readings):
        standing, _ = move(of, standing, reading, NOW + timedelta(seconds=TICK_S * i))
        found.append(standing.depth)
    return found


def test_a_reading_above_the_threshold_acts_once_it_has_lasted() -> None:
    assert depths(ladder(), [3.0, 3.0, 3.0]) == [0, 1, 1]
    assert depths(ladder(for_s=0), [3.0]) == [1]


def test_a_second_reading_that_comes_a_second_early_counts_as_the_second() -> None:
    standing, _ = move(ladder(for_s=5), Standing(), 3.0, NOW)
    assert move(ladder(for_s=5), standing, 3.0, NOW + timedelta(seconds=3))[0].depth == 0
    assert move(ladder(for_s=5), standing, 3.0, NOW + timedelta(seconds=4))[0].depth == 1


def test_steps_are_taken_in_order_with_a_hold_between_them_and_restored_in_reverse() -> None:
    of = ladder(for_s=0, calm_s=0, hold_s=10)
    assert depths(of, [3.0] * 7 + [1.0] * 6) == [1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 2, 2, 1]
    assert [of.at(depth).get("max_tokens") for depth in range(6)] == [None, None, 512, 512, 128, 128]
    assert of.at(5) == {"batch_wait_ms": 2, "max_tokens": 128, "cache": True, "model": "small"}


def test_between_the_thresholds_what_stands_stands() -> None:
    assert depths(ladder(for_s=0, calm_s=0, hold_s=0), [3.0, 1.7, 1.7, 2.0, 1.5]) == [1, 1, 1, 1, 1]


def test_one_unknown_reading_breaks_a_run() -> None:
    assert depths(ladder(for_s=5), [3.0, math.nan, 3.0, 3.0]) == [0, 0, 0, 1]
    assert depths(ladder(for_s=0, calm_s=5, hold_s=0, steps=STEPS[:1]), [3.0, 1.0, math.nan, 1.0, 1.0]) == [1, 1, 1, 1, 0]


def test_expiry_takes_all_steps_back_by_itself_and_acts_again_only_after_a_calm() -> None:
    of = ladder(for_s=0, calm_s=0, expiry_s=20, hold_s=5, steps=STEPS[:2])
    assert depths(of, [3.0] * 10) == [1, 2, 2, 2, 1, 0, 0, 0, 0, 0]
    assert depths(of, [3.0] * 7 + [1.0, 3.0]) == [1, 2, 2, 2, 1, 0, 0, 0, 1]


def test_expiry_needs_no_reading() -> None:
    of = ladder(for_s=0, expiry_s=20, steps=STEPS[:1], hold_s=0)
    standing, why = move(of, Standing(), 3.0, NOW)
    for i in range(1, 5):
        standing, why = move(of, standing, math.nan, NOW + timedelta(seconds=TICK_S * i))
    assert standing.depth == 0
    assert [reason.code for reason in why] == [Code.LEVER_EXPIRED]


def test_every_move_says_why() -> None:
    of = ladder(for_s=0, calm_s=0, hold_s=0)
    standing, taken = move(of, Standing(), 3.0, NOW)
    _, restored = move(of, standing, 1.0, NOW + timedelta(seconds=5))
    assert [reason.detail for reason in (*taken, *restored)] == [
        "degrade takes step 1 of 5, shorter batch wait: p99 is 3, above 2",
        "degrade takes back step 1 of 5, shorter batch wait: p99 is 1, below 1.5",
    ]


def test_a_ladder_that_became_shorter_while_it_stood_goes_on_from_its_new_end() -> None:
    assert depths(ladder(steps=STEPS[:1], hold_s=0, calm_s=0), [1.7, 1.0], Standing(depth=4, since=NOW, moved_at=NOW)) == [1, 0]


def test_a_clock_that_was_set_back_moves_nothing() -> None:
    of = ladder(for_s=0, hold_s=0)
    standing, _ = move(of, Standing(), 3.0, NOW)
    after, why = move(of, standing, 1.0, NOW - timedelta(days=1))
    assert (after.depth, why) == (1, ())


def test_what_began_before_a_clock_was_set_back_still_ends() -> None:
    of = ladder(for_s=0, hold_s=5, expiry_s=60)
    standing, _ = move(of, Standing(), 3.0, NOW)
    earlier = NOW - timedelta(days=1)
    for ticks in range(8):
        standing, _ = move(of, standing, math.nan, earlier + timedelta(seconds=10 * ticks))
    assert standing.depth == 0


@given(
    readings=st.lists(st.sampled_from([1.0, 1.5, 1.7, 2.0, 3.0, math.nan]), max_size=60),
    for_s=st.sampled_from([0.0, 5.0, 12.0]),
    calm_s=st.sampled_from([0.0, 10.0]),
    hold_s=st.sampled_from([0.0, 5.0, 15.0]),
)
def test_at_most_one_step_a_tick_and_never_closer_than_the_hold(readings: list[float], for_s: float, calm_s: float, hold_s: float) -> None:
    found = [0, *depths(ladder(for_s=for_s, calm_s=calm_s, hold_s=hold_s), readings)]
    moves = [i for i in range(1, len(found)) if found[i] != found[i - 1]]
    assert all(abs(found[i] - found[i - 1]) == 1 for i in moves)
    assert all((later - earlier) * TICK_S >= hold_s for earlier, later in pairwise(moves))


@given(before=st.lists(st.sampled_from([1.0, 1.7, 3.0]), max_size=30), unknown=st.integers(1, 30))
def test_an_unknown_signal_never_takes_a_step_and_never_takes_one_back(before: list[float], unknown: int) -> None:
    found = depths(ladder(for_s=0, calm_s=0, hold_s=0), [*before, *[math.nan] * unknown])
    stood = found[len(before) - 1] if before else 0
    assert found[len(before) :] == [stood] * unknown


@given(value=st.sampled_from([1.0, 1.5, 1.7, 2.0, 3.0, math.nan, math.inf]), expiry_s=st.sampled_from([20.0, 100.0, 1e6]))
def test_a_constant_signal_never_makes_it_swing(value: float, expiry_s: float) -> None:
    found = depths(ladder(expiry_s=expiry_s, hold_s=5), [value] * 80)
    highest = found.index(max(found))
    assert found[: highest + 1] == sorted(found[: highest + 1])
    assert found[highest:] == sorted(found[highest:], reverse=True)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((512, 128, 256), "contradicts itself: it sets x to 512, then 128, then 256"),
        ((True, False), "contradicts itself"),
        (("small", "tiny", "small"), "contradicts itself"),
        ((512, 512), "to the same value twice"),
        ((512, "512", 512), "contradicts itself"),
    ],
)
def test_a_ladder_that_contradicts_itself_is_refused(values: tuple[LeverValue, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ladder(steps=tuple(Step(name=f"step {i}", levers={"x": value}) for i, value in enumerate(values)))


@pytest.mark.parametrize("below", [2.0, 2.5, math.nan])
def test_a_threshold_to_restore_at_that_is_not_below_the_one_to_act_at_is_refused(below: float) -> None:
    with pytest.raises(ValueError, match="p99 must calm down below less than the 2"):
        Trigger(signal="p99", above=2.0, below=below)


def test_a_step_that_does_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="moves no lever"):
        Step(name="idle")
