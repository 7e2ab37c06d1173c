"""The command `capacity learn`: what production shows that a replica carries."""

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import FAILED, PARTLY, AnyWorkload, ConfigFile, Json, Now, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobs.capacity.learning import Lesson
    from jobs.cli.session import Session
    from jobs.cli.show import Table

Days = Annotated[int, typer.Option("--days", min=1, max=90, metavar="N", help="How many days are looked at. Default: 14.")]
SloText = Annotated[
    str | None,
    typer.Option(
        "--slo", metavar="LIMITS", help="What P95 must keep, such as ttft_p95=1s,e2e_p95=10s. Default: as the pool's last profile."
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Keep what was identified as the pool's profile, with your name.")]


def learn(
    workload: AnyWorkload = None,
    days: Days = 14,
    slo: SloText = None,
    keep: Keep = False,
    config: ConfigFile = None,
    now: Now = None,
    json: Json = False,
) -> None:
    """What production shows that one replica carries: P95 latency against load a replica, the largest load whose P95 keeps the SLO.

    Hours with replicas that started lately, and hours that are marked, do not count. P95 is asked of the source, with the queries of its
    presets. Where production shows no knee, a sentence says what it shows instead, and nothing is kept.

    Example: forecaster capacity learn chat --slo e2e_p95=10s --keep
    """
    from jobs.capacity.importing import told
    from jobs.capacity.learning import lessons
    from jobs.cli.session import author, session
    from jobs.cli.show import say, show

    with session(config, now) as at:
        limits = told(slo, None, author(None)).slo
        found = tuple(lessons(at.fleet, at.members(workload), limits, days, at.now))
        show(_bins(found), Output.JSON if json else Output.TABLE)
        for each in found:
            say(f"{_name(each)}: {each.told}")
        kept = [_kept(at, each) for each in found] if keep else []
    if not all(kept):
        raise typer.Exit(PARTLY if any(kept) else FAILED)


def _kept(at: "Session", lesson: "Lesson") -> bool:
    """Keep one, and say what comes of it."""
    from jobs.capacity.learning import keep
    from jobs.cli.session import author
    from jobs.cli.show import say

    entry = keep(at.fleet.store, lesson, author(None), at.now)
    said = "nothing was kept" if entry is None else "kept; `forecaster capacity show` says whether floors follow it"
    say(f"{_name(lesson)}: {said}")
    return entry is not None


def _name(lesson: "Lesson") -> str:
    return f"{lesson.workload}/{lesson.pool}" if lesson.pool else lesson.workload


def _bins(found: "Sequence[Lesson]") -> "Table":
    """A row a load step that production drove, and whether P95 kept the SLO there; none where no step was seen."""
    from forecaster.learned import inside
    from jobs.cli.show import Table, amount, percent

    keys = ("workload", "pool", "load_rpm", "buckets", "ttft_p95_s", "e2e_p95_s", "refused_ratio", "inside", "outcome")
    names = ("workload", "pool", "rpm a replica", "buckets", "P95 TTFT s", "P95 E2E s", "refused", "inside", "outcome")
    cells = tuple(
        (
            each.workload,
            each.pool,
            amount(step.point.load_rpm),
            step.buckets,
            amount(step.point.ttft.p95_s),
            amount(step.point.e2e.p95_s),
            percent(step.point.error_ratio),
            None if each.slo is None else inside(step, each.slo),
            each.told,
        )
        for each in found
        for step in each.learned.bins
    )
    empty = "production shows no load step"
    return Table(title="P95 against load a replica", columns=names, keys=keys, rows=cells, empty=empty, named_by=2)
