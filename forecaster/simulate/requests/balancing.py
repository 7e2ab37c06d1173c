"""Which replica an arriving request goes to, of those that are ready and have room."""

from collections import OrderedDict
from collections.abc import Callable
from enum import StrEnum
from operator import attrgetter
from typing import TypeAlias

from forecaster.simulate.requests.replica import Replica

Room: TypeAlias = "OrderedDict[int, Replica]"
"""Replicas by number, in the order in which they came to have room."""


class Balancing(StrEnum):
    """How a replica is chosen; the first of equals is the one that has had room for longest."""

    ROUND_ROBIN = "round-robin"
    """Each in turn, however busy."""
    LEAST_LOADED = "least-loaded"
    """The one with the fewest requests, waiting and in service."""
    QUEUE_AWARE = "queue-aware"
    """The one that will be through soonest with the work that it has accepted: long requests count for more than short ones."""


def chooser(balancing: Balancing) -> Callable[[Room], Replica]:
    """The choice as a function of the replicas with room, of which there is at least one."""
    return _CHOICES[balancing]


def _in_turn(room: Room) -> Replica:
    number = next(iter(room))
    room.move_to_end(number)
    return room[number]


_load, _clear_s = attrgetter("load"), attrgetter("clear_s")


def _least_loaded(room: Room) -> Replica:
    return min(room.values(), key=_load)


def _soonest_clear(room: Room) -> Replica:
    return min(room.values(), key=_clear_s)


_CHOICES = {Balancing.ROUND_ROBIN: _in_turn, Balancing.LEAST_LOADED: _least_loaded, Balancing.QUEUE_AWARE: _soonest_clear}
