"""The command `forecaster-watchdog`: it needs no store and no configuration of ours, and no process of ours to be alive."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from forecaster.errors import ConfigRejected, ForecasterError

_DONE, _FAILED, _USAGE, _PARTLY = 0, 1, 2, 3
DEFAULT = ("kubernetes-hpa", "keda-scaledobject")
"""The kinds that are looked through unless others are named."""
_GRACE = "10m"

app = typer.Typer(
    name="forecaster-watchdog",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.command()
def watch(
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            "--namespace", "-n", metavar="NAME", envvar="FORECASTER_WATCHDOG_NAMESPACES", help="A namespace to look into. Default: all."
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            envvar="FORECASTER_WATCHDOG_KINDS",
            help=f"A kind of object; lever:GROUP/VERSION/PLURAL for its levers. Default: {' and '.join(DEFAULT)}, where there are any.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Look at the targets and levers that this configuration names; nothing else of it is read."
        ),
    ] = None,
    grace: Annotated[
        str,
        typer.Option(
            "--grace",
            metavar="DURATION",
            envvar="FORECASTER_WATCHDOG_GRACE",
            help="How long after valid-until; clocks and restarts differ.",
        ),
    ] = _GRACE,
    kubeconfig: Annotated[
        Path | None, typer.Option("--kubeconfig", metavar="FILE", help="Default: $KUBECONFIG, else the pod's own service account.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be put back, and write nothing.")] = False,
) -> None:
    """Put the original value back on every object whose forecaster/valid-until has passed, and every lever whose end has come.

    An object with forecaster/paused=hold is left as it is. Exit codes: 0 done, 1 failed, 2 usage, 3 partly done.

    Example: forecaster-watchdog --namespace inference --kind kubernetes-hpa
    """
    from connectors.kube.connection import KubeConnection
    from jobs.clock import SystemClock
    from jobs.watchdog.configured import configured_levers, configured_targets
    from jobs.watchdog.kinds import kind_of
    from jobs.watchdog.levers import PREFIX, lever_kind, look_at_levers, put_back
    from jobs.watchdog.look import Where, give_back_all, look

    now = SystemClock().now() - _span(grace)
    asked = kind or (() if config is not None else DEFAULT)
    where = Where(
        kinds=tuple(kind_of(each) for each in dict.fromkeys(asked) if not each.startswith(PREFIX)),
        namespaces=tuple(dict.fromkeys(namespace or ())),
        cluster=KubeConnection(kubeconfig=kubeconfig),
        lenient=not kind,
    )
    with_levers = [lever_kind(each) for each in dict.fromkeys(asked) if each.startswith(PREFIX)]
    named = {} if config is None else configured_targets(config)
    named_levers = {} if config is None else configured_levers(config)
    seen, levers = look(where, now), look_at_levers(with_levers, where.namespaces, where.cluster, now)
    outcomes = (
        *seen.failures,
        *give_back_all({**seen.expired, **named}, now, rehearsed=dry_run),
        *levers.failures,
        *put_back({**levers.expired, **named_levers}, now, rehearsed=dry_run),
    )
    for outcome in outcomes:
        typer.echo(f"forecaster-watchdog: {outcome.sentence}" if outcome.failed else outcome.sentence, err=outcome.failed)
    if not outcomes:
        told = f"objects whose valid-until has not passed: {seen.good + levers.good}"
        if config is not None:
            told = f"of {len(named) + len(named_levers)} targets and levers in {config} none is ours any longer than it should be"
        typer.echo(f"nothing to give back; {told}", err=True)
    failed = sum(outcome.failed for outcome in outcomes)
    raise typer.Exit(_DONE if not failed else _FAILED if failed == len(outcomes) else _PARTLY)


def _span(text: str) -> timedelta:
    from jobs.config.scalars import duration_s

    try:
        return timedelta(seconds=duration_s(text))
    except (ValueError, OverflowError) as error:
        raise ConfigRejected(f"--grace: {error}") from error


def run() -> None:
    """The entry point: expected failures become one sentence on stderr and an exit code, never a traceback."""
    try:
        app()
    except ForecasterError as error:
        sys.stderr.write(f"forecaster-watchdog: {error}\n")
        sys.exit(_USAGE if isinstance(error, ConfigRejected) else _FAILED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(_FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
