"""The commands that one meets first, and those that look after the store: init, check, migrate, prune."""

from pathlib import Path
from typing import Annotated

import typer

from forecaster.errors import ConfigRejected
from jobs.cli.options import DONE, FAILED, USAGE, ConfigFile, Json, Now, Output, OutputFormat

Schema = Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the configuration instead, for editors.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
Discover = Annotated[
    bool, typer.Option("--discover", help="Look at what a Prometheus has, and print workloads to begin with as YAML instead.")
]
Drill = Annotated[
    bool, typer.Option("--drill", help="Rehearse the promises of docs/safety.md on your own objects, and say which are kept instead.")
]
About = Annotated[
    str | None,
    typer.Argument(
        metavar="WORKLOAD|URL",
        help="With --drill: one workload. Default: all. With --discover: the Prometheus. Default: the sources of the configuration.",
        show_default=False,
    ),
]
NewFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")]


def init(file: NewFile = Path("forecaster.yaml"), schema: Schema = False, force: Force = False) -> None:
    """Write a commented configuration to begin with: a Prometheus, a HPA, mode observe.

    Example: forecaster init forecaster.yaml
    """
    from jobs.cli.show import say, show_json

    if schema:
        from jobs.config.schema import config_schema

        show_json(config_schema())
        return
    from jobs.starter import write_starter

    write_starter(file, force=force)
    say(f"{file} is written; fill in the lines marked <--, then run `forecaster check --config {file}`")


def check(
    about: About = None,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
    discover: Discover = False,
    drill: Drill = False,
) -> None:
    """Say connector by connector what works and what does not; nothing is written anywhere.

    With --drill: rehearse the promises on your own objects, in observe; exit code 3 where one is not kept.
    With --discover: recognise engines and gateways by their metrics, and propose workloads for them, as YAML or with --json.

    Example: forecaster check --drill
    """
    if discover and drill:
        raise ConfigRejected("--drill and --discover are two things: ask for one of them")
    if discover:
        _discover(config, now, about, Output.JSON if json else output)
        return
    if drill:
        from jobs.cli.drill import show_drill

        raise typer.Exit(show_drill(config, now, about, Output.JSON if json else output))
    if about is not None:
        raise ConfigRejected("what is named after check is for --drill (a workload) or --discover (a Prometheus): add one of them")
    from jobs.checking.check import check_all
    from jobs.checking.finding import State
    from jobs.cli.session import instant
    from jobs.cli.show import Table, show
    from jobs.clock import SystemClock
    from jobs.config.document import LogSection
    from jobs.config.reading import config_path
    from jobs.telemetry import start_logging

    start_logging(LogSection(level="error"))  # that something is tried again is no finding
    findings = check_all(config_path(config).absolute(), SystemClock().now() if now is None else instant(now))
    rows = tuple((finding.what, finding.where, str(finding.state), finding.sentence) for finding in findings)
    columns = ("what", "where", "state", "sentence")
    show(Table(title="Check", columns=columns, rows=rows, named_by=3), Output.JSON if json else output)
    if any(finding.is_unusable_configuration for finding in findings):
        raise typer.Exit(USAGE)
    raise typer.Exit(FAILED if any(finding.state is State.FAILED for finding in findings) else DONE)


def _discover(config: Path | None, now: str | None, prometheus: str | None, output: Output) -> None:
    from jobs.cli.session import instant
    from jobs.cli.show import say, show_json
    from jobs.clock import SystemClock
    from jobs.config.document import LogSection
    from jobs.discovery import look_at, servers
    from jobs.proposal import proposal, proposal_json, told
    from jobs.telemetry import start_logging

    if output in {Output.CSV, Output.MARKDOWN}:
        raise ConfigRejected(f"--discover prints YAML, or JSON with --json; there is no {output} of it")
    start_logging(LogSection(level="error"))
    asked = servers(config, prometheus)
    services = look_at(asked, SystemClock().now() if now is None else instant(now))
    text = proposal(asked, services)
    where = " and ".join(server.config.url for server in asked)
    if output is Output.JSON:
        show_json(proposal_json(asked, services))
    if not text:
        seen = f"only {told(services)}" if services else "none of the metrics that presets know (docs/presets.md)"
        say(f"{where} had {seen} in the last day: no engine and no gateway to propose a workload for; check that they are scraped")
        raise typer.Exit(FAILED)
    say(f"{where} has {told(services)}; fill in the lines marked <--, then run `forecaster check`")
    if output is Output.TABLE:
        typer.echo(text, nl=False)


def migrate(config: ConfigFile = None) -> None:
    """Bring the store to the schema of this release; done again, it does nothing.

    Example: forecaster migrate
    """
    from connectors.stores.migrate import migrate as migrate_store
    from jobs.config.reading import config_path, read_config
    from jobs.wiring import store_url

    path = config_path(config).absolute()
    typer.echo(migrate_store(store_url(read_config(path), path.parent)))


def prune(config: ConfigFile = None) -> None:
    """Forget now what is older than `keep` says; `forecast`, `run` and the daemon do it once a day.

    Example: forecaster prune
    """
    from jobs.cli.session import session
    from jobs.pruning import prune as prune_store
    from jobs.pruning import sentence

    with session(config) as at:
        typer.echo(sentence(prune_store(at.fleet, at.now)))
