"""The commands that do the work: both halves of the line, whole or in part, once or for ever."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import FAILED, PARTLY, ConfigFile, Json, Now, Output, OutputFormat
from jobs.cli.turns import alone

if TYPE_CHECKING:
    from jobs.apply import Cycle
    from jobs.cli.session import Session
    from jobs.draft import Draft

DryRun = Annotated[bool, typer.Option("--dry-run", help="Observe for real, write nothing outside of our own store.")]


def fetch(config: ConfigFile = None, now: Now = None) -> None:
    """Bring history up to date in the store.

    Example: forecaster fetch --config forecaster.yaml
    """
    from jobs.cli.bar import progress_bar
    from jobs.cli.session import session
    from jobs.cli.show import say
    from jobs.forecast import fetch_fleet

    with session(config, now) as at, alone(at, "forecast"):
        with progress_bar() as progress:
            drafts = fetch_fleet(at.fleet, at.now, progress)
        for draft in drafts:
            for known in (known for known in draft.known if known.measured_s):
                say(f"{draft.name}: {known.measured_s / 86_400:.1f} days of {known.signal} up to {known.until:%Y-%m-%d %H:%M} UTC")
        _tell_notes(drafts)
        _finish(at, _problems(drafts), sum(not draft.problems for draft in drafts))


def forecast(config: ConfigFile = None, now: Now = None, output: OutputFormat = Output.TABLE, json: Json = False) -> None:
    """Fetch, forecast and plan; print the daily peaks. What cron runs every hour.

    Example: forecaster forecast
    """
    from jobs.cli.bar import progress_bar
    from jobs.cli.session import session
    from jobs.cli.show import show
    from jobs.cli.tables import peaks_table
    from jobs.forecast import forecast_fleet

    with session(config, now) as at, _choosing(at), alone(at, "forecast"):
        with progress_bar() as progress:
            drafts = forecast_fleet(at.fleet, at.now, progress)
        show(peaks_table(drafts), Output.JSON if json else output)
        _forget(at, now)
        _tell_notes(drafts)
        _tell_doubts(drafts)
        _finish(at, [*_problems(drafts), *_waiting(drafts)], _planned(drafts))


def plan(config: ConfigFile = None, now: Now = None, output: OutputFormat = Output.TABLE, json: Json = False) -> None:
    """Plan anew from the newest stored forecasts, say after a change of policy; print the floors.

    Example: forecaster plan --json
    """
    from jobs.cli.session import session
    from jobs.cli.show import show
    from jobs.cli.tables import floors_table
    from jobs.forecast import plan_fleet

    with session(config, now) as at, alone(at, "forecast"):
        drafts = plan_fleet(at.fleet, at.now)
        show(floors_table(drafts, at.now), Output.JSON if json else output)
        _tell_doubts(drafts)
        _finish(at, [*_problems(drafts), *_waiting(drafts)], _planned(drafts))


def apply(config: ConfigFile = None, now: Now = None, dry_run: DryRun = False, json: Json = False) -> None:
    """Observe, correct, guard and write every floor once. What cron runs every minute.

    Example: forecaster apply --dry-run
    """
    from jobs.apply import apply_fleet
    from jobs.cli.session import session
    from jobs.cli.show import show_json
    from jobs.cli.tables import cycle_json

    with session(config, now, rehearse="all" if dry_run else "by-mode") as at, alone(at, "apply"):
        cycles = apply_fleet(at.fleet, at.now)
        if json:
            show_json({"now": at.now, "workloads": [cycle_json(cycle) for cycle in cycles]})
        else:
            _print_sentences(cycles)
        _finish(at, _problems((), cycles), _written(cycles))


def run(config: ConfigFile = None, now: Now = None, dry_run: DryRun = False, json: Json = False) -> None:
    """The whole line once, for cron: fetch, forecast, plan, correct, guard, apply, record.

    Example: forecaster run --json
    """
    from jobs.apply import apply_fleet
    from jobs.cli.bar import progress_bar
    from jobs.cli.session import session
    from jobs.cli.show import show, show_json
    from jobs.cli.tables import peaks_table, run_json
    from jobs.forecast import forecast_fleet

    with session(config, now, rehearse="all" if dry_run else "by-mode") as at, _choosing(at), alone(at, "forecast"), alone(at, "apply"):
        with progress_bar() as progress:
            drafts = forecast_fleet(at.fleet, at.now, progress)
        cycles = apply_fleet(at.fleet, at.now)
        if json:
            show_json(run_json(at.fleet, drafts, cycles, at.now))
        else:
            show(peaks_table(drafts), Output.TABLE)
            _print_sentences(cycles)
        _forget(at, now)
        _tell_notes(drafts)
        _tell_doubts(drafts)
        _finish(at, [*_problems(drafts, cycles), *_waiting(drafts)], min(_planned(drafts), _written(cycles)))


def daemon(config: ConfigFile = None) -> None:
    """Run both halves on schedule, and serve /healthz and /metrics.

    SIGTERM ends it within 10 s; SIGHUP reads the configuration again and keeps the old one when the new one is bad.

    Example: forecaster daemon --config /etc/forecaster/forecaster.yaml
    """
    from jobs.config.reading import config_path
    from jobs.daemon import serve

    serve(config_path(config).absolute())


def _problems(drafts: tuple["Draft", ...], cycles: tuple["Cycle", ...] = ()) -> list[str]:
    from jobs.cli.tables import problems

    return [
        problem if problem.startswith(f"{workload} ") else f"{workload}: {problem}"  # what models say of a series begins with its name
        for workload, found in problems(drafts, cycles).items()
        for problem in found
    ]


def _waiting(drafts: tuple["Draft", ...]) -> list[str]:
    return [
        f"{plan.workload}: {plan.id} awaits approval; `forecaster review {plan.workload}`, then `forecaster approve {plan.workload}`"
        for draft in drafts
        for plan in draft.waiting
    ]


def _tell_notes(drafts: tuple["Draft", ...]) -> None:
    """What a person should know of a history and is no failure, say an older name of which nothing is kept."""
    from jobs.cli.show import say

    for draft in drafts:
        for note in dict.fromkeys(draft.notes):
            say(f"forecaster: {draft.name}: {note}")


def _tell_doubts(drafts: tuple["Draft", ...]) -> None:
    """Plans that do not rest on their forecast, or that their objects will not meet, are made all the same: told, and no failure."""
    from forecaster.coming import UNMET
    from jobs.cli.show import say, together
    from jobs.cli.trusts import distrust

    plans = (plan for draft in drafts for plan in draft.plans)
    coming = ((plan.workload, reason.detail) for plan in plans for reason in plan.reasons if reason.code in UNMET)
    for sentence in dict.fromkeys((*distrust(drafts), *(f"{names}: {told}" for names, told in together(coming)))):
        say(f"forecaster: {sentence}")


def _forget(at: "Session", now: str | None) -> None:
    """Once a day, what is old; not as at an instant that was typed, since a mistyped year would forget all."""
    from jobs.pruning import prune_daily

    if now is None:
        prune_daily(at.fleet, at.now)


@contextmanager
def _choosing(at: "Session") -> Iterator[None]:
    """After a forecast, and after its leases: operating points whose turn it is. Plans stand already; `review` shows what comes."""
    try:
        yield
    except typer.Exit as ended:
        if ended.exit_code == PARTLY:
            _choose(at)
        raise
    _choose(at)


def _choose(at: "Session") -> None:
    from jobs.cli.bar import progress_bar
    from jobs.operating_point import choose_in_turn

    with progress_bar() as progress:
        choose_in_turn(at.fleet, at.now, progress)


def _planned(drafts: tuple["Draft", ...]) -> int:
    return sum(bool(draft.plans) for draft in drafts)


def _written(cycles: tuple["Cycle", ...]) -> int:
    return sum(record.error is None for cycle in cycles for record in cycle.records)


def _print_sentences(cycles: tuple["Cycle", ...]) -> None:
    for cycle in cycles:
        for record in cycle.records:
            typer.echo(record.sentence)


def _finish(at: "Session", problems: list[str], done: int) -> None:
    """End with what went wrong on stderr, and the exit code that says whether anything was done all the same."""
    from jobs.cli.show import say

    for problem in problems:
        say(f"forecaster: {problem}")
    if problems or at.fleet.problems:
        raise typer.Exit(PARTLY if done else FAILED)
    if not at.fleet.members:
        say(f"there is no workload in {at.path} yet, so nothing was done; write one under `workloads`")
