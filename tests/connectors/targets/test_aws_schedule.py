"""Which scheduled actions a schedule asks for, and what is put and deleted for it."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from connectors.targets.aws_schedule import PREFIX, ScheduledFloor, difference, scheduled_floors
from forecaster.schedule import Step
from tests.connectors.targets.subjects import NOW

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def steps(*replicas: int, every: timedelta = HOUR, first: timedelta = HOUR) -> tuple[Step, ...]:
    return tuple(Step(start=NOW + first + i * every, replicas=count) for i, count in enumerate(replicas))


def action(after: timedelta, count: int) -> ScheduledFloor:
    return ScheduledFloor(start=NOW + after, count=count)


def test_each_step_is_an_action_named_by_its_instant() -> None:
    actions = scheduled_floors(steps(8, 2), minimum=2, ceiling=20, per_unit=1)
    assert actions == (action(1 * HOUR, 8), action(2 * HOUR, 2))
    assert [one.name for one in actions] == ["forecaster-20240506T0900Z", "forecaster-20240506T1000Z"]


def test_counts_are_whole_units_at_most_the_ceiling() -> None:
    assert scheduled_floors(steps(21, 99, 8), minimum=2, ceiling=10, per_unit=4) == (
        action(1 * HOUR, 6),
        action(2 * HOUR, 10),
        action(3 * HOUR, 2),
    )


def test_a_raise_between_minutes_comes_early_and_a_lowering_late() -> None:
    odd = steps(8, 2, first=timedelta(minutes=10, seconds=20))
    assert scheduled_floors(odd, minimum=4, ceiling=20, per_unit=1) == (action(10 * MINUTE, 8), action(71 * MINUTE, 2))


def test_an_instant_that_somebody_else_took_is_left_to_them() -> None:
    taken = [NOW + HOUR, NOW + 2 * HOUR]
    actions = scheduled_floors(steps(8, 2), minimum=2, ceiling=20, per_unit=1, taken=taken)
    assert actions == (action(59 * MINUTE, 8), action(121 * MINUTE, 2))


def test_a_raise_that_makes_way_is_not_undone_by_the_lowering_before_it() -> None:
    tight = (*steps(3, 9, every=MINUTE), Step(start=NOW + 2 * HOUR, replicas=2))
    actions = scheduled_floors(tight, minimum=5, ceiling=20, per_unit=1, taken=[NOW + HOUR + MINUTE, NOW + HOUR])
    assert actions == (action(59 * MINUTE, 9), action(2 * HOUR, 2))


@given(counts=st.lists(st.integers(0, 200), min_size=1, max_size=120), room=st.integers(2, 48), minimum=st.integers(0, 200))
def test_too_many_steps_become_coarser_ones_that_never_ask_for_less(counts: list[int], room: int, minimum: int) -> None:
    asked = steps(*counts, 3, every=5 * MINUTE)
    actions = scheduled_floors(asked, minimum=minimum, ceiling=200, per_unit=1, room=room)
    assert len(actions) <= room
    assert actions[-1].count == 3
    for step in asked[:-1]:
        assert next((a.count for a in reversed(actions) if a.start <= step.start), minimum) >= step.replicas


@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=20), taken=st.sets(st.integers(0, 120)), minimum=st.integers(0, 9))
def test_instants_are_unique_whole_and_free(counts: list[int], taken: set[int], minimum: int) -> None:
    foreign = {NOW + HOUR + offset * MINUTE for offset in taken}
    actions = scheduled_floors(steps(*counts, 1, every=5 * MINUTE), minimum=minimum, ceiling=9, per_unit=1, taken=foreign)
    starts = [one.start for one in actions]
    assert starts == sorted(set(starts))
    assert not foreign & set(starts)
    assert actions[-1].count == 1


def test_only_the_difference_is_put_and_deleted() -> None:
    wanted = (action(1 * HOUR, 8), action(2 * HOUR, 4), action(3 * HOUR, 2))
    standing = {wanted[0].name: 8, wanted[1].name: 6, f"{PREFIX}20240506T1130Z": 2}
    assert difference(wanted, standing, NOW) == ((wanted[1], wanted[2]), (f"{PREFIX}20240506T1130Z",))
    assert difference(wanted, {one.name: one.count for one in wanted}, NOW) == ((), ())


def test_what_is_due_within_the_minute_is_neither_put_nor_taken_away() -> None:
    due = action(MINUTE, 8)
    assert difference((due,), {}, NOW) == ((), ())
    assert difference((due,), {due.name: 8}, NOW) == ((), ())


def test_no_steps_take_every_action_of_ours_away() -> None:
    assert scheduled_floors((), minimum=2, ceiling=20, per_unit=1) == ()
    assert difference((), {f"{PREFIX}20240506T1130Z": 2}, NOW) == ((), (f"{PREFIX}20240506T1130Z",))
