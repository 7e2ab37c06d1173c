"""What every store promises of the book of levers."""

import pytest

from forecaster.keep import Keep
from forecaster.levers import LeverMove, MoveKind
from forecaster.ports import Store
from forecaster.units import DAY_S, HOUR_S
from tests.contracts.store import NOW, Broken, Interrupted, after, span

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

EVER = span(-1000 * DAY_S, DAY_S)


def move(at_s: float, lever: str = "batch", kind: MoveKind = MoveKind.SET, value: str | None = "8") -> LeverMove:
    why = "slow takes step 1 of 1, smaller batches: p99 is 9, above 8"
    return LeverMove(at=after(at_s), lever=lever, kind=kind, before="32", after=value, why=why, until=after(at_s + HOUR_S))


def test_moves_are_read_as_they_were_kept_oldest_first(any_store: Store) -> None:
    last, first, failed = move(0, value=None), move(-60.000001, "rate"), move(0, kind=MoveKind.FAILED)
    any_store.append_lever_moves([last, first, failed])
    assert any_store.lever_moves(EVER) == (first, failed, last)


def test_a_window_of_moves_is_half_open(any_store: Store) -> None:
    moves = tuple(move(60 * i) for i in range(3))
    any_store.append_lever_moves(moves)
    assert any_store.lever_moves(span(0, 120)) == moves[:2]


def test_a_move_told_again_is_kept_once(any_store: Store) -> None:
    for value in ("8", "16", "16"):
        any_store.append_lever_moves([move(0, value=value)])
    assert any_store.lever_moves(EVER) == (move(0, value="16"),)


def test_moves_are_kept_together_all_or_none(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_lever_moves(Broken(move(0)))
    any_store.append_lever_moves([])
    assert any_store.lever_moves(EVER) == ()


def test_moves_are_forgotten_when_records_are(any_store: Store) -> None:
    keep = Keep(records_s=30 * DAY_S)
    old, kept = move(-31 * DAY_S), move(-29 * DAY_S)
    any_store.append_lever_moves([old, kept])
    assert any_store.prune(keep, NOW).moves == 1
    assert any_store.lever_moves(EVER) == (kept,)
