"""The command `advise`: whether a workload is worth pre-scaling."""

from typing import TYPE_CHECKING

import typer

from jobs.cli.options import FAILED, AnyWorkload, ConfigFile, Json, Now
from jobs.cli.savings import Days, HpaTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forecaster.advice import Figures
    from jobs.cli.show import Cell, Table
    from jobs.cost.advise import Advised


def advise(
    workload: AnyWorkload = None,
    days: Days = 14,
    hpa_target: HpaTarget = None,
    config: ConfigFile = None,
    now: Now = None,
    json: Json = False,
) -> None:
    """What to do with a workload: "pre-scale", "queue + reactive" or "optimise first", with the figures that lead to it.

    From the store alone: how much of the load's variance forecasts foresaw, how much came within the lead time, what the autoscaler alone
    would serve late, how idle replicas are, and what floors and the operating point save. docs/cost.md has the rule.

    Example: forecaster advise chat
    """
    from jobs.cli.options import Output
    from jobs.cli.savings import targets
    from jobs.cli.session import session
    from jobs.cli.show import say, show, show_json
    from jobs.cost.advise import advise as advised
    from jobs.savings import Asked, whole_days

    alone, target = targets(hpa_target)
    with session(config, now) as at:
        asked = Asked(window=whole_days(at.now, days), target_ratio=target, alone_ratio=alone)
        found = advised(at.fleet, at.members(workload), asked, at.now)
    if json:
        show_json({"from": asked.window.start, "until": asked.window.end, "workloads": [_json(each) for each in found]})
    for each in found:
        if each.advice is None:
            say(f"forecaster: {each.workload}: no advice, {each.missing}")
        for sentence in each.told:
            say(f"forecaster: {each.workload}: {sentence}")
    told = [each for each in found if each.advice is not None]
    if told and not json:
        show(_table(told), Output.TABLE)
        for line in (*_verdicts(told), *(f"{each.workload}: {line}" for each in told for line in each.always_on)):
            typer.echo(line)
        for line in _notes(told):
            say(line)
    if found and not told:
        raise typer.Exit(FAILED)


def _verdicts(found: "Sequence[Advised]") -> list[str]:
    return [f"{each.workload}: {each.advice.verdict}. {_sentence(each.advice.because)}" for each in found if each.advice is not None]


def _notes(found: "Sequence[Advised]") -> list[str]:
    """How the columns are to be read."""
    shares = "predictable, followed, bursty: shares of the load's variance that were forecast, that live load shows in time, and the rest"
    time = "late, outrun: of requests, and of the time, with the autoscaler alone; idle: of the replica-hours"
    use = "busiest, exact: how far replicas are filled at P95, and those of a fleet that follows exactly; lost: of a task's cost"
    saved = "floors saved, point saves: of replica-hours, by floors so far and by the recommended operating point; empty: not known"
    untuned = any(each.advice is not None and each.advice.figures.point_saved_ratio is None for each in found)
    return [shares, time, use, saved, *(["`forecaster tune` looks for an operating point where none is known"] if untuned else [])]


def _small(ratio: float | None) -> "Cell | None":
    """A share of which hundredths of a percent count."""
    from jobs.cli.show import Cell

    return None if ratio is None else Cell(value=ratio, words=f"{ratio:.2%}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _table(found: "Sequence[Advised]") -> "Table":
    """For people: a row a workload, each figure beside the others."""
    from jobs.cli.show import Table, percent

    shown = ("predictable", "followed", "bursty", "lead min", "late", "outrun", "idle", "busiest", "exact", "lost")
    columns = ("workload", "verdict", *shown, "floors saved", "point saves")
    rows = []
    for each in found:
        if each.advice is None:
            continue
        of = each.advice.figures
        shares = (of.variance.predictable_ratio, of.variance.followed_ratio, of.variance.bursty_ratio)
        use = (of.idle_ratio, of.busiest_ratio, of.followed_ratio, of.lost_ratio)
        saved = (of.floors_saved_ratio, of.point_saved_ratio)
        cells = (*(percent(share) for share in shares), of.lead_min, _small(of.late_ratio), _small(of.outrun_ratio))
        rows.append(
            (
                each.workload,
                str(each.advice.verdict),
                *cells,
                *(percent(ratio) for ratio in use),
                *(percent(ratio, signed=True) for ratio in saved),
            )
        )
    return Table(title="What to do", columns=columns, rows=tuple(rows), named_by=2)


def _json(each: "Advised") -> dict[str, object]:
    known = each.advice
    return {
        "workload": each.workload,
        "verdict": None if known is None else str(known.verdict),
        "because": each.missing if known is None else known.because,
        "always_on": list(each.always_on),
        "notes": list(each.told),
        "figures": None if known is None else _figures(known.figures),
    }


def _figures(of: "Figures") -> dict[str, object]:
    return {
        "days": of.variance.days,
        "predictable_ratio": of.variance.predictable_ratio,
        "followed_ratio": of.variance.followed_ratio,
        "bursty_ratio": of.variance.bursty_ratio,
        "lead_min": of.lead_min,
        "lead_time_binds": of.binds,
        "late_ratio": of.late_ratio,
        "outrun_ratio": of.outrun_ratio,
        "idle_ratio": of.idle_ratio,
        "busiest_ratio": of.busiest_ratio,
        "exact_fleet_filled_ratio": of.followed_ratio,
        "lost_ratio": of.lost_ratio,
        "floors_saved_ratio": of.floors_saved_ratio,
        "operating_point_saved_ratio": of.point_saved_ratio,
    }
