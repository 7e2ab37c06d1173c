"""What all series of a fleet have in common, learned once a week and kept as a state of its own."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from forecaster.calendar import Calendar
from forecaster.forecast import State
from forecaster.models.catalogue import is_installed
from forecaster.models.past import past_of
from forecaster.series import Panel
from forecaster.units import DAY_S, WEEK_S, epoch_s, from_epoch_s

SERIES = 100
"""So many series say what a fleet has in common."""
_MODEL, _VERSION = "gbm", 1


def is_due(state: State | None, now: datetime, members: Sequence[str]) -> bool:
    """Whether it is time to learn: some member does, and what is kept is of no use, a week old, or of the future."""
    if _MODEL not in members or not is_installed(_MODEL):
        return False
    learned_at = _learned_at(state)
    return learned_at is None or not timedelta(0) <= now - learned_at < timedelta(seconds=WEEK_S)


def learn(panel: Panel, now: datetime, calendar: Calendar) -> State:
    """A state from what was known at `now`; it says nothing where that is too little, and is then learned anew after a day."""
    from forecaster.models.members.gbm import learn as learn_gbm  # noqa: PLC0415  heavy, and an extra

    learned = learn_gbm(past_of(panel, now, calendar))
    dated = now if learned else now - timedelta(seconds=WEEK_S - DAY_S)
    return State(model=_MODEL, version=_VERSION, payload=json.dumps({"learned_s": epoch_s(dated)}).encode() + b"\n" + learned)


def learned_of(state: State | None, now: datetime) -> bytes:
    """What a member is given; nothing where nothing was learned by `now`."""
    learned_at = _learned_at(state)
    return b"" if state is None or learned_at is None or learned_at > now else state.payload.partition(b"\n")[2]


def _learned_at(state: State | None) -> datetime | None:
    if state is None or (state.model, state.version) != (_MODEL, _VERSION):
        return None
    try:
        return from_epoch_s(int(json.loads(state.payload.partition(b"\n")[0])["learned_s"]))
    except (ValueError, KeyError, TypeError):
        return None
