"""What was found best, for people who would rather set it up themselves: printed, never applied."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import ConfigFile, Now

if TYPE_CHECKING:
    from forecaster.errors import NothingKept
    from jobs.export.keda import LoadTrigger, Scaled
    from jobs.export.kept import KeptSummary
    from jobs.proof.cron import Timetable

Source = Annotated[Path | None, typer.Option("--from", metavar="DIR", help="What `backtest --out DIR` wrote: its best cron in hindsight.")]
Planned = Annotated[
    str | None,
    typer.Argument(metavar="WORKLOAD", help="Instead of --from: a workload (or WORKLOAD/POOL), for its plan in force.", show_default=False),
]
Tuned = Annotated[
    str | None,
    typer.Argument(metavar="WORKLOAD", help="Instead of --from: a workload (or WORKLOAD/POOL), for what `tune` chose.", show_default=False),
]
Least = Annotated[
    int | None,
    typer.Option("--min", metavar="REPLICAS", min=1, help="The floor outside of all windows. Default: what the summary or policy says."),
]


def keda_cron(
    workload: Planned = None,
    source: Source = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAMESPACE/NAME", help="The Deployment to scale. Default: what the HPA of the summary scales."),
    ] = None,
    minimum: Least = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Print a KEDA ScaledObject (YAML) with one cron trigger a window, and the load as a trigger where its query is known.

    Example: forecaster export keda-cron --from proof
    """
    from jobs.export.keda import scaled_object

    found = _table(workload, source, minimum, config, now)
    scaled, load = _scaled(found.summary, name), _load(found.summary, found.timetable)
    if load is None and not found.timetable.windows:
        raise _nothing(found.timetable)
    head = [found.said, "KEDA makes an HPA of its own: remove yours first.", *([] if load is not None else [_beside(found.timetable)])]
    _print_yaml(head, scaled_object(scaled, found.timetable, load))


