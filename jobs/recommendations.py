"""What was recommended for each pool, as the store keeps it: a state a pool, in which choices are added and none is changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from forecaster.forecast import State
from forecaster.ports import Store
from forecaster.recommendation import Recommendation, Tried
from forecaster.series import Window
from forecaster.units import iso
from jobs.fleet import Member

PoolName: TypeAlias = tuple[str, str]
_VERSION = 1
_KEPT = 13
"""Choices: a quarter of weeks, as long as the plans that were made at them are kept. A fleet of 2,000 pools then has 25 MB of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """All that was found of a pool, oldest first. at: when it was last looked at; missing: why nothing was chosen then, empty = it was."""

    at: datetime
    missing: str = ""
    made: tuple[Recommendation, ...] = ()

    def standing(self, now: datetime) -> Recommendation | None:
        """What stood at an instant."""
        return next((each for each in reversed(self.made) if each.at <= now), None)


def kept_looks(store: Store, members: Iterable[Member]) -> dict[PoolName, Looked]:
    """What is kept, by workload and pool; one read for all. Raises StoreError."""
    names = {_key(name): name for member in members for name in pools_of(member)}
    states = store.states(list(names)) if names else {}
    return {names[key]: _looked(state) for key, state in states.items() if state.version == _VERSION}


def keep_looks(store: Store, looks: Mapping[PoolName, Looked]) -> None:
    """Keep what was found, all or none. Raises StoreError."""
    store.save_states({_key(name): _state(looked) for name, looked in looks.items()})


def with_another(looked: Looked | None, made: Recommendation) -> Looked:
    """The same with one more choice; one of the same instant is replaced."""
    before = () if looked is None else tuple(each for each in looked.made if each.at != made.at)
    return Looked(at=made.at, made=tuple(sorted((*before, made), key=lambda each: each.at))[-_KEPT:])


def pools_of(member: Member) -> Sequence[PoolName]:
    """The pools of a workload by their full names."""
    return [(member.workload.name, pool.name) for pool in member.workload.pools]


def _key(name: PoolName) -> str:
    workload, pool = name
    return f"operating-point/{workload}/{pool}"


def _state(looked: Looked) -> State:
    book = {"at": iso(looked.at), "missing": looked.missing, "made": [_written(each) for each in looked.made]}
    return State(model="operating-point", version=_VERSION, payload=json.dumps(book).encode())


def _looked(state: State) -> Looked:
    book = json.loads(state.payload)
    return Looked(at=datetime.fromisoformat(book["at"]), missing=book["missing"], made=tuple(_read(each) for each in book["made"]))


def _written(made: Recommendation) -> dict[str, object]:
    return {
        "at": iso(made.at),
        "since": iso(made.since),
        "covers": [iso(made.covers.start), iso(made.covers.end)],
        "days": made.days,
        "late_limit_ratio": made.late_limit_ratio,
        "price": made.price,
        "pair": pair_json(made.pair),
        "as_it_is": pair_json(made.as_it_is),
        "level": made.level,
        "least_late_ratio": made.least_late_ratio,
        "aim": made.aim,
        "remedy": made.remedy,
    }


def pair_json(pair: Tried) -> dict[str, float]:
    """A pair for programs."""
    return {
        "level": pair.level,
        "hpa_target_utilisation": pair.target,
        "late_ratio": pair.late_ratio,
        "replica_hours": pair.replica_hours,
        "cost_hours": pair.cost_hours,
    }


def _read(book: dict[str, Any]) -> Recommendation:
    start, end = (datetime.fromisoformat(at) for at in book["covers"])
    return Recommendation(
        at=datetime.fromisoformat(book["at"]),
        since=datetime.fromisoformat(book["since"]),
        covers=Window(start=start, end=end),
        days=book["days"],
        late_limit_ratio=book["late_limit_ratio"],
        price=book["price"],
        pair=_pair(book["pair"]),
        as_it_is=_pair(book["as_it_is"]),
        level=book["level"],
        least_late_ratio=book["least_late_ratio"],
        aim=book["aim"],
        remedy=book["remedy"],
    )


def _pair(book: dict[str, float]) -> Tried:
    return Tried(
        level=book["level"],
        target=book["hpa_target_utilisation"],
        late_ratio=book["late_ratio"],
        replica_hours=book["replica_hours"],
        cost_hours=book["cost_hours"],
    )
