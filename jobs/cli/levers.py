"""The command `levers`: one tick of the quick loop, for cron and for a look; or all of them put back."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import FAILED, PARTLY, ConfigFile, Json, Now

if TYPE_CHECKING:
    from jobs.cli.session import Session
    from jobs.cli.show import Table
    from jobs.levers.desk import Desk
    from jobs.levers.tick import Tick

DryRun = Annotated[bool, typer.Option("--dry-run", help="Move nothing and remember nothing; say what would be done.")]
GiveBack = Annotated[
    bool | None,
    typer.Option(
        "--release/--resume", help="Put all levers back, in whichever mode, and leave them alone until --resume; or move them again."
    ),
]
History = Annotated[
    int | None,
    typer.Option("--history", metavar="DAYS", min=1, max=400, help="Move nothing; say what was moved in so many times 24 hours, and why."),
]


def levers(
    dry_run: DryRun = False,
    release: GiveBack = None,
    history: History = None,
    config: ConfigFile = None,
    now: Now = None,
    json: Json = False,
) -> None:
    """Read signals, decide by `tiers`, move levers, once; the daemon does so every few seconds. Needs no forecast.

    In mode observe nothing is moved, and what would be is shown. Exit code 3 where something failed and something was done.

    Example: forecaster levers --dry-run
    """
    from forecaster.errors import ConfigRejected
    from jobs.cli.lever_history import show_history
    from jobs.cli.options import Output
    from jobs.cli.session import session
    from jobs.cli.show import say, show, show_json

    if dry_run + (release is not None) + (history is not None) > 1:
        raise ConfigRejected("--release and --resume are a person's word, --dry-run and --history write nothing: name one of them")
    with session(config, now) as at:
        if history is not None:
            show_history(at, history, json=json)
            return
        if release is False:
            say(_resumed(at))
            return
        tick = _tick(at, dry=dry_run, release=bool(release))
    if json:
        show_json(_document(tick))
    else:
        show(_table(tick), Output.TABLE)
        for reason in tick.pulled.reasons:
            say(reason.detail)
    if tick.memory.left_alone:
        say(tick.memory.left_alone)
    for failed in tick.failures:
        say(f"forecaster: {failed.sentence}")
    if tick.pulled.raise_now:
        say("floors are to be raised now: run `forecaster apply`")
    if tick.failures:
        raise typer.Exit(PARTLY if any(turn.failure is None for turn in tick.turns) else FAILED)


def _resumed(at: "Session") -> str:
    """Levers are moved again; what was said, in words."""
    from forecaster.units import iso
    from jobs.cli.turns import in_turn
    from jobs.levers.once import LEASE, resumed

    with in_turn(at, LEASE):
        since = resumed(at.fleet.store)
    return "levers were not released: nothing to resume" if since is None else f"levers, released at {iso(since)}, are moved again"


def _tick(at: "Session", *, dry: bool, release: bool) -> "Tick":
    """One tick under the lease of the levers, so that a daemon on the same store is not in our way."""
    from forecaster.errors import ConfigRejected
    from jobs.cli.turns import in_turn
    from jobs.levers.desk import open_desk
    from jobs.levers.once import LEASE
    from jobs.wiring import open_sources

    tiers, folder = at.config.tiers, at.path.parent
    if tiers is None:
        raise ConfigRejected(f"there is no section `tiers` in {at.path}: docs/levers.md shows one")
    if release:
        tiers = tiers.model_copy(update={"mode": "auto"})
    with open_sources(at.config, folder) as sources:
        desk = open_desk(tiers, at.fleet, sources, folder, dry=dry)
        with closing(desk.asking):
            if dry:
                return _once(at, desk, dry=True, release=False)
            with in_turn(at, LEASE):
                return _once(at, desk, dry=False, release=release)


def _once(at: "Session", desk: "Desk", *, dry: bool, release: bool) -> "Tick":
    from jobs.levers.once import once, rehearsed, released
    from jobs.levers.state import recall

    before = recall(at.fleet.store, desk.mode)
    if dry:
        return rehearsed(desk, before, at.now)
    return released(desk, before, at.now) if release else once(desk, before, at.now, first=True)


def _table(tick: "Tick") -> "Table":
    from forecaster.levers import shown
    from jobs.cli.show import Table

    title = "Levers" if tick.moves else "Levers, as they would be moved"
    rows = tuple(
        (turn.lever, None, None, turn.sentence)
        if turn.moved is None
        else (turn.lever, shown(turn.moved.before), shown(turn.moved.after), turn.sentence)
        for turn in tick.turns
    )
    return Table(title=title, columns=("lever", "before", "after", "why"), rows=rows)


def _document(tick: "Tick") -> dict[str, object]:
    """What programs read: readings (null = unknown), where ladders stand, levers, failures."""
    import math

    return {
        "now": tick.at,
        "moves": tick.moves,
        "released_at": tick.memory.released_at,
        "raise_now": tick.pulled.raise_now,
        "readings": {name: value if math.isfinite(value) else None for name, value in tick.readings.items()},
        "ladders": {name: {"steps": one.depth, "since": one.since} for name, one in tick.memory.standings.items()},
        "levers": [
            {
                "name": turn.lever,
                "before": None if turn.moved is None else turn.moved.before,
                "after": None if turn.moved is None else turn.moved.after,
                "written": tick.moves and turn.moved is not None and turn.moved.written,
                "sentence": turn.sentence,
            }
            for turn in tick.turns
        ],
        "held": sorted(tick.memory.held),
        "reasons": [{"code": reason.code, "detail": reason.detail} for reason in tick.pulled.reasons],
        "failures": [failed.sentence for failed in tick.failures],
    }
