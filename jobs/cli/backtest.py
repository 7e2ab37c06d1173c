"""The promise to a sceptic: what would have happened on the user's own history."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import Json

if TYPE_CHECKING:
    from forecaster.backtest.run import Backtest
    from forecaster.backtest.settings import Settings
    from forecaster.workload import Policy
    from jobs.backtest import Columns
    from jobs.cli.show import Table
    from jobs.config.document import Config
    from jobs.config.workloads import WorkloadSection

_FEW_DAYS = 7  # no weekday seen twice, and most of the week not even once before the level is chosen
_WORDS = {
    "static": "the peak of the last 14 days, all the time",
    "hpa_0.7": "HPA at 70 %",
    "hpa_best": "HPA at its best target in hindsight",
    "keda_cron_best": "HPA and the best KEDA cron in hindsight",
    "last_week": "HPA at 80 % over last week's load",
    "aws_like": "HPA at 70 % over an hourly forecast, as AWS does",
    "ours_hpa_0.7": "our floors, HPA at 70 %",
    "ours": "our floors, HPA at the recommended target",
}


def backtest(
    csv: Annotated[Path, typer.Option("--csv", metavar="TRACE", help="Counts with their timestamps; .csv or .csv.gz.")],
    column: Annotated[
        str | None,
        typer.Option(
            "--column", metavar="NAME", help="Its column of counts. Default: the one of the configuration's rpm query, else value."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="Take model, lead time and policy from a workload there.")
    ] = None,
    workload: Annotated[str | None, typer.Option("--workload", metavar="NAME", help="Which one. Default: the first.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write forecasts.csv, peaks.csv, floors.csv and summary.json there.")
    ] = None,
    json: Json = False,
) -> None:
    """Replay a trace minute by minute under our floors and under what one would do without us.

    Nothing after a forecast's origin is looked at. One replica is sized so that the busiest minutes before the first origin need 30;
    a new one takes 10 minutes, or the lead time of the configuration.

    Example: forecaster backtest --csv load.csv.gz --out backtest
    """
    from forecaster.backtest.settings import Settings
    from jobs.backtest import CONTRACT_POLICY, Columns, backtest_csv, summary, write
    from jobs.cli.bar import progress_bar
    from jobs.cli.options import Output
    from jobs.cli.show import show, show_json

    policy, settings, columns = (CONTRACT_POLICY, Settings(), Columns()) if config is None else _configured(config, workload)
    if column is not None:
        columns = replace(columns, value=column)
    with progress_bar() as progress:
        found = backtest_csv(csv, policy, settings, progress, columns=columns)
    if out is not None:
        write(found, out)
    if json:
        show_json(summary(found))
        return
    show(_policies(found), Output.TABLE)
    for line in _sentences(found):
        typer.echo(line)


def _configured(config: Path, name: str | None) -> tuple["Policy", "Settings", "Columns"]:
    """Policy, settings and columns of a workload in a configuration. Raises ConfigRejected when it is not there."""
    from forecaster.backtest.settings import Settings
    from forecaster.errors import ConfigRejected
    from jobs.config.reading import config_path, read_config

    path = config_path(config)
    document = read_config(path)
    chosen = next((w for w in document.workloads if name is None or w.name == name), None)
    if chosen is None:
        raise ConfigRejected(f"{path}: there is no workload {name or 'at all'}; name one with --workload, or leave --config out")
    core = chosen.to_core()
    settings = Settings(
        model=document.forecast.model,
        fallback=document.forecast.fallback,
        lead_time_s=max(pool.lead_time.plan_s for pool in core.pools),
        history_s=int(document.forecast.history),
    )
    policy = replace(core.policy, minimum=core.policy.minimum or 1, allow_below_original=True)
    return policy, settings, _columns(document, chosen)


def _columns(document: "Config", workload: "WorkloadSection") -> "Columns":
    """What the workload calls the columns of its own recorded file; the usual names where it reads its requests elsewhere."""
    from connectors.sources.csv import CsvConfig
    from jobs.backtest import Columns

    source, requests = document.sources[workload.source], workload.signals.get("rpm")
    if not isinstance(source, CsvConfig) or requests is None:
        return Columns()
    return Columns(value=requests.query, timestamp=source.timestamp)


def _policies(found: "Backtest") -> "Table":
    from jobs.cli.show import Table

    rows = []
    for name, outcome in found.outcomes.items():
        hours, late, changes = float(outcome.replica_hours[0]), float(outcome.late_ratio[0]), int(outcome.changes.sum())
        rows.append((name, _WORDS.get(name, ""), f"{late:.3%}", f"{hours:,.0f}", f"{hours / found.clairvoyant_hours:.2f}", changes))
    title = f"{found.first_origin:%Y-%m-%d} to {found.trace.end:%Y-%m-%d} UTC, replayed by the minute"
    return Table(title=title, columns=("policy", "what it is", "late", "replica-hours", "x clairvoyant", "changes"), rows=tuple(rows))


def _sentences(found: "Backtest") -> Iterator[str]:
    from forecaster.backtest.accuracy import LEVELS

    point = found.points[0]
    yield (
        f"Recommended: level P{point.level * 100:g} and HPA target {point.target:.0%}, chosen on the days before "
        f"{found.first_origin:%Y-%m-%d}; a replica serves {found.fleet.replica_rpm:,.4g} requests/min."
    )
    if (days := (found.first_origin - found.trace.start) / timedelta(days=1)) < _FEW_DAYS:
        yield f"The recommendation rests on {days:.1f} days only, which is weak evidence: give a trace of at least {2 * _FEW_DAYS} days."
    alone, with_us = found.outcomes["hpa_best"], found.outcomes["ours"]
    if alone.late_ratio[0] <= with_us.late_ratio[0] and alone.replica_hours[0] <= with_us.replica_hours[0]:
        yield "On this trace the best plain HPA in hindsight (hpa_best) would have done as well: no later and no dearer than our floors."
    scores = found.accuracy.model
    covered = ", ".join(f"P{level * 100:g} {value:.1%}" for level, value in zip(LEVELS, scores.coverage, strict=True) if value is not None)
    if covered:
        yield f"Load stayed below: {covered}. The median was off by {scores.wape:.1%} of the load." if scores.wape is not None else covered
