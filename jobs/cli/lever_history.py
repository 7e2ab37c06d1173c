"""What `levers --history` prints: every move of a lever that the store has, and every failure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from forecaster.levers import LeverMove
from forecaster.series import Window
from jobs.cli.options import Output
from jobs.cli.show import Cell, Table, show, show_json

if TYPE_CHECKING:
    from jobs.cli.session import Session

_COLUMNS = ("at", "lever", "what", "from", "to", "until", "why")


def show_history(at: "Session", days: int, *, json: bool) -> None:
    """The moves of so many times 24 hours before now. Raises StoreError."""
    moves = at.fleet.store.lever_moves(Window(start=at.now - timedelta(days=days), end=at.now + timedelta(seconds=1)))
    if json:
        show_json({"now": at.now, "days": days, "moves": [_entry(move) for move in moves]})
    else:
        show(_table(moves), Output.TABLE)


def _table(moves: Sequence[LeverMove]) -> Table:
    """Times are UTC: levers have no time zone, other than workloads."""
    rows = tuple(
        (
            Cell(value=move.at, words=f"{move.at:%a %d %b %H:%M:%S}"),
            move.lever,
            str(move.kind),
            move.before,
            move.after,
            None if move.until is None else Cell(value=move.until, words=f"{move.until:%H:%M:%S}"),
            move.why,
        )
        for move in moves
    )
    return Table(title="Moves of levers, in UTC", columns=_COLUMNS, rows=rows, empty="no lever was moved in this time", named_by=2)


def _entry(move: LeverMove) -> dict[str, object]:
    return {
        "at": move.at,
        "lever": move.lever,
        "what": move.kind,
        "from": move.before,
        "to": move.after,
        "until": move.until,
        "why": move.why,
    }
