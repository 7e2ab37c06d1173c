"""Work that may wait: what is left of it, when it is done in troughs, and by how much it is late."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.apportion import Contender
from forecaster.budget import Budget, Standing, ceilings
from forecaster.bulk import Bulk, BulkPool, Job, Late, Piece, Trough, Worked, left_of, scheduled
from forecaster.claim import Claim
from forecaster.correct import correct
from forecaster.reasons import ALERTS, Code
from forecaster.trough import Waiting, left_over, no_load, trough_plans
from forecaster.units import HOUR_S
from forecaster.workload import Policy
from tests.values import NOW, plan_of

HOUR = timedelta(hours=1)


def job(hours: float, *, due: float, release: float = 0.0) -> Job:
    """Replica-hours that may begin, and are due, so many hours from now."""
    return Job(release=NOW + release * HOUR, deadline=NOW + due * HOUR, work_s=hours * HOUR_S)


def pool(*jobs: Job, name: str = "batch", gpus: int = 1, least: int = 0, most: int | None = None, lead_s: float = 0.0) -> BulkPool:
    return BulkPool(name=name, gpus_per_replica=gpus, jobs=jobs, least=least, most=most, lead_s=lead_s)


def rooms(*gpus: int) -> list[Trough]:
    """GPUs that are left, hour by hour."""
    return [Trough(start=NOW + i * HOUR, until=NOW + (i + 1) * HOUR, gpus=n) for i, n in enumerate(gpus)]


def hours_of(pieces: tuple[Piece, ...], i: int = 0) -> float:
    return sum(piece.replicas[i] * (piece.until - piece.start).total_seconds() for piece in pieces) / HOUR_S


def at(pieces: tuple[Piece, ...], hours: float) -> tuple[int, ...]:
    instant = NOW + hours * HOUR
    return next(piece.replicas for piece in pieces if piece.start <= instant < piece.until)


def test_work_fills_the_trough_and_ends_when_it_is_done() -> None:
    pieces, late = scheduled(rooms(2, 8, 8, 2), [pool(job(12, due=4))])
    assert [at(pieces, h)[0] for h in (0, 1, 2, 3)] == [2, 8, 8, 0]
    assert hours_of(pieces) == pytest.approx(12, abs=0.2)
    assert late == ()


def test_the_earliest_deadline_has_all_that_is_left_first() -> None:
    pools = [pool(job(8, due=8), name="later"), pool(job(8, due=2), name="sooner")]
    pieces, late = scheduled(rooms(4, 4, 4, 4), pools)
    assert [at(pieces, h) for h in (0, 1, 2, 3)] == [(0, 4), (0, 4), (4, 0), (4, 0)]
    assert late == ()


def test_a_job_begins_no_sooner_than_it_may() -> None:
    pieces, _ = scheduled(rooms(4, 4, 4), [pool(job(4, due=3, release=1.5))])
    assert [at(pieces, h)[0] for h in (0, 1, 1.5, 2)] == [0, 0, 4, 4]


def test_what_cannot_be_done_in_time_is_done_late_and_says_by_how_much() -> None:
    pieces, (late,) = scheduled(rooms(2, 2, 2, 2, 2, 2), [pool(job(8, due=2))])
    assert hours_of(pieces) == pytest.approx(8)
    assert late.told == (
        "4 of 8 replica-hours of batch are not done by 2026-03-02T10:00:00Z but 2 h later: raise the budget or max, or move the deadline"
    )


def test_what_is_not_done_as_far_as_plans_look_says_so() -> None:
    _, (late,) = scheduled(rooms(2, 2, 2), [pool(job(80, due=2))])
    assert late.done is None
    assert "76 of 80 replica-hours of batch are not done by 2026-03-02T10:00:00Z, nor as far as plans look" in late.told


def test_it_is_to_be_done_a_lead_time_before_its_deadline() -> None:
    assert scheduled(rooms(4, 4), [pool(job(8, due=2))])[1] == ()
    assert [late.left_s for late in scheduled(rooms(4, 4), [pool(job(8, due=2), lead_s=900)])[1]] == [HOUR_S]


def test_replicas_of_eight_gpus_take_eight_and_a_maximum_bounds_them() -> None:
    assert at(scheduled(rooms(20, 20), [pool(job(40, due=2), gpus=8)])[0], 0) == (2,)
    assert at(scheduled(rooms(20, 20), [pool(job(40, due=2), most=5)])[0], 0) == (5,)


def test_a_minimum_is_there_anyway_and_works_too() -> None:
    pieces, _ = scheduled(rooms(0, 4, 4), [pool(job(6, due=3), least=2)])
    assert [at(pieces, h)[0] for h in (0, 1)] == [2, 6]
    assert at(pieces, 2) == (2,)


def test_no_replica_is_started_for_less_than_a_quarter_of_an_hour_of_work() -> None:
    assert at(scheduled(rooms(40), [pool(job(1, due=1))])[0], 0) == (4,)


@given(st.lists(st.integers(0, 12), min_size=3, max_size=8), st.lists(st.tuples(st.floats(0.5, 30), st.integers(1, 8)), max_size=4))
def test_bulk_work_never_takes_more_than_is_left_and_no_more_than_it_is(gpus: list[int], works: list[tuple[float, int]]) -> None:
    pools = [pool(job(hours, due=due), name=str(i)) for i, (hours, due) in enumerate(works)]
    pieces, late = scheduled(rooms(*gpus), pools)
    for piece in pieces:
        left = next(n for i, n in enumerate(gpus) if NOW + i * HOUR <= piece.start < NOW + (i + 1) * HOUR)
        assert sum(piece.replicas) <= left
    for i, (hours, _) in enumerate(works):
        assert hours_of(pieces, i) <= hours + 0.5
    assert scheduled(rooms(*gpus), pools) == (pieces, late)


@given(st.lists(st.integers(0, 12), min_size=4, max_size=8), st.floats(1, 40), st.integers(0, 6))
def test_more_room_makes_no_job_later(gpus: list[int], hours: float, more: int) -> None:
    def left(late: tuple[Late, ...]) -> float:
        return sum(each.left_s for each in late)

    pools = [pool(job(hours, due=3))]
    assert left(scheduled(rooms(*(n + more for n in gpus)), pools)[1]) <= left(scheduled(rooms(*gpus), pools)[1]) + 1


def test_a_daily_deadline_is_a_local_time_also_when_the_clocks_change() -> None:
    bulk = Bulk(work_s=HOUR_S, daily_min=360, zone="Europe/Berlin")
    saturday = datetime(2026, 3, 28, 12, tzinfo=UTC)
    due = [one.deadline for one in bulk.jobs(saturday, saturday + timedelta(days=2))]
    assert due == [
        datetime(2026, 3, 28, 5, tzinfo=UTC),
        datetime(2026, 3, 29, 4, tzinfo=UTC),
        datetime(2026, 3, 30, 4, tzinfo=UTC),
        datetime(2026, 3, 31, 4, tzinfo=UTC),
    ]


def test_an_instant_is_one_job() -> None:
    bulk = Bulk(work_s=HOUR_S, deadline=NOW + 30 * HOUR)
    assert [(one.release, one.deadline) for one in bulk.jobs(NOW, NOW + 72 * HOUR)] == [(NOW + 6 * HOUR, NOW + 30 * HOUR)]
    assert bulk.jobs(NOW, NOW + 5 * HOUR) == ()


def worked(start: float, until: float, replicas: float | None) -> Worked:
    return Worked(start=NOW + start * HOUR, until=NOW + until * HOUR, replicas=replicas)


def test_what_was_worked_is_taken_off_and_what_nobody_saw_is_not() -> None:
    (left,) = left_of([job(10, due=12, release=-12)], [worked(-4, -3, 2), worked(-3, -2, None), worked(-2, 0, 1)], NOW)
    assert (left.work_s, left.whole_s) == (6 * HOUR_S, 10 * HOUR_S)
    assert left_of([job(10, due=12, release=-12)], [worked(-5, 0, 2)], NOW) == ()


def test_yesterdays_rest_is_worked_off_before_todays() -> None:
    yesterday, today = job(10, due=-2, release=-26), job(10, due=22, release=-2)
    found = left_of([yesterday, today], [worked(-6, -2, 2), worked(-2, 0, 2)], NOW)
    assert [one.work_s / HOUR_S for one in found] == [8]
    assert found[0].deadline == today.deadline


def test_what_was_due_before_anybody_looked_is_no_work_of_ours() -> None:
    yesterday, today = job(10, due=-2, release=-26), job(10, due=22, release=-2)
    assert [one.deadline for one in left_of([yesterday, today], [worked(-1, 0, 0)], NOW)] == [today.deadline]
    assert [one.deadline for one in left_of([yesterday, today], [], NOW)] == [today.deadline]


def test_bulk_work_runs_under_the_floors_of_interactive_pools_and_never_at_their_cost() -> None:
    chat = plan_of([200.0] * 12 + [50.0] * 24 + [200.0] * 12)  # 20 replicas, 5 from 09:00 to 11:00, 20
    budget = Budget(name="h100", gpus=24)
    interactive = Contender(name="chat", claim=Claim(budget="h100"), minimum=0, plan=chat)
    free = left_over(budget, [interactive], NOW, NOW + 4 * HOUR)
    assert {room.gpus for room in free} == {4, 19}
    (made,) = trough_plans(budget, free, [Waiting(workload="night", pool=pool(job(30, due=4), name="night/batch"), expiry_s=86_400)], NOW)
    for room in free:
        floor = made.floor_at(room.start)
        assert floor is not None
        assert floor.replicas <= room.gpus
    assert (made.workload, made.pool) == ("night", "batch")
    assert made.replica_hours(NOW, NOW + 4 * HOUR) == pytest.approx(30, abs=0.5)
    assert made.floors[0].reason.detail == (
        "bulk work in what budget h100 leaves: 30 of 30 replica-hours are left to do by 2026-03-02T12:00:00Z"
    )
    assert made.reasons == ()


def test_late_work_is_an_alert_of_its_plan() -> None:
    budget = Budget(name="h100", gpus=2)
    free = left_over(budget, [], NOW, NOW + 4 * HOUR)
    (made,) = trough_plans(budget, free, [Waiting(workload="night", pool=pool(job(30, due=4)), expiry_s=86_400)], NOW)
    assert [reason.code for reason in made.reasons] == [Code.BULK_LATE]
    assert Code.BULK_LATE in ALERTS


def test_live_load_says_nothing_of_a_pool_whose_work_waits_and_that_is_known() -> None:
    made = plan_of([100.0] * 12)
    look = no_load(NOW)
    assert look.known
    assert correct(made, look, Policy()).floor == 10


def test_work_that_may_wait_gives_way_to_a_raise_by_live_load() -> None:
    claim = Claim(budget="h100")
    chat = Standing(claim=claim, minimum=0, share=10, wanted=18)
    batch = Standing(claim=claim, minimum=1, share=14, wanted=14, waits=True)
    assert ceilings(24, [chat, batch]) == (18, 6)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"work_s": 0.0}, "bulk.work_s must be above 0 replica-seconds"),
        ({"daily_min": None}, "bulk needs one deadline"),
        ({"span_s": 100_000.0}, "bulk.span of a daily deadline must be at most a day"),
    ],
)
def test_work_that_contradicts_itself_is_refused(change: dict[str, float | None], told: str) -> None:
    said: dict[str, float | None] = {"work_s": 3_600.0, "daily_min": 360}
    with pytest.raises(ValueError, match=told):
        Bulk(**{**said, **change})  # type: ignore[arg-type]  # one field at a time
