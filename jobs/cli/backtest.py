"""The promise to a sceptic: what would have happened on the user's own history."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import Json

if TYPE_CHECKING:
    from jobs.proof.report import Report


def backtest(
    workload: Annotated[
        str | None, typer.Argument(metavar="WORKLOAD", help="Which workload of --config. Default: the first.", show_default=False)
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(
            "--csv",
            "--prometheus",
            metavar="TRACE|URL",
            help="Where the load is: a file of counts with their timestamps (.csv, .csv.gz), or a Prometheus with the last weeks.",
        ),
    ] = None,
    hpa: Annotated[
        str | None,
        typer.Option("--hpa", metavar="NAMESPACE/NAME", help="With --prometheus: the HPA that you have; its metric is the load."),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option("--query", metavar="PROMQL|COLUMN", help="The load: PromQL that gives one series, or the CSV's column of counts."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="Take model, lead time and policy from a workload there.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write forecasts, peaks and floors as CSV, summary.json and frontier.svg there."),
    ] = None,
    json: Json = False,
) -> None:
    """Replay your own history minute by minute under our floors and under what one would do without us. Reads only.

    Nothing after a forecast's origin is looked at. With --prometheus the last 28 days are replayed, on what the 14 days before them knew,
    and nothing is installed or configured. A new replica takes 10 minutes, or the lead time of the configuration.

    Example: forecaster backtest --prometheus http://prometheus:9090 --hpa inference/chat --out proof
    """
    from jobs.backtest import check_writable
    from jobs.cli.bar import progress_bar
    from jobs.cli.show import show_json
    from jobs.config.document import LogSection
    from jobs.proof.asked import asked
    from jobs.proof.report import report_summary, write_report
    from jobs.proof.run import report_of
    from jobs.telemetry import start_logging

    start_logging(LogSection(level="warning"))
    wanted = asked(load=load or [], hpa=hpa, query=query, config=config, workload=workload)
    if out is not None:
        check_writable(out)
    with progress_bar() as progress:
        report = report_of(wanted, progress)
    if out is not None:
        write_report(report, out)
    if json:
        show_json(report_summary(report))
        return
    _tell(report, out)


def _tell(report: "Report", out: Path | None) -> None:
    from jobs.cli.frontier import frontier_chart
    from jobs.cli.options import Output
    from jobs.cli.proof_tables import LEGEND, sentences, tables
    from jobs.cli.show import show, show_chart

    for note in report.notes:
        typer.echo(note)
    for table in tables(report):
        show(table, Output.TABLE)
    typer.echo(LEGEND)
    show_chart(frontier_chart(report.judged, report.found.settings.late_limit_ratio))
    for line in sentences(report):
        typer.echo(line)
    if out is not None:
        typer.echo(f"Written to {out}: the chart is {out / 'frontier.svg'}.")
