"""The commands for people: review, status, explain, history."""

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat, WorkloadName

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from jobs.fleet import Member

TargetName = Annotated[str | None, typer.Option("--target", metavar="NAME", help="One target. Default: all of the workload's.")]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="INSTANT|DURATION", help="Where the span begins, such as 7d. Default: 1d, with --load 2w."),
]
Load = Annotated[bool, typer.Option("--load", help="What was measured, a row a day, instead of what was decided.")]


def review(
    workload: AnyWorkload = None, config: ConfigFile = None, now: Now = None, output: OutputFormat = Output.TABLE, json: Json = False
) -> None:
    """Tomorrow's peaks and floors against the past, yesterday's forecast against what came, and what needs a decision.

    With a WORKLOAD: its page, with what each forecast is made of and why, and charts of the next 24 hours and of yesterday.

    Example: forecaster review chat
    """
    import shutil

    from jobs.cli.review import print_attention, print_page, review_table
    from jobs.cli.review_json import reviews_json
    from jobs.cli.session import session
    from jobs.cli.show import show, show_json
    from jobs.events import known_events
    from jobs.levels import with_points
    from jobs.views.review import review_members

    with session(config, now) as at:
        members = with_points(at.fleet.store, at.members(workload), at.now)
        reviews = review_members(at.fleet.store, members, at.now, known_events(at.fleet, at.now))
    if json or output is Output.JSON:
        show_json(reviews_json(reviews, at.now, ahead=workload is not None))
    elif output is Output.TABLE and workload is not None:
        print_page(reviews[0], shutil.get_terminal_size().columns, _options(config))
    else:
        show(review_table(reviews), output)
        if output is Output.TABLE:
            print_attention(reviews, _options(config))


def status(config: ConfigFile = None, now: Now = None, output: OutputFormat = Output.TABLE, json: Json = False) -> None:
    """Mode, floor, plan, orders and last error of every target, from the store alone: it answers when clusters are down.

    On top stands which half of the line, `forecast` or `apply`, no longer runs at all, since when, and what to do; below, levers that
    are moved and those that cannot be put back.

    Example: forecaster status --json
    """
    from jobs.cli.lever_status import levers_json, levers_table, moved_by_auto
    from jobs.cli.session import session
    from jobs.cli.show import say, show, show_json
    from jobs.cli.status import print_decisions, print_points, status_json, status_table, warn_of, without_password
    from jobs.levels import with_points
    from jobs.views.status import status_of
    from jobs.views.stopped import stopped

    with session(config, now) as at:
        members = with_points(at.fleet.store, at.fleet.members, at.now)
        levers = moved_by_auto(at.fleet.store)
        found = status_of(at.fleet.store, members, at.now, beside=bool(levers.held or levers.left_alone))
        store = without_password(at.store_url)
        silent = stopped(at.fleet.store, found, apply_every_s=at.config.apply.every, forecast_every_s=at.config.forecast.every)
    if json or output is Output.JSON:
        show_json(status_json(found, store, silent) | {"levers": levers_json(levers)})
        return
    warn_of(silent, beside_data=output is not Output.TABLE)
    show(status_table(found, store), output)
    if output is Output.TABLE:
        print_decisions(found)
        print_points(found)
        if levers.held:
            show(levers_table(levers), output)
        if levers.left_alone:
            say(levers.left_alone)


def explain(
    workload: WorkloadName,
    target: TargetName = None,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """How the floor in force at `--now`, or at any instant in the past, came about: forecast, level, capacity, lead time, guards.

    Example: forecaster explain chat --now 2024-05-18T08:00:00Z
    """
    from jobs.cli.explain import explained_json, print_explained, steps_table
    from jobs.cli.session import session
    from jobs.cli.show import show, show_json
    from jobs.events import known_events
    from jobs.levels import with_points
    from jobs.views.explained import explained
    from jobs.views.kept import Kept

    with session(config, now) as at:
        (member,), instant = with_points(at.fleet.store, at.members(workload), at.now), at.now
        kept = Kept(store=at.fleet.store, member=member, now=instant, events=known_events(at.fleet, instant))
        found = explained(kept, _targets(member, target))
    if json or output is Output.JSON:
        show_json(explained_json(found, workload, instant))
    elif output is Output.TABLE:
        print_explained(found, member.workload.calendar, instant)
    else:
        show(steps_table(found), output)


def history(
    workload: WorkloadName,
    since: Since = None,
    load: Load = False,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """The decisions of a span, or with --load the measured load: daily mean, peak and when, and gaps.

    `show` need not be written: `forecaster history chat` is the same.

    Example: forecaster history show chat --load --since 4w
    """
    from jobs.cli.history import decisions_table, load_table
    from jobs.cli.session import session
    from jobs.cli.show import show
    from jobs.views import past
    from jobs.views.kept import Kept

    output = Output.JSON if json else output
    with session(config, now) as at:
        kept = Kept(store=at.fleet.store, member=at.member(workload), now=at.now)
        calendar, start = kept.workload.calendar, _start(since or ("2w" if load else "1d"), at.now)
        table = load_table(past.load(kept, start), calendar) if load else decisions_table(past.decisions(kept, start), calendar, output)
    show(table, output)


def _targets(member: "Member", target: str | None) -> tuple[str, ...]:
    """The target of that name, or all. Raises ConfigRejected naming those there are."""
    from forecaster.errors import ConfigRejected

    names = tuple(name for pool in member.workload.pools for name in pool.targets)
    if target is None:
        return names
    if target not in names:
        raise ConfigRejected(f"{member.workload.name} has no target {target!r}; there is: {', '.join(names)}")
    return (target,)


def _start(since: str, now: "datetime") -> "datetime":
    """The start of a span: an instant, or so long before now. Raises ConfigRejected when it lies ahead."""
    from datetime import timedelta

    from forecaster.errors import ConfigRejected
    from jobs.cli.session import instant
    from jobs.config.scalars import duration_s

    try:
        start = now - timedelta(seconds=duration_s(since))
    except (ValueError, OverflowError):
        start = instant(since)
    if start >= now:
        raise ConfigRejected(f"--since {since} is not in the past; name an instant before now, or a duration such as 7d")
    return start


def _options(config: "Path | None") -> str:
    """What a command that we suggest needs so that it speaks of the same configuration."""
    import shlex

    return f" --config {shlex.quote(str(config))}" if config is not None else ""
