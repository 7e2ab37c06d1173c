"""Options that several commands share, spelled once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Output(StrEnum):
    """How data is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="The configuration. Default: $FORECASTER_CONFIG, else ./forecaster.yaml."),
]
Now = Annotated[
    str | None,
    typer.Option("--now", metavar="INSTANT", help="Act as at this instant (ISO 8601, such as 2024-05-18T08:00:00Z). Default: the clock."),
]
OutputFormat = Annotated[Output, typer.Option("--output", "-o", help="How the data is printed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
WorkloadName = Annotated[str, typer.Argument(metavar="WORKLOAD", help="The workload's name.")]
AnyWorkload = Annotated[str | None, typer.Argument(metavar="WORKLOAD", help="One workload. Default: all of them.")]
Reason = Annotated[str, typer.Option("--reason", "-m", metavar="TEXT", help="Why; it is kept with your name.")]
Author = Annotated[str | None, typer.Option("--author", metavar="NAME", help="Who says so. Default: the user who runs the command.")]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="INSTANT|DURATION", help="When it ends, such as 2024-05-18T18:00:00Z or 2h. Default: never."),
]
DONE, FAILED, USAGE, PARTLY = 0, 1, 2, 3
"""Exit codes: done, failed, wrong usage or configuration, partly done (something failed or awaits a person)."""
