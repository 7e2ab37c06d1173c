"""What a tick did to levers, as the store keeps it: every move, and every failure once."""

from collections.abc import Iterator

from forecaster.ladder import LeverValue
from forecaster.levers import LeverMove, Moved, MoveKind, shown
from forecaster.tiers import Rules, Wish
from jobs.levers.state import Memory
from jobs.levers.tick import Tick, Turn

_LET_GO = "nothing asks for it any more"
PERSON = "a person had every lever put back"


def moves_of(tick: Tick, rules: Rules, before: Memory, *, let_go: str = _LET_GO) -> tuple[LeverMove, ...]:
    """The entries of one tick; where it only told what it would do, none. let_go: why a lever went back, where no ladder says."""
    return tuple(_entries(tick, rules, before, let_go)) if tick.moves else ()


def _entries(tick: Tick, rules: Rules, before: Memory, let_go: str) -> Iterator[LeverMove]:
    for turn in tick.turns:
        wish = tick.pulled.levers.get(turn.lever)
        if turn.failure is not None:
            moving = wish is not None or turn.lever in before.held  # else it was only looked at
            if moving and before.failing.get(turn.lever) != turn.failure.error:
                yield _failed(tick, turn, wish)
        elif turn.moved is not None and wish is None and not turn.moved.written:
            yield _back(tick, turn, turn.moved, before)
        elif turn.moved is not None and turn.moved.written:
            told = _ladders(turn.lever, tick, rules) or (let_go if wish is None else wish.why)
            yield LeverMove(
                at=tick.at,
                lever=turn.lever,
                kind=_kind(turn, wish),
                before=_text(turn.moved.before),
                after=_text(turn.moved.after),
                why=told if turn.moved.note is None else f"{told}; {turn.moved.note}",
                until=None if wish is None else wish.until,
            )


def _kind(turn: Turn, wish: Wish | None) -> MoveKind:
    if wish is None or turn.moved is None:
        return MoveKind.LET_GO
    return MoveKind.RENEWED if _text(turn.moved.before) == _text(turn.moved.after) else MoveKind.SET


def _back(tick: Tick, turn: Turn, moved: Moved, before: Memory) -> LeverMove:
    """What was back before we came to it."""
    held = before.held.get(turn.lever)
    return LeverMove(
        at=tick.at,
        lever=turn.lever,
        kind=MoveKind.LET_GO,
        before=None if held is None else _text(held.value),
        after=_text(moved.after),
        why=turn.sentence,
        until=None,
    )


def _failed(tick: Tick, turn: Turn, wish: Wish | None) -> LeverMove:
    held = tick.memory.held.get(turn.lever)
    return LeverMove(
        at=tick.at,
        lever=turn.lever,
        kind=MoveKind.FAILED,
        before=None if held is None else _text(held.value),
        after=_text(wish.value) if wish is not None else None if held is None else _text(held.original),
        why=turn.sentence,
        until=None if wish is None else wish.until,
    )


def _ladders(lever: str, tick: Tick, rules: Rules) -> str:
    """What the rules and ladders that move the lever did at this tick."""
    moved_by = (ladder.name for ladder in rules.ladders if lever in ladder.at(len(ladder.steps)))
    return "; ".join(tick.pulled.told[name] for name in moved_by if name in tick.pulled.told)


def _text(value: LeverValue | None) -> str | None:
    return None if value is None else shown(value)
