"""Forgetting what the store no longer needs, once a day."""

from datetime import datetime, timedelta

import structlog

from forecaster.errors import StoreError
from forecaster.forecast import State
from forecaster.keep import Pruned
from forecaster.units import DAY_S, iso
from jobs.fleet import Fleet

_KEY = "forecaster/pruned"
"""The state that says when it was done last, by whichever process."""
_VERSION = 1
log = structlog.get_logger()


def prune(fleet: Fleet, now: datetime) -> Pruned:
    """Forget what is older than the fleet's `keep` lets it be. `now` must be the clock's: it decides what is gone. Raises StoreError."""
    pruned = fleet.store.prune(fleet.keep, now)
    fleet.store.save_states({_KEY: State(model="prune", version=_VERSION, payload=iso(now).encode())})
    return pruned


def prune_daily(fleet: Fleet, now: datetime) -> Pruned | None:
    """The same unless it was done within a day; None when it was, or when the store cannot now: the plans are kept, tomorrow is a day."""
    last = fleet.store.states([_KEY]).get(_KEY)
    if last is not None and now < datetime.fromisoformat(last.payload.decode()) + timedelta(seconds=DAY_S):
        return None
    try:
        return prune(fleet, now)
    except StoreError as error:
        log.warning("prune", sentence=f"nothing old was forgotten: {error}")
        return None


def sentence(pruned: Pruned) -> str:
    """What was forgotten, in words."""
    if not pruned.total:
        return "nothing in the store is older than `keep` says"
    parts = (
        (pruned.history, "days of history"),
        (pruned.forecasts, "forecasts"),
        (pruned.plans, "plans"),
        (pruned.records, "records"),
        (pruned.starts, "starts"),
        (pruned.moves, "moves of levers"),
    )
    return "forgotten: " + ", ".join(f"{count:,d} {what}" for count, what in parts if count)
