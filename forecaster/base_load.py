"""How many always-on replicas are worth their price: base load on what is paid for anyway, peaks on what is paid for while it runs.

An always-on replica more is paid for all of the time, and spares replicas on demand for as long as the load exceeds those before it. So the
cheapest number is where that is so for a part of the time that is the ratio of both prices: what a power system does with its base-load and
its peak-load plants (Boiteux 1949), and the newsvendor's argument once more.

| load of the hours, in replicas | price always on, on demand | cheapest |
|--------------------------------|----------------------------|----------|
| 5 for 14 h, 18 for 10 h        | 2, 4                       | 5: the next one would stand idle for more than one half of the day |
| 5 for 10 h, 18 for 14 h        | 2, 4                       | 18       |
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from forecaster.series import Floats
from forecaster.units import check_not_negative, check_positive, whole_replicas_each


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Prices of a replica-hour in one currency. ratio: replicas on demand that one always-on replica stands for."""

    always_on: float
    on_demand: float
    ratio: float = 1.0

    def __post_init__(self) -> None:
        for name in ("always_on", "on_demand", "ratio"):
            check_positive(f"rates.{name}", getattr(self, name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseLoad:
    """A number of always-on replicas, and what they and the replicas on demand beside them cost an hour, on average."""

    replicas: int
    hourly: float

    def __post_init__(self) -> None:
        check_not_negative("base_load.replicas", self.replicas, "replicas")


def at(needs: Floats, replicas: int, rates: Rates) -> BaseLoad:
    """What so many always-on replicas would have cost. needs: replicas on demand, fractional, that all of the load fills by bucket."""
    beside = whole_replicas_each(np.maximum(0.0, needs - replicas * rates.ratio)).mean()
    return BaseLoad(replicas=replicas, hourly=replicas * rates.always_on + float(beside) * rates.on_demand)


def cheapest(needs: Floats, rates: Rates) -> BaseLoad | None:
    """The number that would have cost least, the smallest of equals; None where no load is known. needs: as in `at`, NaN = not known."""
    known = needs[~np.isnan(needs)]
    if not known.size:
        return None
    return min((at(known, n, rates) for n in range(ceil(float(known.max()) / rates.ratio) + 1)), key=lambda found: found.hourly)
