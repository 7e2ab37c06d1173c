"""Requests one by one: drawn from a load by the minute, or recorded."""

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats, frozen_floats
from forecaster.simulate.minutes import MinuteLoad
from forecaster.units import MINUTE_S, check_named

Ints = NDArray[np.int64]

EVERYONE = "everyone"
"""The one tenant of traffic that names none."""
_STAMP, _INPUT, _OUTPUT = "timestamp", "input_tokens", "output_tokens"


class Priority(IntEnum):
    """Whose turn is first: a person waits for an interactive request, nobody for a bulk one."""

    INTERACTIVE = 0
    BULK = 1


class Spacing(StrEnum):
    """Where in its minute a request falls; the counts of minutes are the load's either way."""

    RANDOM = "random"
    """Anywhere: given their number, the arrivals of a Poisson process are independent and uniform. Seconds are as bursty as
    independent users."""
    EVEN = "even"
    """One somewhere in each of as many equal parts of the minute as there are requests: a fluid cut into requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One sender's part of a drawn load, relative to the others' weights."""

    tenant: str
    priority: Priority = Priority.INTERACTIVE
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_named("share.tenant", self.tenant)
        if not (math.isfinite(self.weight) and self.weight > 0):
            msg = f"share.weight of tenant {self.tenant} must be above 0, got {self.weight:g}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Requests:
    """Requests in the order of their arrival; arrays have shape (n,).

    at_s: seconds since the first minute began, never falling. minutes: how long arrivals go on. work: what each costs a replica
    against the mean request (1 = the mean). tenant: index into `tenants`. priority: values of `Priority`.
    """

    minutes: int
    at_s: Floats = field(repr=False)
    work: Floats = field(repr=False)
    tenant: Ints = field(repr=False)
    priority: Ints = field(repr=False)
    tenants: tuple[str, ...] = (EVERYONE,)

    def __post_init__(self) -> None:
        for name in ("at_s", "work"):
            object.__setattr__(self, name, frozen_floats(getattr(self, name), ndim=1, name=f"requests.{name}"))
        if {self.work.size, self.tenant.size, self.priority.size} != {self.at_s.size}:
            msg = "requests need one arrival, work, tenant and priority each"
            raise ValueError(msg)
        if self.minutes < 1:
            msg = f"requests.minutes must be at least 1, got {self.minutes}"
            raise ValueError(msg)
        if self.at_s.size:
            self._check_values()

    def __len__(self) -> int:
        return int(self.at_s.size)

    def _check_values(self) -> None:
        if not np.isfinite(self.at_s).all() or (np.diff(self.at_s) < 0).any():
            msg = "requests.at_s must be finite and never fall: sort them by arrival"
            raise ValueError(msg)
        if self.at_s[0] < 0 or self.at_s[-1] >= self.minutes * MINUTE_S:
            msg = f"requests.at_s must lie within the {self.minutes} minutes of arrivals"
            raise ValueError(msg)
        if not (np.isfinite(self.work).all() and (self.work > 0).all()):
            msg = "requests.work must be above 0"
            raise ValueError(msg)
        if self.tenant.min() < 0 or self.tenant.max() >= len(self.tenants):
            msg = f"requests.tenant must be an index into {len(self.tenants)} tenants"
            raise ValueError(msg)
        if not np.isin(self.priority, list(Priority)).all():
            msg = "requests.priority must be a Priority"
            raise ValueError(msg)


def drawn(
    load: MinuteLoad,
    rng: np.random.Generator,
    *,
    shares: tuple[Share, ...] = (Share(tenant=EVERYONE),),
    spacing: Spacing = Spacing.RANDOM,
) -> Requests:
    """Requests at drawn instants, exactly as many in each minute as the load says, rounded to the nearest whole number.

    Each is of one of `shares`, drawn by weight. Raises ValueError on a load that is not finite or below 0, or without shares.
    """
    if not (np.isfinite(load.rpm).all() and (load.rpm >= 0).all()):
        msg = "requests can only be drawn from a load that is finite and at least 0 requests/min in every minute"
        raise ValueError(msg)
    if not shares:
        msg = "shares must name at least one tenant"
        raise ValueError(msg)
    at_s = _instants(np.rint(load.rpm).astype(np.int64), rng, spacing)
    weight = np.array([share.weight for share in shares])
    sender = rng.choice(len(shares), size=at_s.size, p=weight / weight.sum()) if len(shares) > 1 else np.zeros(at_s.size, dtype=np.int64)
    tenants = tuple(dict.fromkeys(share.tenant for share in shares))
    return Requests(
        minutes=len(load),
        at_s=at_s,
        work=np.ones(at_s.size),
        tenant=np.array([tenants.index(share.tenant) for share in shares])[sender],
        priority=np.array([int(share.priority) for share in shares])[sender],
        tenants=tenants,
    )


def _instants(counts: Ints, rng: np.random.Generator, spacing: Spacing) -> Floats:
    """So many instants in each minute, sorted, in seconds."""
    minute = np.repeat(np.arange(counts.size), counts)
    within = rng.random(minute.size)
    if spacing is Spacing.EVEN:
        first = np.repeat(np.cumsum(counts) - counts, counts)
        within = (np.arange(minute.size) - first + within) / counts[minute]
    at_s: Floats = np.sort((minute + within) * MINUTE_S)
    return np.minimum(at_s, np.nextafter((minute + 1) * MINUTE_S, 0))  # rounding must not carry the last one into the next minute


def recorded(lines: Iterable[str], *, output_weight: float = 3.0) -> Requests:
    """Requests from the lines of a CSV file with `timestamp,input_tokens,output_tokens`, in any order; other columns are ignored.

    The first minute is that of the earliest stamp; stamps carry a zone. Work is input + `output_weight` x output tokens over the mean of
    that: a token that is generated costs a replica more than one that is read. Raises ValueError naming the line that cannot be read.
    """
    rows = csv.DictReader(lines)
    missing = [name for name in (_STAMP, _INPUT, _OUTPUT) if name not in (rows.fieldnames or ())]
    if missing:
        msg = f"recorded requests need the columns {_STAMP}, {_INPUT} and {_OUTPUT}; missing: {', '.join(missing)}"
        raise ValueError(msg)
    found = np.array(sorted(_request(number, row, output_weight) for number, row in enumerate(rows, start=2)))
    if not found.size:
        msg = "no request was recorded: the file has no line below its header"
        raise ValueError(msg)
    at_s = found[:, 0] - found[0, 0] // MINUTE_S * MINUTE_S
    return Requests(
        minutes=int(at_s[-1] // MINUTE_S) + 1,
        at_s=at_s,
        work=found[:, 1] / found[:, 1].mean(),
        tenant=np.zeros(at_s.size, dtype=np.int64),
        priority=np.zeros(at_s.size, dtype=np.int64),
    )


def _request(number: int, row: Mapping[str, str], output_weight: float) -> tuple[float, float]:
    """The stamp in epoch seconds and the weighted tokens of one line."""
    try:
        stamp = datetime.fromisoformat(row[_STAMP])
        tokens = float(row[_INPUT]) + output_weight * float(row[_OUTPUT])
    except (TypeError, ValueError) as error:
        msg = f"line {number} of the recorded requests cannot be read: {error}"
        raise ValueError(msg) from error
    if stamp.tzinfo is None or not (math.isfinite(tokens) and tokens > 0):
        msg = f"line {number} of the recorded requests needs a timestamp with a zone and tokens above 0"
        raise ValueError(msg)
    return stamp.timestamp(), tokens
