"""The command `forecaster`: every verb in the order in which one meets them."""

import sys
from typing import Annotated

import typer

from forecaster.errors import ConfigRejected, ForecasterError
from jobs.cli import (
    advise,
    backtest,
    calendar,
    capacity,
    capacity_batch,
    capacity_compare,
    capacity_flushed,
    capacity_learn,
    capacity_replay,
    cost,
    demo,
    export,
    export_levers,
    ledger,
    levers,
    line,
    marks,
    promote,
    rulings,
    savings,
    serve,
    setup,
    tune,
    views,
)
from jobs.cli.groups import ShowsByDefault
from jobs.cli.options import FAILED, USAGE

app = typer.Typer(
    name="forecaster",
    help="Replica floors in force one cold start before the load. Begin with `demo`, or `init` and `check`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"forecaster {version('forecaster')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version.")] = False,
) -> None:
    """What may stand before a command."""


app.command("init")(setup.init)
app.command("check")(setup.check)
app.command("demo")(demo.demo)
app.command("fetch")(line.fetch)
app.command("forecast")(line.forecast)
app.command("plan")(line.plan)
app.command("apply")(line.apply)
app.command("run")(line.run)
app.command("daemon")(line.daemon)
app.command("serve")(serve.serve)
app.command("review")(views.review)
app.command("approve")(rulings.approve)
app.command("reject")(rulings.reject)
override = typer.Typer(help="Set or clear a person's floor for a workload.", no_args_is_help=True, rich_markup_mode=None)
override.command("set")(rulings.override_set)
override.command("clear")(rulings.override_clear)
app.add_typer(override, name="override")
dates = typer.Typer(help="Holidays and events: list, enter or take back.", no_args_is_help=True, rich_markup_mode=None)
dates.command("list")(calendar.list_)
dates.command("add")(calendar.add)
dates.command("remove")(calendar.remove)
dates.command("import")(calendar.import_)
app.add_typer(dates, name="calendar")
app.command("tune")(tune.tune)
app.command("levers")(levers.levers)
app.command("promote")(promote.promote)
app.command("pause")(rulings.pause)
app.command("resume")(rulings.resume)
app.command("release")(rulings.release)
app.command("status")(views.status)
app.command("explain")(views.explain)
history = typer.Typer(
    help="What was decided and measured, and what of it is not believed.", cls=ShowsByDefault, no_args_is_help=True, rich_markup_mode=None
)
history.command("show")(views.history)
history.command("marks")(marks.marks)
history.command("mark")(marks.mark)
history.command("unmark")(marks.unmark)
app.add_typer(history, name="history")
app.command("backtest")(backtest.backtest)
exports = typer.Typer(
    help="Print what was found best for KEDA, AWS or your HPA, and what levers need.", no_args_is_help=True, rich_markup_mode=None
)
exports.command("keda-cron")(export.keda_cron)
exports.command("asg-scheduled")(export.asg_scheduled)
exports.command("hpa")(export.hpa)
exports.command("lever-rights")(export_levers.lever_rights)
exports.command("lever-policy")(export_levers.lever_policy)
app.add_typer(exports, name="export")
app.command("savings")(savings.savings)
app.command("ledger")(ledger.ledger)
capacities = typer.Typer(
    help="What one replica carries: of load tests, by pool; and what the load is.",
    cls=ShowsByDefault,
    no_args_is_help=True,
    rich_markup_mode=None,
)
capacities.command("import")(capacity.import_)
capacities.command("show")(capacity.show_)
capacities.command("compare")(capacity_compare.compare)
capacities.command("flushed")(capacity_flushed.flushed)
capacities.command("batch")(capacity_batch.batch)
capacities.command("learn")(capacity_learn.learn)
capacities.command("replay")(capacity_replay.replay)
app.add_typer(capacities, name="capacity")
costs = typer.Typer(help="What a request, a token and a task cost; two of them side by side.", cls=ShowsByDefault, rich_markup_mode=None)
costs.command("show")(cost.show_)
costs.command("compare")(cost.compare)
app.add_typer(costs, name="cost")
app.command("advise")(advise.advise)
app.command("migrate")(setup.migrate)
app.command("prune")(setup.prune)


def run() -> None:
    """The entry point: expected failures become one sentence on stderr and an exit code, never a traceback."""
    try:
        app()
    except ForecasterError as error:
        sys.stderr.write(f"forecaster: {error}\n")
        sys.exit(USAGE if isinstance(error, ConfigRejected) else FAILED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(130)
