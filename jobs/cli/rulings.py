"""A person's word: approve, reject, override, pause, resume, release. Each is a row with author, reason and end."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.cli.options import FAILED, PARTLY, AnyWorkload, Author, ConfigFile, Now, Reason, Until, WorkloadName

if TYPE_CHECKING:
    from forecaster.decision import RulingKind
    from jobs.cli.session import Session

PlanId = Annotated[str | None, typer.Option("--plan", metavar="ID", help="The plan. Default: the newest one that awaits approval.")]


def approve(
    workload: WorkloadName, plan: PlanId = None, reason: Reason = "approved", by: Author = None, config: ConfigFile = None, now: Now = None
) -> None:
    """Approve the plan that waits, until it ends; close newer plans inherit the approval.

    Example: forecaster approve chat -m "looks like last week"
    """
    from forecaster.decision import RulingKind

    _judge(workload, plan, RulingKind.APPROVE, reason, by, config, now)


def reject(
    workload: WorkloadName, plan: PlanId = None, reason: Reason = "rejected", by: Author = None, config: ConfigFile = None, now: Now = None
) -> None:
    """Reject a plan: it is never followed, in any mode.

    Example: forecaster reject chat -m "the launch was moved"
    """
    from forecaster.decision import RulingKind

    _judge(workload, plan, RulingKind.REJECT, reason, by, config, now)


def override_set(
    workload: WorkloadName,
    replicas: Annotated[int, typer.Argument(metavar="REPLICAS", min=0, help="The floor in replicas.")],
    reason: Reason,
    until: Until = None,
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Set a workload's floor by hand; live load may still raise it, and bounds still hold.

    Example: forecaster override set chat 24 --until 6h -m "launch of the new app"
    """
    from forecaster.decision import RulingKind
    from jobs.cli.session import session
    from jobs.cli.session import until as end_of
    from jobs.cli.show import say

    with session(config, now) as at:
        _give(at, workload, RulingKind.OVERRIDE, reason, by, until=end_of(until, at.now), replicas=replicas)
        say(f"{workload}: floor {replicas} from the next apply on{_until(end_of(until, at.now))}")


def override_clear(
    workload: WorkloadName, reason: Reason = "cleared", by: Author = None, config: ConfigFile = None, now: Now = None
) -> None:
    """Clear the override of a workload; the plan rules again.

    Example: forecaster override clear chat
    """
    from forecaster.decision import RulingKind
    from jobs.cli.session import session
    from jobs.cli.show import say

    with session(config, now) as at:
        _give(at, workload, RulingKind.CLEAR, reason, by)
        say(f"{workload}: the override is cleared, the plan rules from the next apply on")


def pause(
    workload: WorkloadName, reason: Reason, until: Until = None, by: Author = None, config: ConfigFile = None, now: Now = None
) -> None:
    """Leave a workload's objects exactly as they are.

    The same from the object's side, without us: annotate it with forecaster/paused=hold.

    Example: forecaster pause chat --until 2h -m "incident 4711"
    """
    from forecaster.decision import Paused, RulingKind
    from jobs.cli.session import session
    from jobs.cli.session import until as end_of
    from jobs.cli.show import say

    with session(config, now) as at:
        _give(at, workload, RulingKind.PAUSE, reason, by, until=end_of(until, at.now), paused=Paused.HOLD)
        say(f"{workload}: paused{_until(end_of(until, at.now))}; `forecaster resume {workload}` goes on")


def resume(workload: WorkloadName, reason: Reason = "resumed", by: Author = None, config: ConfigFile = None, now: Now = None) -> None:
    """Take a pause or a release back; the next apply writes the plan's floor.

    Example: forecaster resume chat
    """
    from forecaster.decision import RulingKind
    from jobs.cli.session import session
    from jobs.cli.show import say

    with session(config, now) as at:
        _give(at, workload, RulingKind.RESUME, reason, by)
        say(f"{workload}: resumed")


def release(
    workload: AnyWorkload = None,
    expired: Annotated[bool, typer.Option("--expired", help="Only objects whose valid-until has passed: the watchdog, for cron.")] = False,
    reason: Reason = "released",
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Put the original values back and stay away until `forecaster resume`; works in every mode.

    Example: forecaster release chat -m "handing back to the plain HPA"
    """
    from jobs.cli.session import author, said, session
    from jobs.cli.show import say
    from jobs.cli.turns import in_turn
    from jobs.release import release_members

    with session(config, now, rehearse="none") as at:
        who, why = author(by), said("--reason", reason)
        with in_turn(at, "apply"):  # a run at work could raise a floor once more behind us
            released = release_members(at.fleet.store, at.members(workload), at.now, who, why, expired_only=expired)
        for outcome in released:
            if outcome.failed:
                say(f"forecaster: {outcome.sentence}")
            else:
                typer.echo(outcome.sentence)
        if not released:
            say("nothing to release: no object has outlived its valid-until")
        failed = sum(outcome.failed for outcome in released)
        if failed:
            raise typer.Exit(FAILED if failed == len(released) else PARTLY)


def _judge(
    workload: str, plan_id: str | None, kind: "RulingKind", reason: str, by: str | None, config: Path | None, now: str | None
) -> None:
    """Approve or reject the plan of that id, or those that wait."""
    from jobs.cli.session import session
    from jobs.cli.show import say
    from jobs.standing import judged_plans

    with session(config, now) as at:
        for plan in judged_plans(at.fleet.store, at.member(workload).workload, plan_id, at.now):
            end = plan.valid_until if kind == "approve" else None
            _give(at, workload, kind, reason, by, until=end, plan_id=plan.id)
            say(f"{plan.id}: {kind.value}d" if kind == "approve" else f"{plan.id}: rejected; it is never followed")


def _give(at: "Session", workload: str, kind: "RulingKind", reason: str, by: str | None, **details: Any) -> None:  # noqa: ANN401 - the fields of Ruling
    from forecaster.decision import Ruling
    from jobs.cli.session import author, said

    at.member(workload)
    why = said("--reason", reason)
    at.fleet.store.append_ruling(Ruling(at=at.now, workload=workload, kind=kind, author=author(by), reason=why, **details))


def _until(end: datetime | None) -> str:
    return f" until {end:%Y-%m-%d %H:%M} UTC" if end is not None else ""
