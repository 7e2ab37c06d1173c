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

    first: of this process, which then looks at every lever.
    """
    tick = run_tick(desk, before, now, all_levers=first)
    desk.fleet.store.append_lever_moves(moves_of(tick, desk.rules, before))
    if first or _matter(tick.memory) != _matter(before):
        remember(desk.fleet.store, desk.mode, tick.memory)
    left = _left_by_auto(desk.fleet.store, desk.mode)
    return replace(tick, failures=(*tick.failures, *left))


def rehearsed(desk: Desk, before: Memory, now: datetime) -> Tick:
    """One tick that remembers nothing, on a desk that moves nothing."""
    return run_tick(desk, before, now, all_levers=True)


def released(desk: Desk, before: Memory, now: datetime) -> Tick:
    """Every lever put back, written down and remembered. Raises StoreError."""
    tick = give_back(desk, before, now)
    desk.fleet.store.append_lever_moves(moves_of(tick, desk.rules, before, let_go=PERSON))
    remember(desk.fleet.store, desk.mode, tick.memory)
    return tick


def _matter(memory: Memory) -> tuple[object, ...]:
    """What must outlive us; a look at pages is of use only to the next one, and is kept along with the rest."""
    return dict(memory.standings), dict(memory.held), dict(memory.failing)


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