def asg_scheduled(
    group: Annotated[str, typer.Option("--group", metavar="NAME", help="The Auto Scaling group.")],
    workload: Planned = None,
    source: Source = None,
    per_node: Annotated[int, typer.Option("--replicas-per-node", metavar="N", min=1, help="Replicas that fit on one node.")] = 1,
    minimum: Least = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Print scheduled actions of an EC2 Auto Scaling group (JSON): one a change of its minimum, the way back included.

    The output is the input of `aws autoscaling batch-put-scheduled-update-group-action --cli-input-json`.

    Example: forecaster export asg-scheduled --from proof --group gpu-nodes --min 2
    """
    from forecaster.errors import ConfigRejected
    from jobs.cli.show import say, show_json
    from jobs.export.asg import scheduled_actions

    found = _table(workload, source, minimum, config, now)
    if not group.strip():
        raise ConfigRejected("--group is blank; name the Auto Scaling group")
    actions = scheduled_actions(group, found.timetable, per_node, since=found.since)
    if not actions["ScheduledUpdateGroupActions"]:
        raise _nothing(found.timetable, per_node)
    say(found.said)
    show_json(actions)


def hpa(
    workload: Tuned = None,
    source: Annotated[Path | None, typer.Option("--from", metavar="DIR", help="What `backtest --hpa ... --out DIR` wrote.")] = None,
    best: Annotated[
        bool, typer.Option("--best", help="With --from: the best target without floors, in hindsight, instead of the one above ours.")
    ] = False,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Print the patch (YAML) that sets the recommended target of your HPA. Nothing else of it is touched, and nothing is applied.

    With a WORKLOAD: what `tune` chose, for its HPA as it is now.

    Example: forecaster export hpa --from proof
    """
    from forecaster.errors import ConfigRejected
    from jobs.export.hpa import target_patch
    from jobs.export.kept import read_summary

    if (workload is None) == (source is None) or (best and source is None):
        raise ConfigRejected("name one: a WORKLOAD, whose kept target is printed, or --from DIR (with --best or without)")
    if workload is not None:
        _of_workload(workload, config, now)
        return
    summary = read_summary(Path(source or ""))
    target = summary.policies["hpa_best"].hpa_target_utilisation if best else summary.operating_point.hpa_target_utilisation
    if target is None:
        raise ConfigRejected(f"{source} has no best plain HPA; run the backtest again")
    if summary.hpa is None:
        remedy = "run backtest with --prometheus and --hpa for a patch of it"
        raise ConfigRejected(f"{source} knows no HPA, only that {target:.0%} of what a replica carries is the target to set; {remedy}")
    where = f"kubectl patch hpa {summary.hpa.name} -n {summary.hpa.namespace} --patch-file FILE"
    why = "the best in hindsight without floors" if best else "for above the floors of Forecaster; without these it is too hot"
    _print_yaml([f"{where} --type merge", f"{target:.0%} of what a replica carries: {why}."], target_patch(summary.hpa, target))


def _of_workload(named: str, config: Path | None, now: str | None) -> None:
    """The target that is kept, as a patch of the HPA as it is now. Raises NothingKept, and ConfigRejected where no patch can set it."""
    from forecaster.errors import ConfigRejected, NothingKept
    from jobs.aims import aim_of_pool
    from jobs.cli.session import session
    from jobs.export.hpa import dial_patch
    from jobs.levels import with_points

    name, _, pool = named.partition("/")
    with session(config, now) as at:
        (member,) = with_points(at.fleet.store, at.members(name), at.now)
        pools = {one.name: one for one in member.workload.pools}
        chosen = pools.get(pool) if pool or len(pools) > 1 else next(iter(pools.values()))
        if chosen is None:
            raise ConfigRejected(f"name one pool of {name}: {' or '.join(f'{name}/{one}' for one in pools)}")
        point = member.points.get(chosen.name)
        if point is None:
            raise NothingKept(f"{name}: no target is recommended yet; run `forecaster tune {name}`, it says what is missing")
        dial = aim_of_pool(member, chosen).dial
        if dial is None or dial.hpa.keda is not None:
            raise ConfigRejected(f"{name}: no patch of a HPA sets its target: {point.remedy}")
        where = f"kubectl patch hpa {dial.hpa.name} -n {dial.hpa.namespace} --type merge --patch-file FILE"
        _print_yaml([where, f"{point.told}."], dial_patch(dial, point.pair.target))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A timetable, a sentence on where it came from, and that: a summary, or a plan that speaks of the hours from `since` on."""

    timetable: "Timetable"
    said: str
    summary: "KeptSummary | None" = None
    since: datetime | None = None


def _table(workload: str | None, source: Path | None, minimum: int | None, config: Path | None, now: str | None) -> _Table:
    from forecaster.errors import ConfigRejected
    from forecaster.units import spell_number
    from jobs.export.kept import read_summary

    if workload is not None and source is None:
        return _planned(workload, minimum, config, now)
    if source is None or workload is not None:
        raise ConfigRejected("name one: a WORKLOAD, whose plan is printed, or --from DIR, as in `backtest --out DIR`")
    summary = read_summary(source)
    table = summary.keda_cron.timetable()
    sized = "a replica serves" if summary.mu_known else "nobody said what a replica serves, it was taken to be"
    said = f"The best cron in hindsight from {summary.first_origin} on; {sized} {spell_number(summary.mu)} requests/min."
    return _Table(timetable=table.above(minimum or max(table.minimum, _least(summary))), said=said, summary=summary)


def _nothing(table: "Timetable", per_node: int = 1) -> "NothingKept":
    """Where every hour asks for the same: neither KEDA nor AWS takes a timetable of no change."""
    from forecaster.errors import NothingKept

    nodes = -(-table.minimum // per_node)
    least = f"{table.minimum} replicas" if per_node == 1 else f"{nodes} of the nodes with {per_node} replicas each"
    return NothingKept(f"nothing to schedule: no hour asks for more than {least}; give a smaller --min, or set {nodes} once")


def _least(summary: "KeptSummary") -> int:
    return 1 if summary.hpa is None else max(1, summary.hpa.min_replicas)


def _planned(workload: str, minimum: int | None, config: Path | None, now: str | None) -> "_Table":
    from forecaster.errors import ConfigRejected, NothingKept
    from forecaster.units import HOUR_S, ceil_to, iso
    from jobs.cli.session import session
    from jobs.export.week import planned
    from jobs.standing import rulings_of, standing

    name, _, pool = workload.partition("/")
    with session(config, now) as at:
        member = at.member(name)
        pools = [one.name for one in member.workload.pools]
        if (pool or len(pools) > 1) and pool not in pools:
            raise ConfigRejected(f"name one pool of {name}: {' or '.join(f'{name}/{one}' for one in pools)}")
        chosen, store = pool or pools[0], at.fleet.store
        plan = standing(store, member.workload, chosen, rulings_of(store, name, at.now), at.now)[0].plan
        if plan is None:
            raise NothingKept(f"{name}: no plan is in force at {iso(at.now)}; run `forecaster run` first")
        since = ceil_to(at.now, HOUR_S)
        said = f"The plan of {iso(plan.issued_at)} for {name}: it ends at {iso(plan.floors[-1].until)}, so print it again before that."
        policy = member.workload.policy_of(member.workload.pools[pools.index(chosen)])
        return _Table(timetable=planned(plan, minimum or policy.minimum or 1, since), said=said, since=since)


def _scaled(summary: "KeptSummary | None", name: str | None) -> "Scaled":
    from forecaster.errors import ConfigRejected
    from jobs.export.keda import Scaled

    hpa = None if summary is None else summary.hpa
    if name is not None:
        namespace, _, scales = name.partition("/")
        if not namespace or not scales or "/" in scales:
            raise ConfigRejected(f"--name {name!r} is no NAMESPACE/NAME, such as inference/chat")
        return Scaled(namespace=namespace, name=scales, kind="Deployment", scales=scales, maximum=None if hpa is None else hpa.max_replicas)
    if hpa is None:
        raise ConfigRejected("nobody knows what is to be scaled: name the Deployment with --name NAMESPACE/NAME")
    return Scaled(
        namespace=hpa.namespace, name=hpa.keda or hpa.name, kind=hpa.scales.kind, scales=hpa.scales.name, maximum=hpa.max_replicas
    )


def _load(summary: "KeptSummary | None", table: "Timetable") -> "LoadTrigger | None":
    from forecaster.units import MINUTE_S
    from jobs.export.keda import LoadTrigger

    if summary is None or summary.load is None or table.target is None:
        return None
    of_query = 1 / MINUTE_S if summary.load.unit == "per_second" else 1.0
    return LoadTrigger(url=summary.load.prometheus, query=summary.load.query, threshold=summary.mu * table.target * of_query)


def _beside(table: "Timetable") -> str:
    target = "" if table.target is None else f", aiming at {table.target:.0%} of what a replica carries"
    return f"Add the trigger of your load{target}: crons alone do not follow it."


def _print_yaml(head: list[str], manifest: dict[str, object]) -> None:
    import yaml

    for line in head:
        typer.echo(f"# {line}")
    typer.echo(yaml.safe_dump(manifest, sort_keys=False, width=120), nl=False)
