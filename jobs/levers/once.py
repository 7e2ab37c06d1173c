"""One tick with its memory: recall -> tick -> remember; the same for the daemon and for the command."""

from dataclasses import replace
from datetime import datetime

from forecaster.levers import shown
from forecaster.ports import Store
from forecaster.reasons import Code
from jobs.failure import Failure
from jobs.levers.book import PERSON, moves_of
from jobs.levers.desk import Desk
from jobs.levers.state import Memory, recall, remember
from jobs.levers.tick import Tick, give_back, run_tick

AUTO = "auto"
LEASE = "levers"
"""The name of the lease under which levers are moved: by one process at a time."""


def once(desk: Desk, before: Memory, now: datetime, *, first: bool) -> Tick:
    """One tick; what was moved is written down, and what changed is remembered after it. Raises StoreError.

    first: of this process, which then looks at every lever. A person's word, said to another process meanwhile, is heard here.
    """
    before = _as_told(desk, before)
    tick = (
        give_back(desk, before, now, all_levers=first) if before.released_at is not None else run_tick(desk, before, now, all_levers=first)
    )
    desk.fleet.store.append_lever_moves(moves_of(tick, desk.rules, before))
    if first or _matter(tick.memory) != _matter(before):
        remember(desk.fleet.store, desk.mode, tick.memory)
    left = _left_by_auto(desk.fleet.store, desk.mode)
    return replace(tick, failures=(*tick.failures, *left))


def rehearsed(desk: Desk, before: Memory, now: datetime) -> Tick:
    """One tick that remembers nothing, on a desk that moves nothing."""
    return _ticked(desk, before, now, all_levers=True)


def released(desk: Desk, before: Memory, now: datetime) -> Tick:
    """Every lever put back and left alone until `resumed`, written down and remembered. Raises StoreError."""
    tick = give_back(desk, replace(before, released_at=before.released_at or now), now, all_levers=True)
    desk.fleet.store.append_lever_moves(moves_of(tick, desk.rules, before, let_go=PERSON))
    remember(desk.fleet.store, desk.mode, tick.memory)
    return tick


def resumed(store: Store) -> datetime | None:
    """Levers are moved again from the next tick on; since when they were left alone, None = they were not. Raises StoreError."""
    memory = recall(store, AUTO)
    if memory.released_at is not None:
        remember(store, AUTO, replace(memory, released_at=None))
    return memory.released_at


def _ticked(desk: Desk, before: Memory, now: datetime, *, all_levers: bool) -> Tick:
    """By the rules, or by a person's word that levers are to be left alone."""
    return (run_tick if before.released_at is None else give_back)(desk, before, now, all_levers=all_levers)


def _as_told(desk: Desk, before: Memory) -> Memory:
    """What we remember, with a release or a resumption that was said since; where ladders stood was forgotten with it."""
    kept = recall(desk.fleet.store, desk.mode)
    return before if kept.released_at == before.released_at else replace(kept, look=before.look)


def _matter(memory: Memory) -> tuple[object, ...]:
    """What must outlive us; a look at pages is of use only to the next one, and is kept along with the rest."""
    return dict(memory.standings), dict(memory.held), dict(memory.failing), memory.released_at


def _left_by_auto(store: Store, mode: str) -> tuple[Failure, ...]:
    """Levers that mode auto moved and that mode observe will not put back."""
    if mode == AUTO:
        return ()
    return tuple(
        Failure(
            verb="levers",
            error=Code.LEVER_LOST,
            sentence=f"{name} stands at {shown(one.value)} from mode auto, was {shown(one.original)}: run `forecaster levers --release`",
            cause=name,
        )
        for name, one in recall(store, AUTO).held.items()
    )
