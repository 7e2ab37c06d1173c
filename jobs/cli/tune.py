"""The command `tune`: which level and which HPA target a workload should stand at."""

from typing import TYPE_CHECKING

import typer

from jobs.cli.options import FAILED, AnyWorkload, ConfigFile, Json, Now
from jobs.cli.turns import in_turn

if TYPE_CHECKING:
    from jobs.operating_point import Chosen


def tune(workload: AnyWorkload = None, config: ConfigFile = None, now: Now = None, json: Json = False) -> None:
    """Choose level and HPA target by replay of the last 28 days in the store, print both, what is near them, and the patch.

    The target is never written by us. The level is followed where `policy.level` is `auto`. Runs after forecasts too, when it is due.

    Example: forecaster tune chat
    """
    from dataclasses import replace

    from jobs.cli.session import session
    from jobs.cli.show import show_json
    from jobs.operating_point import choose
    from jobs.recommendations import kept_looks

    with session(config, now) as at, in_turn(at, "tune"):
        fleet = replace(at.fleet, members=at.members(workload))
        found = []
        for chosen in choose(fleet, kept_looks(fleet.store, fleet.members), at.now):
            found.append(chosen)
            if not json:
                _print(chosen)
        if json:
            from jobs.cli.points import chosen_json

            show_json({"now": at.now, "pools": [chosen_json(each) for each in found]})
    if found and not any(each.made for each in found):
        raise typer.Exit(FAILED)


def _print(chosen: "Chosen") -> None:
    from jobs.cli.options import Output
    from jobs.cli.points import frontier_table, point_lines
    from jobs.cli.show import say, show

    name = "/".join(chosen.name)
    if chosen.made is None or chosen.grid is None:
        say(f"forecaster: {name}: {chosen.looked.missing}")
        return
    show(frontier_table(name, chosen.made, chosen.grid), Output.TABLE)
    for line in point_lines(name, chosen.made):
        typer.echo(line)
