"""`forecaster demo`."""

import shutil
import sys
from pathlib import Path

import typer

from jobs.cli.options import Output


def demo() -> None:
    """Run the main job on a real trace in this folder, without any server, and leave a configuration to play with.

    Example: mkdir try && cd try && forecaster demo
    """
    from jobs.apply import apply_fleet
    from jobs.cli.chart import plan_chart
    from jobs.cli.session import session
    from jobs.cli.show import say, show, show_chart
    from jobs.cli.tables import hours_table, peaks_table
    from jobs.clock import SystemClock
    from jobs.demonstration import lay_out
    from jobs.forecast import forecast_fleet

    folder, columns = Path.cwd(), shutil.get_terminal_size().columns
    lay_out(folder, SystemClock().now())
    say("One week of a production LLM service's traffic (Azure 2024, Microsoft, CC-BY 4.0), moved to end tomorrow.\n")
    with session(folder / "forecaster.yaml") as at:
        drafts = forecast_fleet(at.fleet, at.now)
        show(peaks_table(drafts), Output.TABLE)
        show(hours_table(drafts, at.now), Output.TABLE)
        for draft in drafts:
            for plan in draft.plans:
                show_chart(plan_chart(plan, draft.member.workload.calendar, at.now, width=columns))
        cycles = apply_fleet(at.fleet, at.now)
        for cycle in cycles:
            for record in cycle.records:
                typer.echo(record.sentence)
    say(_NEXT.format(called=_how_to_call(folder)))


def _how_to_call(folder: Path) -> str:
    """What to say where the plain word `forecaster` does not start this program; nothing where it does."""
    started = Path(sys.argv[0]).absolute()
    found = shutil.which(started.name)
    if found is not None and started.exists() and Path(found).samefile(started):
        return ""
    path = started.relative_to(folder) if started.is_relative_to(folder) else started
    activate = path.with_name("activate")
    first = f"`. {activate}`" if activate.exists() else f'`export PATH="{path.parent}:$PATH"`'
    return f"  (`{path.name}` is not on your PATH: say {first} first, or write {path} in its place)\n"


_NEXT = """
forecaster.yaml, forecaster.db, demo-trace.csv and azure-2024-week.csv.gz are in this folder now. Next:
{called}  forecaster review chat      tomorrow's peak against the past, with a chart
  forecaster explain chat     how the floor of this minute came about
  forecaster run --json       the whole line once, as cron would run it
  forecaster backtest --csv azure-2024-week.csv.gz     what floors would have done in the week as it was recorded
  forecaster init my.yaml     a commented configuration for your own Prometheus and HPA"""
