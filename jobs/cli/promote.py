"""The command `promote`: `auto` is earned."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import FAILED, Author, ConfigFile, Now, WorkloadName

if TYPE_CHECKING:
    from forecaster.promotion import Gate
    from jobs.cli.session import Session
    from jobs.cli.show import Table

Force = Annotated[
    str | None, typer.Option("--force", metavar="REASON", help="Promote although gates are missing; the reason is kept with your name.")
]
Undo = Annotated[str | None, typer.Option("--undo", metavar="REASON", help="Take the promotion back: the configured mode holds again.")]
HpaTarget = Annotated[
    float | None,
    typer.Option("--hpa-target", metavar="RATIO", help="Utilisation that its autoscaler aims at. Default: as its HPA says, else 0.7."),
]


def promote(
    workload: WorkloadName,
    force: Force = None,
    undo: Undo = None,
    hpa_target: HpaTarget = None,
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Let a workload write its floors by itself, once it has earned it; refuses, naming what is missing.

    Enough observed days, coverage in band, a measured lead time, capacity confirmed by production within 15 %, and a replay no worse
    than the autoscaler alone. From the next apply on it runs in mode auto, whatever higher or equal mode is configured.

    Example: forecaster promote chat
    """
    from forecaster.errors import ConfigRejected
    from jobs.cli.session import session

    if force is not None and undo is not None:
        raise ConfigRejected("--force and --undo contradict each other; give one of them")
    with session(config, now) as at:
        if undo is not None:
            _take_back(at, workload, undo, by)
        else:
            _promote(at, workload, force, hpa_target, by)


def _promote(at: "Session", workload: str, force: str | None, hpa_target: float | None, by: str | None) -> None:
    from forecaster.decision import Ruling, RulingKind
    from jobs.aims import aim_of
    from jobs.cli.options import Output
    from jobs.cli.promotions import promotion_words
    from jobs.cli.savings import target_ratio
    from jobs.cli.session import author, said
    from jobs.cli.show import say, show
    from jobs.promotion import gates, promote

    member, who = at.member(workload), author(by)
    why = "earned" if force is None else said("--force", force)
    mode = member.configured or member.workload.policy.mode
    if member.promotion is not None:
        say(f"{workload} is in auto already, {promotion_words(member.promotion)}")
        return
    found = gates(at.fleet, member, at.now, aim_of(member, None if hpa_target is None else target_ratio(hpa_target)))
    show(_table(workload, found), Output.TABLE)
    missing = [gate.name for gate in found if not gate.passed]
    if missing and force is None:
        say(f"{workload} is not promoted, missing: {', '.join(missing)}; `--force REASON` promotes it all the same")
        raise typer.Exit(FAILED)
    ruling = Ruling(at=at.now, workload=workload, kind=RulingKind.PROMOTE, author=who, reason=why, mode=mode)
    promote(at.fleet.store, member, found, ruling)
    say(f"{workload}: auto from the next apply on, {'earned' if not missing else 'forced; missing: ' + ', '.join(missing)}")


def _take_back(at: "Session", workload: str, undo: str, by: str | None) -> None:
    from forecaster.decision import Ruling, RulingKind
    from jobs.cli.session import author, said
    from jobs.cli.show import say

    member, why = at.member(workload), said("--undo", undo)
    at.fleet.store.append_ruling(Ruling(at=at.now, workload=workload, kind=RulingKind.DEMOTE, author=author(by), reason=why))
    mode = member.configured or member.workload.policy.mode
    if member.promotion is None:
        say(f"{workload}: no promotion was in force; mode {mode} stays, as configured")
    else:
        say(f"{workload}: the promotion is taken back, mode {mode} from the next apply on, as configured")


def _table(workload: str, found: Sequence["Gate"]) -> "Table":
    from jobs.cli.show import Table

    rows = tuple((gate.name, "passed" if gate.passed else "missing", gate.found, gate.remedy or None) for gate in found)
    return Table(title=f"What {workload} has earned", columns=("gate", "state", "found", "remedy"), rows=rows, named_by=2)
