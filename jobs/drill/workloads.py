"""What is rehearsed of a workload as a whole, and of its pools."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from math import ceil

from connectors.targets.recording import Rehearsed
from forecaster.approval import PlanState
from forecaster.envelope import beyond, held, move
from forecaster.workload import Mode, Pool
from jobs.apply import Cycle, apply_fleet
from jobs.breakers import Breakers
from jobs.drill.deciding import unfollowed
from jobs.drill.outcome import Found, Promise, broken, doubtful, idle, kept
from jobs.drill.props import Away, Failing, Standing, mad
from jobs.drill.stage import Stage

_A_SECOND = timedelta(seconds=1)  # plans are named by the second


def played_whole(stage: Stage, cycle: Cycle) -> Iterator[tuple[Promise, Found]]:
    """The rehearsals of the workload and of each pool. cycle: what apply would do now."""
    yield Promise.LIVE, _live(cycle)
    yield Promise.WALL, _wall(stage, cycle)
    for pool in stage.member.workload.pools:
        found = _envelope(stage, pool)
        yield Promise.ENVELOPE, replace(found, evidence=f"pool {pool.name}: {found.evidence}")


def _live(cycle: Cycle) -> Found:
    failed = [failure.sentence for failure in cycle.failures if failure.verb == "fetch"]
    if failed:
        return broken(f"{'; '.join(failed)}: until it is, floors follow a raising plan and are never lowered")
    needs = [(basis.pool, basis.correction.look) for basis in cycle.bases]
    if not any(look.known for _, look in needs):
        return doubtful("no pool has a capacity for a signal that is read: floors are held; `forecaster check` says what is missing")
    told = [f"{pool} needs {look.need}" for pool, look in needs if look.known]
    return kept(f"measured within the last minutes: {', '.join(told)} replicas now")


def _wall(stage: Stage, alone: Cycle) -> Found:
    """The workload between two broken copies of itself, in one run of apply."""
    standing: dict[str, Rehearsed] = {name: Standing(stage.asked[name], seen) for name, seen in stage.free.items()}
    if not standing:
        return idle("none of its targets can be read")
    here = stage.on_stage(standing)
    mute = stage.on_stage({name: Away(name) for name in standing})
    raising = stage.on_stage(standing, source=Failing(failing=mad))
    copies = [replace(each, workload=replace(each.workload, name=f"{each.workload.name} {n}")) for n, each in ((1, mute), (2, raising))]
    fleet = replace(stage.fleet, members=(copies[0], here, copies[1]), breakers=Breakers(), workers=1)
    first, beside, second = apply_fleet(fleet, stage.now)
    if beside.records != alone.records:
        return broken("beside broken copies of itself the workload is decided on otherwise than alone")
    if not (first.problems and second.problems):
        return broken("a broken copy of the workload fails without a word")
    return kept(f"beside two broken copies it is decided on as alone; they are told: {second.problems[0]}")


def _envelope(stage: Stage, pool: Pool) -> Found:
    limit = stage.fleet.envelope.replicas_ratio
    if limit is None:
        return idle("envelope.replicas is not set: no change is too large to follow at once")
    found = stage.in_force(pool.name)
    if found.state is not PlanState.FRESH or found.plan is None:
        return unfollowed(found.state)
    plan, soon, factor = found.plan, stage.now + _A_SECOND, ceil(limit + 2)
    leap = replace(plan, issued_at=soon, floors=tuple(replace(floor, replicas=floor.replicas * factor) for floor in plan.floors))
    (why,) = beyond([move(plan, leap, soon, unanswered=False)], stage.fleet.envelope)
    if not why:
        return idle("the plan asks for nothing over the next day, and more of nothing is no change")
    waiting = stage.played(now=soon, memory=stage.with_plan(pool.name, held(leap, why)))
    as_ever = stage.played(now=soon, memory=stage.memory)
    basis = next(basis for basis in waiting.bases if basis.pool == pool.name)
    now, then = ([r.decision.floor for r in cycle.records if r.decision.pool == pool.name] for cycle in (as_ever, waiting))
    if basis.in_force.waiting is None or basis.in_force.waiting.id != leap.id or now != then:
        return broken(f"a plan {factor} times as large is followed at once")
    who = "" if stage.policy.mode is not Mode.REVIEW else " as every plan does in mode review"
    return kept(f"a plan {factor} times as large waits for `forecaster approve`{who} ({why}); until then the one in force is followed")
